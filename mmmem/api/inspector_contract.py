"""The shapes of what only the inspector asks for; see contract.py."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mmmem.api.contract import NonEmptyString, Shape


class Holding(Shape):
    """A user, and how many memories there are of them."""

    user_id: NonEmptyString
    memories: int


class RosterAnswer(Shape):
    """Some of those whose memories there are."""

    data: list[Holding]
    next: str | None = Field(description="`after` of the following page; null on the last.")
    total: int = Field(description="Users on all pages together; in a bucket also those who were removed.")


class RankingSetting(Shape):
    """A setting of the ranking."""

    name: str = Field(description="As POST /explain takes it in `settings`.")
    value: bool | int | float | str = Field(description="The service's.")
    type: Literal["number", "integer", "boolean", "choice"]
    choices: list[str] | None
    minimum: float | None
    maximum: float | None
    description: str


class SettingsAnswer(Shape):
    """All of them."""

    data: list[RankingSetting]
