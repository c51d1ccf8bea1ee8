"""Rows without their vectors: what listing and removing need, whatever models made them and however wide they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from mmmem.store.protocol import Dimensions
from mmmem.store.rows import INDEXED

if TYPE_CHECKING:
    from mmmem.store.lance import Version

WIDTHS = Dimensions(*[1] * len(Dimensions._fields))

_OF_TOKENS = ("tokens", "token_ids")
_OF_AN_IMAGE = {"image_vectors": 4, "appearances": 4, "fingerprints": 1, "colours": 1}  # bytes of one that is 1 wide
_READ = tuple(name for name in INDEXED if name not in {*_OF_TOKENS, *_OF_AN_IMAGE, "dense"})
_SIZE_BYTES = 8  # of a number in `image_sizes`, of which each image has one


def read_unencoded(version: Version, offset: int = 0) -> pa.Table:
    """Columns rows.INDEXED of the rows from `offset` on, with vectors of zeros that are WIDTHS wide, and no tokens."""
    rows = version.read(_READ, offset)
    counts = [len(sizes) // _SIZE_BYTES for sizes in rows["image_sizes"].to_pylist()]
    columns = {name: pa.array([b""] * len(counts), pa.large_binary()) for name in _OF_TOKENS}
    for name, nbytes in _OF_AN_IMAGE.items():
        columns[name] = pa.array([bytes(nbytes * count) for count in counts], pa.large_binary())
    columns["dense"] = pa.array([[0.0]] * len(counts), pa.list_(pa.float32(), WIDTHS.dense))
    for name, column in columns.items():
        rows = rows.append_column(name, column)
    return rows
