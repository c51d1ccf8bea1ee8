"""Foreign errors become the domain's where they come in, without what they say: they quote paths and data."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from mmmem.errors import MmmemError, StoreUnavailable

logger = logging.getLogger(__name__)


@contextmanager
def store_faults(what: str) -> Iterator[None]:
    """Raise StoreUnavailable(`what`) for any error of LanceDB, Arrow or the operating system.

    That is all of Exception: LanceDB raises RuntimeError, ValueError, OSError and, where a file is not what it expects, a
    panic of a class of its own.
    """
    try:
        yield
    except MmmemError:
        raise
    except Exception as error:
        logger.error("%s: %s", what, describe(error))  # noqa: TRY400 - a traceback would show paths and data
        raise StoreUnavailable(what) from None


def describe(error: BaseException) -> str:
    """An error's type and the line it came from; nothing of its message."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    module = trace.tb_frame.f_globals.get("__name__", "?") if trace else "?"
    return f"{type(error).__name__} in {module}, line {trace.tb_lineno if trace else 0}"
