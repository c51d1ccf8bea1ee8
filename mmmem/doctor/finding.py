"""What one check found."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    """How it stands."""

    OK = "ok"
    WARNING = "warning"  # it serves, and something is not as one would want it
    FAULT = "fault"  # it will not serve, or memories cannot be read
    SKIPPED = "skipped"


class Finding(NamedTuple):
    """One line of the report. `says` holds no content, id or key; `advice` is what to do, empty where nothing is."""

    check: str
    state: State
    says: str
    advice: str = ""


def ok(check: str, says: str) -> Finding:
    """Nothing to do."""
    return Finding(check, State.OK, says)


def warning(check: str, says: str, advice: str) -> Finding:
    """It serves, and should be looked at."""
    return Finding(check, State.WARNING, says, advice)


def fault(check: str, says: str, advice: str) -> Finding:
    """It will not serve, or not all."""
    return Finding(check, State.FAULT, says, advice)


def skipped(check: str, says: str) -> Finding:
    """Not looked at, and why."""
    return Finding(check, State.SKIPPED, says)
