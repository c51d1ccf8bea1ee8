"""A store as the lines of a backup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

from pydantic import ValidationError

from mmmem.backup.contents import to_line
from mmmem.backup.counts import Advance, Counts
from mmmem.backup.lines import END, HEADER, REQUEST, VERSION, End, Header
from mmmem.backup.writing import Writer
from mmmem.errors import StoreUnavailable

if TYPE_CHECKING:
    from mmmem.store import Store


def export(
    store: Store, output: BinaryIO, names: Sequence[str], *, vectors: bool, advance: Advance = lambda _: None
) -> Counts:
    """Write what is kept in these tables. `done` counts them, and `left_out` names those that could not be read to their end.

    Raises OSError, and StoreUnavailable where nothing at all could be read.
    Memory: a few times what the largest Add takes, and some 200 bytes for each memory of one user.
    """
    counts = Counts()
    fault: Exception | None = None
    writer = Writer(output)
    writer.write(HEADER, Header(version=VERSION, models=dict(sorted(store.models().items()))))
    for name in sorted(names):
        before = counts.requests
        try:
            for request in store.requests(name):
                writer.write(REQUEST, to_line(request, vectors=vectors))
                counts.add(encoded.memory for encoded in request.memories)
                advance(counts)
        except (StoreUnavailable, ValidationError) as error:
            counts.left_out.append(name)
            fault = error
        counts.users += counts.requests > before
        counts.done += 1
        advance(counts)
    if fault and not counts.requests:
        raise fault if isinstance(fault, StoreUnavailable) else StoreUnavailable("nothing in the store can be read")
    writer.write(
        END,
        End(
            users=counts.users,
            requests=counts.requests,
            memories=counts.memories,
            images=counts.images,
            left_out=len(counts.left_out) or None,
        ),
    )
    return counts
