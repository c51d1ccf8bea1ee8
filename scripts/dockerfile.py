"""Reads a Dockerfile into stages, and says which files of a folder its build may see (.dockerignore). Standard library only.

Of the language it knows what the Dockerfiles here use: no heredocs, no flags but COPY --from, of expressions $NAME and ${NAME}.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

_ESCAPED_NEWLINE = re.compile(r"\\\s*$")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


@dataclass(frozen=True, slots=True)
class Instruction:
    """`keyword` in capitals; `text` is the rest, on one line."""

    keyword: str
    text: str

    @property
    def words(self) -> list[str]:
        """The text as a list: of a JSON array (the exec form), or as a shell would part it."""
        return [str(word) for word in json.loads(self.text)] if self.is_exec_form else shlex.split(self.text)

    @property
    def is_exec_form(self) -> bool:
        """Whether it runs without a shell, so that signals reach the program itself."""
        return self.text.startswith("[")


@dataclass(slots=True)
class Stage:
    """What follows a FROM."""

    base: str
    name: str
    steps: list[Instruction] = field(default_factory=list)

    def all_of(self, keyword: str) -> list[Instruction]:
        """Its instructions of one kind, in order."""
        return [step for step in self.steps if step.keyword == keyword]


@dataclass(slots=True)
class Dockerfile:
    """`arguments` are those before the first FROM, with their defaults."""

    arguments: dict[str, str]
    stages: list[Stage]

    @classmethod
    def read(cls, path: Path) -> Dockerfile:
        """Raises ValueError for an instruction before the first FROM that is no ARG."""
        arguments: dict[str, str] = {}
        stages: list[Stage] = []
        for step in _instructions(path.read_text(encoding="utf-8")):
            if step.keyword == "FROM":
                base, *name = step.words
                stages.append(Stage(base, name[-1] if name else ""))
            elif stages:
                stages[-1].steps.append(step)
            elif step.keyword == "ARG":
                arguments |= assignments(step)
            else:
                raise ValueError(f"{step.keyword} before the first FROM")
        return cls(arguments, stages)


def assignments(step: Instruction) -> dict[str, str]:
    """The pairs of an ARG, ENV or LABEL, as they are written; an ARG without a default is left out."""
    pairs = (word.partition("=") for word in step.words)
    return {name: value for name, sign, value in pairs if sign}


def expanded(text: str, values: Mapping[str, str]) -> str:
    """The text with the values of its variables; nothing for one that is unknown."""
    return _VARIABLE.sub(lambda match: values.get(match[1] or match[2], ""), text)


def seen_by_a_build(folder: Path) -> Iterator[Path]:
    """The files that `folder`/.dockerignore lets into a build, relative to `folder`."""
    lines = (line.strip() for line in (folder / ".dockerignore").read_text(encoding="utf-8").splitlines())
    rules = [line for line in lines if line and not line.startswith("#")]
    excepted = {rule.lstrip("!").split("/")[0] for rule in rules if rule.startswith("!")}
    for top in sorted(folder.iterdir()):
        if _is_ignored(Path(top.name), rules) and top.name not in excepted:
            continue  # an environment may hold a hundred thousand files
        for path in (top, *sorted(top.rglob("*"))):
            if path.is_file() and not _is_ignored(path.relative_to(folder), rules):
                yield path.relative_to(folder)


def _is_ignored(path: Path, rules: list[str]) -> bool:
    """The last rule that matches the path, or a folder above it, decides."""
    ways = [PurePosixPath(*path.parts[: end + 1]) for end in range(len(path.parts))]
    ignored = False
    for rule in rules:
        pattern = rule.lstrip("!").strip("/")
        if any(_matches(way, pattern) for way in ways):
            ignored = not rule.startswith("!")
    return ignored


def _matches(path: PurePosixPath, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatchcase(path.name, pattern.removeprefix("**/"))
    parts = pattern.split("/")
    return len(parts) == len(path.parts) and all(map(fnmatchcase, path.parts, parts))


def _instructions(text: str) -> Iterator[Instruction]:
    pending = ""
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        pending += _ESCAPED_NEWLINE.sub(" ", line)
        if not _ESCAPED_NEWLINE.search(line):
            keyword, _, rest = pending.strip().partition(" ")
            yield Instruction(keyword.upper(), " ".join(rest.split()) if keyword.upper() != "RUN" else rest.strip())
            pending = ""
