"""Memories as Arrow rows. All that a caller named or wrote is binary, so that any text is kept, lone surrogates too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from mmmem.store.protocol import StoredRequest
from mmmem.types import EncodedMemory, ImageEncoding, ImagePart, ImageVectors, Memory, TextEncoding, TextPart

if TYPE_CHECKING:
    from mmmem.store.protocol import Dimensions
    from mmmem.types import Part

PART = pa.struct([("text", pa.binary()), ("header", pa.binary())])  # an image has a header, and no text

# Vectors and ids whose number differs from row to row are packed, little-endian: half the time to load, against lists.
_FIELDS: dict[str, Any] = {
    "id": pa.binary(),
    "user_id": pa.binary(),
    "request_id": pa.binary(),
    "body_hash": pa.binary(),
    "session_id": pa.binary(),
    "role": pa.binary(),
    "timestamp": pa.int64(),  # Unix ms, null when the message had none
    "created_at": pa.int64(),
    "position": pa.int32(),
    "piece": pa.int32(),
    "parts": pa.list_(PART),
    "tokens": pa.large_binary(),  # int8 [t, k]
    "token_ids": pa.large_binary(),  # int32 [t]
    "terms": pa.large_binary(),  # int64 [l]
    "key": pa.int64(),  # equal for memories that say and show the same
    "events": pa.large_binary(),  # int64 [e, 2], times of which it speaks, Unix ms
    "image_vectors": pa.large_binary(),  # float32 [m, d]
    "appearances": pa.large_binary(),  # float32 [m, a]
    "fingerprints": pa.large_binary(),  # uint8 [m, f]
    "colours": pa.large_binary(),  # uint8 [m, c]
    "image_sizes": pa.large_binary(),  # int64 [m], bytes of the image files
    "image_labels": pa.list_(pa.list_(pa.string())),
    "image_texts": pa.list_(pa.string()),  # what is written in the images
    "images": pa.list_(pa.large_binary()),  # the image files' own bytes
}

INDEXED = ("seq", *(name for name in _FIELDS if name not in {"user_id", "images"}), "dense")
"""The columns that a user's arrays are made of: all but the image files."""


@dataclass(frozen=True, slots=True)
class RequestRows:
    """A request ready to be written. `rows` lacks `seq`, which is given when it is committed."""

    request_id: str
    body_hash: bytes
    rows: pa.Table


def to_rows(request: StoredRequest, dimensions: Dimensions) -> RequestRows:
    """A request's rows, in the order of its memories. Raises ValueError when vectors do not have the store's widths."""
    for encoded in request.memories:
        check_widths(encoded, dimensions)
    schema = pa.schema([*_FIELDS.items(), ("dense", pa.list_(pa.float32(), dimensions.dense))])
    rows = [_row(request, encoded) for encoded in request.memories]
    return RequestRows(request.request_id, request.body_hash, pa.Table.from_pylist(rows, schema))


def with_seq(tables: Sequence[pa.Table], first: int) -> pa.Table:
    """One table of all rows, numbered from `first` in column `seq`."""
    rows = pa.concat_tables(tables)
    return rows.add_column(0, "seq", pa.array(np.arange(first, first + rows.num_rows), pa.int64()))


def read_memories(batch: pa.RecordBatch, names: dict[bytes, str]) -> Iterator[Memory]:
    """The memories of a batch, without image bytes. `names` keeps one copy of each session_id and role."""
    columns = ("id", "session_id", "role", "timestamp", "created_at", "position", "piece")
    values = (batch.column(column).to_pylist() for column in columns)
    for id_, session_id, role, timestamp, created_at, position, piece, parts in zip(
        *values, _read_parts(batch.column("parts")), strict=True
    ):
        yield Memory(
            id=to_text(id_),
            session_id=names.get(session_id) or names.setdefault(session_id, to_text(session_id)),
            role=names.get(role) or names.setdefault(role, to_text(role)),
            parts=parts,
            timestamp=timestamp,
            created_at=created_at,
            position=position,
            piece=piece,
        )


def from_rows(rows: pa.Table) -> StoredRequest:
    """The inverse of to_rows, of the rows of one request. Vectors are as wide as they were; where a memory has none, 0 wide."""
    user_id, request_id, body_hash = (rows[name][0].as_py() for name in ("user_id", "request_id", "body_hash"))
    names: dict[bytes, str] = {}
    memories = [memory for batch in rows.to_batches() for memory in read_memories(batch, names)]
    encoded = tuple(with_encoding(memory, row) for memory, row in zip(memories, rows.to_pylist(), strict=True))
    return StoredRequest(to_text(user_id), to_text(request_id), body_hash, encoded)


def to_bytes(text: str) -> bytes:
    """UTF-8, and lone surrogates as they are."""
    return text.encode("utf-8", "surrogatepass")


def to_text(data: bytes) -> str:
    """The inverse of to_bytes."""
    return data.decode("utf-8", "surrogatepass")


def _row(request: StoredRequest, encoded: EncodedMemory) -> dict[str, Any]:
    memory = encoded.memory
    images = [part.data for part in memory.parts if isinstance(part, ImagePart)]
    return {
        "id": to_bytes(memory.id),
        "user_id": to_bytes(request.user_id),
        "request_id": to_bytes(request.request_id),
        "body_hash": request.body_hash,
        "session_id": to_bytes(memory.session_id),
        "role": to_bytes(memory.role),
        "timestamp": memory.timestamp,
        "created_at": memory.created_at,
        "position": memory.position,
        "piece": memory.piece,
        "parts": [_part(part) for part in memory.parts],
        "tokens": encoded.text.tokens.tobytes(),
        "token_ids": encoded.text.token_ids.astype("<i4").tobytes(),
        "terms": encoded.terms.astype("<i8").tobytes(),
        "key": encoded.key,
        "events": encoded.events.astype("<i8").tobytes(),
        "image_vectors": b"".join(image.vectors.vector.astype("<f4").tobytes() for image in encoded.images),
        "appearances": b"".join(image.vectors.appearance.astype("<f4").tobytes() for image in encoded.images),
        "fingerprints": b"".join(image.fingerprint.tobytes() for image in encoded.images),
        "colours": b"".join(image.colours.tobytes() for image in encoded.images),
        "image_sizes": np.array([len(data) for data in images], "<i8").tobytes(),
        "image_labels": [list(image.vectors.labels) for image in encoded.images],
        "image_texts": [image.text for image in encoded.images],
        "images": images,
        "dense": encoded.text.dense,
    }


def with_encoding(memory: Memory, row: dict[str, Any]) -> EncodedMemory:
    """A memory with its vectors, terms and images, from its row. Raises ValueError where their sizes do not fit each other."""
    pictures = iter(row["images"])
    parts = (replace(part, data=next(pictures)) if isinstance(part, ImagePart) else part for part in memory.parts)
    ids = np.frombuffer(row["token_ids"], "<i4")
    count = len(row["images"])
    seen = zip(
        _per_image(row["image_vectors"], "<f4", count),
        _per_image(row["appearances"], "<f4", count),
        row["image_labels"],
        _per_image(row["fingerprints"], np.uint8, count),
        _per_image(row["colours"], np.uint8, count),
        row["image_texts"],
        strict=True,
    )
    return EncodedMemory(
        replace(memory, parts=tuple(parts)),
        TextEncoding(
            np.array(row["dense"], np.float32),
            np.frombuffer(row["tokens"], np.int8).reshape(len(ids), -1 if len(ids) else 0),
            ids,
        ),
        np.frombuffer(row["terms"], "<i8"),
        row["key"],
        np.frombuffer(row["events"], "<i8").reshape(-1, 2),
        tuple(
            ImageEncoding(ImageVectors(vector, appearance, tuple(labels)), fingerprint, shares, text)
            for vector, appearance, labels, fingerprint, shares, text in seen
        ),
    )


def _per_image(packed: bytes, dtype: Any, count: int) -> Sequence[Any]:
    return list(np.frombuffer(packed, dtype).reshape(count, -1)) if count else []


def _part(part: Part) -> dict[str, bytes | None]:
    if isinstance(part, TextPart):
        return {"text": to_bytes(part.text), "header": None}
    return {"text": None, "header": to_bytes(part.header)}


def _read_parts(column: pa.ListArray) -> Iterator[tuple[Part, ...]]:
    texts, headers = (field.to_pylist() for field in column.flatten().flatten())
    parts = iter(
        [
            TextPart(to_text(text)) if header is None else ImagePart(to_text(header), b"")
            for text, header in zip(texts, headers, strict=True)
        ]
    )
    for length in column.value_lengths().to_pylist():
        yield tuple(next(parts) for _ in range(length))


def check_widths(encoded: EncodedMemory, dimensions: Dimensions) -> None:
    """Raises ValueError when a memory's vectors do not have the store's widths."""
    text = encoded.text
    pictures = sum(isinstance(part, ImagePart) for part in encoded.memory.parts)
    if text.dense.shape != (dimensions.dense,) or not np.isfinite(text.dense).all():
        raise ValueError(f"a dense vector has shape {text.dense.shape}, the store's are finite ({dimensions.dense},)")
    if text.tokens.shape != (len(text.token_ids), dimensions.token) or text.tokens.dtype != np.int8:
        raise ValueError(f"token vectors have shape {text.tokens.shape}, the store's are int8 (t, {dimensions.token})")
    widths = (dimensions.image, dimensions.appearance, dimensions.fingerprint, dimensions.colours)
    found = [
        (*image.vectors.vector.shape, *image.vectors.appearance.shape, *image.fingerprint.shape, *image.colours.shape)
        for image in encoded.images
    ]
    if found != [widths] * pictures:
        raise ValueError(f"the vectors of {pictures} images have shapes {found}, the store's are {widths} each")
    seen = (vector for image in encoded.images for vector in (image.vectors.vector, image.vectors.appearance))
    if not all(np.isfinite(vector).all() for vector in seen):
        raise ValueError("the vectors of images are not finite")
