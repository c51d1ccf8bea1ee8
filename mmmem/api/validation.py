"""A value from outside in the shape of a model, or a clear word on what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from mmmem.api.bodies import FIELD as BODY
from mmmem.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

Model = TypeVar("Model", bound=BaseModel)

# What Pydantic finds, in words that never hold what was sent.
_PROBLEMS = {
    "missing": "is required",
    "model_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be an array",
    "int_type": "must be an integer",
    "literal_error": "must be 'text' or 'image_url'",
    "greater_than_equal": "must be at least 1",
    "too_short": "must not be empty",
}


def validated(model: type[Model], value: Any) -> Model:
    """The value in the model's shape. Raises InvalidInput, naming the field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        problem = _PROBLEMS.get(first["type"], first["msg"])
        raise InvalidInput(field_path(first["loc"]), problem) from None


def field_path(location: Sequence[int | str]) -> str:
    """A location of Pydantic's as the caller knows it: ``messages.3.content.0.text``; the whole body is ``body``."""
    return ".".join(str(step) for step in location if not str(step).startswith("<")) or BODY
