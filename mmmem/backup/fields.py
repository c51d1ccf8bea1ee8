"""What the fields of a backup's lines hold, read with everything that reading and searching rely on.

Each is checked the same way when a line is written, so that nothing is in a backup which could not be imported. Errors never
show what was read.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field, PlainSerializer, PlainValidator

from mmmem.errors import InvalidImage
from mmmem.media.data_urls import split_data_url
from mmmem.store.rows import to_bytes, to_text
from mmmem.types import FIRST_MOMENT, LAST_MOMENT, ImagePart

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

_LONGEST_ID = 256  # characters of a memory's id, which mmmem makes itself, of 36; it has to fit into addresses
_LONGEST_VECTOR = 1.01  # all are of unit length or 0, to a rounding


def _read_base64(value: object) -> bytes:
    """Raises ValueError for anything but standard Base64."""
    if isinstance(value, str):
        try:
            return binascii.a2b_base64(value, strict_mode=True)
        except ValueError:
            pass
    raise ValueError("must be Base64")


def _write_base64(value: bytes) -> str:
    return binascii.b2a_base64(value, newline=False).decode("ascii")


def _read_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.keys() == {"base64"}:
        try:
            return to_text(_read_base64(value["base64"]))
        except UnicodeDecodeError:
            raise ValueError("must be UTF-8 in Base64") from None
    raise ValueError("must be text")


def _write_text(value: str) -> str | dict[str, str]:
    try:
        value.encode()
    except UnicodeEncodeError:
        return {"base64": _write_base64(to_bytes(value))}
    return value


def _read_name(value: object) -> str:
    name = _read_text(value)
    if not name:
        raise ValueError("must not be empty")
    return name


def _read_memory_id(value: object) -> str:
    name = _read_name(value)
    if len(name) > _LONGEST_ID:
        raise ValueError(f"is longer than {_LONGEST_ID} characters")
    return name


def _read_hash(value: object) -> bytes:
    digest = value if isinstance(value, bytes) else _read_base64(value)
    if len(digest) != 32:
        raise ValueError("must be a SHA-256")
    return digest


def _read_image(value: object) -> ImagePart:
    try:
        if isinstance(value, ImagePart):
            header, _ = split_data_url(f"{value.header},", "")
            image = value
        else:
            header, payload = split_data_url(value if isinstance(value, str) else "", "")
            image = ImagePart(header, _read_base64(payload))
    except InvalidImage as error:
        raise ValueError(error.problem) from None
    if header != image.header or not image.data:
        raise ValueError("holds no data, or a comma in its header")
    return image


def _write_image(image: ImagePart) -> str:
    return f"{image.header},{_write_base64(image.data)}"


def _read_array(dtype: DTypeLike) -> Callable[[object], NDArray[Any]]:
    """A reader of an array of one dimension, little-endian in Base64. Numbers with a fraction are those of a vector."""
    little = np.dtype(dtype).newbyteorder("<")

    def read(value: object) -> NDArray[Any]:
        packed = value.astype(little).tobytes() if isinstance(value, np.ndarray) else _read_base64(value)
        if len(packed) % little.itemsize:
            raise ValueError("must be whole numbers of bytes")
        array = np.frombuffer(packed, little)
        if little.kind == "f" and not _is_vector(array):
            raise ValueError("must be finite, and no longer than 1")
        return array

    return read


def _is_vector(numbers: NDArray[Any]) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.dot(numbers, numbers)) <= _LONGEST_VECTOR**2  # as nothing is that holds no number


def _read_token_ids(value: object) -> NDArray[Any]:
    ids = _read_array(np.int32)(value)
    if (ids < 0).any():
        raise ValueError("must not be negative")
    return ids


def _write_array(array: NDArray[Any]) -> str:
    return _write_base64(array.tobytes())


Text = Annotated[str, PlainValidator(_read_text), PlainSerializer(_write_text)]
Name = Annotated[str, PlainValidator(_read_name), PlainSerializer(_write_text)]
MemoryId = Annotated[str, PlainValidator(_read_memory_id), PlainSerializer(_write_text)]
Hash = Annotated[bytes, PlainValidator(_read_hash), PlainSerializer(_write_base64)]
Image = Annotated[ImagePart, PlainValidator(_read_image), PlainSerializer(_write_image)]
Vector = Annotated[Any, PlainValidator(_read_array(np.float32)), PlainSerializer(_write_array)]
Tokens = Annotated[Any, PlainValidator(_read_array(np.int8)), PlainSerializer(_write_array)]
TokenIds = Annotated[Any, PlainValidator(_read_token_ids), PlainSerializer(_write_array)]
Octets = Annotated[Any, PlainValidator(_read_array(np.uint8)), PlainSerializer(_write_array)]
Moment = Annotated[int, Field(ge=FIRST_MOMENT, le=LAST_MOMENT)]
Place = Annotated[int, Field(ge=0, lt=2**31)]
Count = Annotated[int, Field(ge=0)]
