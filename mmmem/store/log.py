"""A user's table as a log: in which order its rows came, and which of them count.

Writers that cannot exclude each other may commit the same request twice. The first copy counts, for every reader, and
the others are read over. In a table with stable row ids those are the order of the commits: compaction keeps them, but
may move the rows that it merged behind what was added meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mmmem.store.rows import to_text

if TYPE_CHECKING:
    from mmmem.store.lance import Version
    from mmmem.types import Int64

ROW_ID = "_rowid"  # LanceDB's name


class Log:
    """What was read of a table. `requests` has the first row that counts and the body hash of every request."""

    def __init__(self) -> None:
        self.requests: dict[str, tuple[int, bytes]] = {}
        self.next_seq = 0
        self.length = 0  # rows of the table, those that do not count included
        self._counting = 0
        self._next_address = 0  # beyond those of all rows read
        self._tail: tuple[int, bytes] = (-1, b"")  # seq and id of the last row in the table
        self._copy: tuple[bytes | None, bytes] = (None, b"")  # the request that the last row is of, the id of its first
        self._counts = False  # whether this copy of it does

    def continues(self, rows: pa.Table, version: Version) -> bool:
        """Whether a version has these rows after those held, the first being the last one held."""
        if not rows.num_rows or _end(rows, 0) != self._tail:
            return False
        if ROW_ID not in rows.column_names:
            return True
        # Where some were removed and as many moved in front, the last one held is in its place although others are gone.
        return version.rows_below(self._next_address) == self.length and all(
            address >= self._next_address for address in rows[ROW_ID].to_pylist()[1:]
        )

    def foresees(self, rows: pa.Table, version: Version) -> bool:
        """Whether these rows, which a version has after those held, have the addresses that `admit` takes for theirs.

        The addresses of removed rows are never given again, and those at the end are not known of.
        """
        below = version.rows_below(self._next_address + rows.num_rows)
        return below in (None, self.length + rows.num_rows)

    def admit(self, rows: pa.Table) -> tuple[pa.Table, Int64]:
        """Those of these rows that count, in the order of the log, and the address in the table of each, int64 [n]."""
        if not rows.num_rows:
            return rows, np.zeros(0, np.int64)
        self._tail = _end(rows, -1)
        self.length += rows.num_rows
        if ROW_ID in rows.column_names:
            rows = rows.sort_by(ROW_ID)
            addresses = rows[ROW_ID].to_numpy().astype(np.int64)
        else:
            addresses = np.arange(self._next_address, self._next_address + rows.num_rows)
        self._next_address = int(addresses[-1]) + 1
        self.next_seq = max(self.next_seq, 1 + int(rows["seq"].to_numpy().max()))
        counting = self._counting_rows(rows)
        return (rows, addresses) if counting.all() else (rows.filter(pa.array(counting)), addresses[counting])

    def _counting_rows(self, rows: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        counting = np.empty(rows.num_rows, np.bool_)
        columns = (rows[name].to_pylist() for name in ("request_id", "body_hash", "id"))
        for row, (request_id, body_hash, id_) in enumerate(zip(*columns, strict=True)):
            if (request_id, id_) == self._copy or request_id != self._copy[0]:  # a copy of a request begins
                self._copy = (request_id, id_)
                name = to_text(request_id)
                self._counts = name not in self.requests
                if self._counts:
                    self.requests[name] = (self._counting, body_hash)
            counting[row] = self._counts
            self._counting += self._counts
        return counting


def _end(rows: pa.Table, row: int) -> tuple[int, bytes]:
    return rows["seq"][row].as_py(), rows["id"][row].as_py()
