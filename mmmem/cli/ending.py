"""How every command reads its settings, and how it ends when it cannot go on: one line on stderr and an exit code."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, NoReturn

    from mmmem.settings import Settings

FAILED = 1
BAD_SETTINGS = 2


def read_settings(**given: Any) -> Settings:
    """The settings of the environment, and over them those given here. Ends the command when one is wrong."""
    from pydantic import ValidationError

    from mmmem.settings import Settings

    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = "_".join(str(step) for step in first["loc"]).upper()
        stop(f"MMMEM_{name}: {first['msg']}", BAD_SETTINGS)


def stop(message: str, code: int = FAILED) -> NoReturn:
    """End the command with one line on stderr."""
    typer.echo(f"mmmem: {printable(message)}", err=True)
    raise typer.Exit(code)


@contextmanager
def said_once() -> Iterator[None]:
    """Nothing is logged meanwhile: what is wrong is said once, by the error. Another caller's logs are its own again."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def tidied() -> Iterator[None]:
    """SIGTERM and SIGHUP, where nobody else heeds them, end what is inside as an error would, so that nothing is left behind."""
    heeded = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in heeded:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(128 + number)


def printable(text: str) -> str:
    """Text on one line, with a space for each control, formatting or otherwise invisible character: nothing a terminal obeys."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
