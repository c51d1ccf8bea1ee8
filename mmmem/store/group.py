"""Requests that are committed together, and what becomes of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmmem.errors import MmmemError, RequestConflict, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from mmmem.store.index import UserArrays
    from mmmem.store.rows import RequestRows


def sort_out(arrays: UserArrays, group: Sequence[RequestRows]) -> tuple[list[MmmemError | None], list[pa.Table]]:
    """What becomes of each request, None for kept, and the rows of the new ones."""
    outcomes: list[MmmemError | None] = []
    new: dict[str, RequestRows] = {}
    for request in group:
        earlier = new.get(request.request_id)
        known = earlier.body_hash if earlier else arrays.request_hash(request.request_id)
        if known is None and request.rows.num_rows:
            new[request.request_id] = request
        if known is None and not request.rows.num_rows:
            outcomes.append(StoreUnavailable("what the request stored before is gone; send it again"))
        else:
            outcomes.append(None if known in {None, request.body_hash} else RequestConflict())
    return outcomes, [request.rows for request in new.values()]
