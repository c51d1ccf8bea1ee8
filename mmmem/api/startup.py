"""Loading while the port already answers: the service's way from `starting` to `ok` or `failed`."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from mmmem.api.stacks import stack_of
from mmmem.errors import MmmemError, NotReady

if TYPE_CHECKING:
    from mmmem.memory import MemoryService

log = logging.getLogger(__name__)


class Startup:
    """Builds the service in a thread, and knows how far that has come."""

    def __init__(self, build: Callable[[], MemoryService], on_failure: Callable[[], object]) -> None:
        self._build = build
        self._on_failure = on_failure
        self._service: MemoryService | None = None
        self._failure: str | None = None
        self._thread = threading.Thread(target=self._load, name="mmmem-startup", daemon=True)

    @property
    def status(self) -> Literal["starting", "ok", "failed"]:
        """What /health says."""
        if self._service is not None:
            return "ok"
        return "starting" if self._failure is None else "failed"

    @property
    def not_ready(self) -> NotReady:
        """Why there is no service yet."""
        return NotReady(self._failure or "still loading models and opening the store")

    @property
    def service(self) -> MemoryService:
        """The service. Raises NotReady while there is none."""
        if self._service is None:
            raise self.not_ready
        return self._service

    def begin(self) -> None:
        """Start loading."""
        self._thread.start()

    async def end(self) -> None:
        """Close the service, after waiting for a start that is still under way."""
        await asyncio.to_thread(self._thread.join)
        if self._service is not None:
            await asyncio.to_thread(self._service.close)

    def _load(self) -> None:
        try:
            service = self._build()
            gc.collect()
            gc.freeze()  # models and libraries live as long as the process: looking through them at each collection doubled a load
            self._service = service
        except MmmemError as error:
            self._failure = str(error)
            log.error("cannot start: %s", error)  # noqa: TRY400 - the message is what the user needs
        except Exception as error:
            self._failure = "an unexpected error at start; the log says where"
            log.error("cannot start: unexpected error\n%s", stack_of(error))  # noqa: TRY400
        if self._failure is not None:
            self._on_failure()
