"""What was installed, and what was set."""

from __future__ import annotations

import difflib
import os
import platform
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

import mmmem
from mmmem.doctor.finding import Finding, fault, ok, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mmmem.settings import Settings

_PREFIX = "MMMEM_"
_OF_SCRIPTS = {"MMMEM_PYTHON"}  # which Python scripts/setup takes; no setting of the service


def setup_findings(settings: Settings) -> Iterator[Finding]:
    """The versions of mmmem and Python, the packages, the names of the settings."""
    yield ok(
        "mmmem", f"{mmmem.__version__} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    )
    yield _packages()
    yield from _names(settings)


def _packages() -> Finding:
    try:
        wanted = [Requirement(line) for line in requires("mmmem") or ()]
    except PackageNotFoundError:
        return warning(
            "packages", "mmmem is not installed as a package, so they cannot be compared", "run `pip install .`"
        )
    needed = [one for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    wrong = [problem for requirement in needed if (problem := _problem(requirement))]
    if wrong:
        return fault("packages", "; ".join(wrong), "run `pip install --upgrade mmmem` in this environment")
    return ok("packages", f"{len(needed)}, each in its range")


def _problem(requirement: Requirement) -> str:
    try:
        found = version(requirement.name)
    except PackageNotFoundError:
        return f"{requirement.name} is not installed"
    fits = requirement.specifier.contains(found, prereleases=True)
    return "" if fits else f"{requirement.name} is {found}, and must be {requirement.specifier}"


def _names(settings: Settings) -> Iterator[Finding]:
    """A variable that no setting reads does nothing, and says nothing: the likeliest slip of all."""
    known = {f"{_PREFIX}{name.upper()}" for name in type(settings).model_fields}
    given = sorted(name for name in os.environ if name.upper().startswith(_PREFIX))
    unknown = [name for name in given if name.upper() not in known | _OF_SCRIPTS]
    for name in unknown:
        alike = difflib.get_close_matches(name.upper(), known, n=1)
        meant = f"did you mean {alike[0]}? " if alike else ""
        yield warning(
            "settings", f"{name} is no setting: nothing reads it", f"{meant}docs/configuration.md lists them all"
        )
    if not unknown:
        yield ok("settings", f"{len(given)} given by the environment, each known")
