"""A store as the lines of a backup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

from mmmem.backup.contents import to_line
from mmmem.backup.counts import Advance, Counts
from mmmem.backup.lines import END, HEADER, REQUEST, VERSION, End, Header, Writer

if TYPE_CHECKING:
    from mmmem.store import Store


def export(
    store: Store, output: BinaryIO, names: Sequence[str], *, vectors: bool, advance: Advance = lambda _: None
) -> Counts:
    """Write what is kept in these tables. `done` counts them. Raises StoreUnavailable, OSError.

    Memory: a few times what the largest Add takes, and some 200 bytes for each memory of one user.
    """
    counts = Counts()
    writer = Writer(output)
    writer.write(HEADER, Header(version=VERSION, models=dict(sorted(store.models().items()))))
    for name in names:
        before = counts.requests
        for request in store.requests(name):
            writer.write(REQUEST, to_line(request, vectors=vectors))
            counts.add(encoded.memory for encoded in request.memories)
            advance(counts)
        counts.users += counts.requests > before
        counts.done += 1
        advance(counts)
    writer.write(END, End(users=counts.users, requests=counts.requests, memories=counts.memories, images=counts.images))
    return counts
