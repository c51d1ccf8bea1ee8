"""The models' files, before any is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmmem.doctor.finding import Finding, fault, ok
from mmmem.errors import StartupError
from mmmem.wiring import check_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mmmem.settings import Settings


def model_findings(settings: Settings) -> Iterator[Finding]:
    """Whether every file that the settings ask for is there, with the sha256 that it must have."""
    try:
        check_weights(settings)
    except StartupError as error:
        yield fault("weights", str(error), "`mmmem models list` shows every model and what is wrong with it")
    else:
        yield ok("weights", f"profile {settings.profile}: every file is there, and is what it should be")
