"""The request that is being served: what its log line and its metrics are made of."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field

HEADER = b"x-request-id"
_WELL_FORMED = re.compile(rb"[A-Za-z0-9._:=-]{1,64}")  # no blanks, line breaks or anything a terminal obeys


@dataclass(slots=True)
class Served:
    """A request. `id`: see request_id. `code`: of the error that it is answered with, "" for none. `stages`: seconds of each."""

    id: str
    code: str = ""
    stages: dict[str, float] = field(default_factory=dict)


current: ContextVar[Served | None] = ContextVar("served", default=None)
"""The request that this thread or task works for, None where it is for none or for several."""


def request_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The caller's, where it is one header of at most 64 letters, digits and ``._:=-``; else one made up."""
    sent = [value for name, value in headers if name == HEADER]
    if len(sent) == 1 and _WELL_FORMED.fullmatch(sent[0]):
        return sent[0].decode()
    return secrets.token_hex(16)
