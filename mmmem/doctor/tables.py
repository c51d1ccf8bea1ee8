"""Every memory read, and compared with the hash that was stored beside it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mmmem.doctor.finding import Finding, fault, ok, warning
from mmmem.errors import MmmemError, TableMismatch
from mmmem.ingest import content_key
from mmmem.wiring import holds_store, inspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mmmem.settings import Settings
    from mmmem.types import EncodedMemory

_SHOWN = 5  # damaged tables that are named


def table_findings(settings: Settings) -> Iterator[Finding]:
    """What is read of every user's table, what cannot be, and what earlier power cuts left."""
    try:
        if not holds_store(settings):
            yield ok("memories", "none yet")
            return
        store = inspect(settings)
        record = store.record()
        if record:
            store.expect(record)
        names, lost = store.names(), 0
        others, unreadable, damaged, read = list[str](), list[str](), Counter[str](), Counter[str]()
        for name in names:
            try:
                seen = store.look(name, _as_stored)
                read.update(memories=seen.memories, images=seen.images)
                damaged.update({name: seen.damaged} if seen.damaged else {})
                lost += bool(store.lost_commits(name))
            except TableMismatch:
                others.append(name)
            except MmmemError:
                unreadable.append(name)
        torn = store.set_aside()
    except MmmemError as error:
        yield fault("memories", str(error), "see the log line above for what failed")
        return
    if others:
        advice = "update mmmem if a newer one wrote to this store, else run `mmmem reindex`"
        says = f"those of {len(others):,} users are of a newer format, or of other models than the store: {_listed(others)}"
        yield fault("memories", says, advice)
    if unreadable:
        advice = "after a power cut start the service, which sets torn commits aside when it reads them; else restore these users from an export or a backup: their requests are answered 503 until then"
        yield fault("memories", f"those of {len(unreadable):,} users cannot be read: {_listed(unreadable)}", advice)
    if damaged:
        says = f"{damaged.total():,}, of {len(damaged):,} users, not what was stored: {_listed(damaged)}"
        yield fault("memories", says, "the disk lost or changed them: restore these users from an export or a backup")
    if not others and not unreadable and not damaged:
        counts = f"{read['memories']:,}, with {read['images']:,} images, of {len(names):,} users"
        yield ok("memories", f"{counts}: all are what was stored")
    if lost:
        says = f"the newest of {lost:,} users are not there, though nothing was torn: what they added may be lost"
        yield warning("commits", says, "restore the files _versions/*.manifest, or these users, from a backup")
    if torn:
        says = f"{torn:,} torn by a power cut and set aside; none of them was acknowledged"
        yield warning("commits", says, "nothing is lost; if it happens without power cuts, look at the disk")


def _as_stored(encoded: EncodedMemory) -> bool:
    return content_key(encoded.memory) == encoded.key


def _listed(tables: list[str] | Counter[str]) -> str:
    """Names of tables, which are hashes of ids."""
    names = sorted(tables)
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
