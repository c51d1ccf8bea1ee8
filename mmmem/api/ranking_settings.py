"""The settings of the ranking as a caller sees them, and those that one question is to be ranked with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from mmmem.errors import InvalidInput
from mmmem.settings.ranking import AT_START, Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mmmem.settings import Settings

FIELD = "settings"
NAMES = tuple(name for name in Ranking.model_fields if name not in AT_START)


def ranked_with(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """The service's settings with some of the ranking's changed. Raises InvalidInput, naming the setting."""
    if not changes.keys() <= set(NAMES):
        raise InvalidInput(FIELD, "holds a name that is no setting of the ranking, or of one that is read at the start")
    try:
        changed = Ranking.model_validate(changes, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise InvalidInput(f"{FIELD}.{first['loc'][0]}", _problem(first["msg"])) from None
    return settings.model_copy(update={name: getattr(changed, name) for name in changes})


def described(settings: Settings) -> list[dict[str, Any]]:
    """Each of them with its value and what it may be."""
    schema = Ranking.model_json_schema()["properties"]
    return [{"name": name, "value": getattr(settings, name), **_bounds(schema[name])} for name in NAMES]


def _bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "choice" if "enum" in schema else schema["type"],
        "choices": schema.get("enum"),
        "minimum": schema.get("minimum", schema.get("exclusiveMinimum")),
        "maximum": schema.get("maximum"),
        "description": schema["description"],
    }


def _problem(message: str) -> str:
    """Pydantic's sentence as the end of one that begins with the setting."""
    return message.replace("Input should be", "must be", 1)
