"""What Pydantic finds wrong with a line, in words that hold nothing of the line: neither values, nor names that are no field's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmmem.backup.lines import End, Header, ImageLine, MemoryLine, PictureVectors, RequestLine, TextLine, Url, Vectors

if TYPE_CHECKING:
    from pydantic import ValidationError

_MODELS = (End, Header, ImageLine, MemoryLine, PictureVectors, RequestLine, TextLine, Url, Vectors)
_FIELDS = {name for model in _MODELS for name in model.model_fields}
_PROBLEMS = {
    "missing": "is required",
    "extra_forbidden": "has a field that is not of this format",
    "model_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be an array",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "too_short": "must not be empty",
    "literal_error": "must be text or image_url",
    "json_invalid": "is not JSON",
    "greater_than_equal": "is too small",
    "less_than_equal": "is too large",
    "less_than": "is too large",
}


def problem(error: ValidationError) -> str:
    """The first thing that is wrong, after the name of its field."""
    first = error.errors(include_url=False, include_input=False)[0]
    path = [str(step) for step in first["loc"] if isinstance(step, int) or step in _FIELDS]
    own = first.get("ctx", {}).get("error") if first["type"] == "value_error" else None
    said = str(own) if own else _PROBLEMS.get(first["type"], "is not what it must be")
    return ": ".join(part for part in (".".join(path), said) if part)
