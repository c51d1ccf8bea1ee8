"""Ids in the address of a request: percent-encoded UTF-8, compared exactly like those in bodies.

Servers and frameworks decode addresses leniently, which makes one id of two; so they are read from the bytes that came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from starlette.convertors import Convertor, register_url_convertor

from mmmem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request


class _Opaque(Convertor[str]):
    """What is left of a path, slashes and line breaks included."""

    regex = "(?s:.+)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


_VALUE_CHARS = 20  # of what is no id

register_url_convertor("opaque", _Opaque())


def path_id(request: Request, folder: str, field: str, max_chars: int) -> str:
    """The id behind `/folder/`. Raises InvalidInput."""
    raw: bytes = request.scope["raw_path"]
    return _read(raw.partition(f"/{folder}/".encode())[2], field, max_chars)


def query_id(request: Request, field: str, max_chars: int) -> str:
    """The id of `?field=`, which has to be there once. Raises InvalidInput."""
    found = optional_id(request, field, max_chars)
    if found is None:
        raise InvalidInput(field, "is required")
    return found


def optional_id(request: Request, field: str, max_chars: int) -> str | None:
    """The id of `?field=`, None without it. Raises InvalidInput, also where it is there twice."""
    query: bytes = request.scope["query_string"]
    pairs = [pair.partition(b"=") for pair in query.split(b"&")]
    values = [value for name, _, value in pairs if unquote_to_bytes(name) == field.encode()]
    if len(values) > 1:
        raise InvalidInput(field, "must be given once")
    return _read(values[0].replace(b"+", b" "), field, max_chars) if values else None


def query_choice(request: Request, field: str, choices: Sequence[str]) -> str:
    """Which of the choices `?field=` is; the first without it. Raises InvalidInput."""
    found = optional_id(request, field, _VALUE_CHARS) or choices[0]
    if found not in choices:
        raise InvalidInput(field, f"must be {' or '.join(map(repr, choices))}")
    return found


def query_count(request: Request, field: str, default: int, most: int) -> int:
    """The number of `?field=`, from 1 to `most`. Raises InvalidInput."""
    found = optional_id(request, field, _VALUE_CHARS) or str(default)
    if not (found.isascii() and found.isdigit() and 1 <= int(found) <= most):
        raise InvalidInput(field, f"must be an integer from 1 to {most:,}")
    return int(found)


def parameter(name: str, where: str, description: str, **schema: Any) -> dict[str, Any]:
    """A part of an address in the OpenAPI document; `where`: path or query. One with a default need not be there."""
    schema = schema or {"type": "string", "minLength": 1}
    required = "default" not in schema
    if schema.get("default", "") is None:
        del schema["default"]
    return {"name": name, "in": where, "required": required, "description": description, "schema": schema}


def _read(encoded: bytes, field: str, max_chars: int) -> str:
    try:
        text = unquote_to_bytes(encoded).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise InvalidInput(field, "must be percent-encoded UTF-8") from None
    if not text:
        raise InvalidInput(field, "must not be empty")
    if len(text) > max_chars:
        raise InvalidInput(field, f"is longer than {max_chars:,} characters")
    return text
