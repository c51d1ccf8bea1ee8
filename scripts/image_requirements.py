"""Prints what pip must install before mmmem itself, one requirement a line.

    python scripts/image_requirements.py PYPROJECT [EXTRA ...]

PYPROJECT is mmmem's pyproject.toml. The images install from this list first, so that a change of the code does not download it anew.
Needs only Python.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def requirements(pyproject: Path, extras: list[str]) -> list[str]:
    """What mmmem names, and what these extras name beside it. KeyError for an extra that there is not."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]


if __name__ == "__main__":
    print(*requirements(Path(sys.argv[1]), sys.argv[2:]), sep="\n")
