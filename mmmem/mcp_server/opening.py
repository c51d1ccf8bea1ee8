"""The engine, opened in the background: a client's handshake does not wait for the models."""

from __future__ import annotations

import logging
import os
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, NoReturn

from mmmem.api.stacks import stack_of
from mmmem.errors import MmmemError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from mmmem.library.door import Door

log = logging.getLogger(__name__)


class Opening:
    """Opens a Door once, in a thread of its own, from `begin` on."""

    def __init__(self, open_door: Callable[[], Door]) -> None:
        self._open_door = open_door
        self._door: Future[Door] = Future()

    def begin(self) -> None:
        """Return at once."""
        threading.Thread(target=self._run, name="opening", daemon=True).start()

    def door(self) -> Door:
        """Waits until it is open. Raises what opening it raised: MmmemError."""
        return self._door.result()

    def close(self) -> None:
        """Finish what was accepted and let go. What is still being opened holds nothing yet."""
        if self._door.done() and not self._door.exception():
            self._door.result().close()

    def _run(self) -> None:
        try:
            door = self._open_door()
        except MmmemError as error:
            log.error("cannot serve: %s", error)  # noqa: TRY400 - its message says what to do
            self._door.set_exception(error)
        except Exception as error:
            log.error("cannot serve\n%s", stack_of(error))  # noqa: TRY400 - a traceback holds the message
            self._door.set_exception(Unavailable("the memories cannot be opened; the log of mmmem mcp says why"))
        else:
            log.info("ready")
            self._door.set_result(door)


def leave(opening: Opening) -> NoReturn:
    """Finish what was accepted, and end with status 0. Not by returning: a thread that waits for input, or loads models, would hold the process."""
    opening.close()
    logging.shutdown()
    os._exit(0)
