"""A table's requests one after the other, whole, however many there are: for a backup, or to encode them anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mmmem.errors import StoreUnavailable
from mmmem.store.faults import describe, logger, store_faults
from mmmem.store.log import Log
from mmmem.store.mending import mending
from mmmem.store.record import check_table
from mmmem.store.rows import from_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from mmmem.store.lance import Version
    from mmmem.store.location import Place
    from mmmem.store.protocol import StoredRequest

_ORDER = ("seq", "id", "request_id", "body_hash", "image_sizes")
_ROWS, _BYTES = 256, 16 * 1024 * 1024  # rows, and bytes of images, that are read at a time, unless one request has more
_LOOKS = 10


class RowsOfRequest(NamedTuple):
    """Where a request lies in a table."""

    request_id: bytes
    seqs: list[int]
    addresses: list[int]
    nbytes: int  # of their images


def read_requests(place: Place, models: Mapping[str, str] | None) -> Iterator[StoredRequest]:
    """The requests of a table in their order: all that were there at the call, and perhaps some that came meanwhile.

    Reads one version. Where that is removed meanwhile, because others merged or rewrote the table, goes on in the newest one
    after what was read. Raises StoreUnavailable, TableMismatch where the vectors are not of these `models`, if any are given.
    """
    read: set[bytes] = set()
    for _ in range(_LOOKS):
        with store_faults("the store could not be read"):
            version, requests = mending(place, lambda: look(place, models), place.exclusive())
        if version is None:
            return
        for group in _groups([request for request in requests if request.request_id not in read]):
            try:
                found = _read(version, group)
            except Exception as error:
                logger.info("a version that was being read is gone, or cannot be read: %s", describe(error))
                break
            yield from found
            read.update(request.request_id for request in group)
        else:
            return
    raise StoreUnavailable("the store could not be read")


def look(place: Place, models: Mapping[str, str] | None) -> tuple[Version | None, list[RowsOfRequest]]:
    """The newest version, and the rows of its requests that count. Raises TableMismatch."""
    _, version = place.newest()
    if version is None:
        return None, []
    check_table(version, models)
    rows, addresses = Log().admit(version.read(_ORDER))
    columns = zip(
        rows["request_id"].to_pylist(), rows["seq"].to_pylist(), addresses.tolist(), _image_bytes(rows), strict=True
    )
    requests = []
    for request_id, each in groupby(columns, lambda row: row[0]):
        _, seqs, own, sizes = zip(*each, strict=True)
        requests.append(RowsOfRequest(request_id, list(seqs), list(own), sum(sizes)))
    return version, requests


def _image_bytes(rows: pa.Table) -> list[int]:
    return [int(np.frombuffer(sizes, "<i8").sum()) for sizes in rows["image_sizes"].to_pylist()]


def _groups(requests: list[RowsOfRequest]) -> Iterator[list[RowsOfRequest]]:
    group: list[RowsOfRequest] = []
    rows = nbytes = 0
    for request in requests:
        if group and (rows + len(request.seqs) > _ROWS or nbytes + request.nbytes > _BYTES):
            yield group
            group, rows, nbytes = [], 0, 0
        group.append(request)
        rows += len(request.seqs)
        nbytes += request.nbytes
    if group:
        yield group


def _read(version: Version, group: list[RowsOfRequest]) -> list[StoredRequest]:
    """By the number that a row has in its request, which no other row of it has; ids are what somebody imported."""
    rows = version.take([address for request in group for address in request.addresses]).combine_chunks()
    names = zip(rows["request_id"].to_pylist(), rows["seq"].to_pylist(), strict=True)
    places = {name: row for row, name in enumerate(names)}
    return [from_rows(rows.take([places[request.request_id, seq] for seq in request.seqs])) for request in group]
