"""The FastAPI application: routes, errors and the service's life put together."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from multiprocessing import parent_process
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from uvicorn.config import STARTUP_FAILURE

import mmmem
from mmmem.api import worker_counts
from mmmem.api.admission import Lane
from mmmem.api.errors import ErrorBoundary, answer_domain_error, answer_http_error
from mmmem.api.inspector import inspector_router, page_router
from mmmem.api.logs import configure_logging
from mmmem.api.metrics import Metrics
from mmmem.api.openapi import openapi_document
from mmmem.api.routes import health_router, memory_router, metrics_router
from mmmem.api.startup import Startup
from mmmem.api.store_watch import StoreWatch
from mmmem.api.stored import stored_router
from mmmem.api.tracking import HeadAsGet, Tracking
from mmmem.errors import MmmemError
from mmmem.settings import Settings
from mmmem.wiring import build_service

if TYPE_CHECKING:
    from mmmem.memory import MemoryService
    from mmmem.meter import Meter


log = logging.getLogger(__name__)

_ANSWER_SECONDS = 0.2


def create_app(
    settings: Settings, build: Callable[[Meter], MemoryService], on_failure: Callable[[], object]
) -> FastAPI:
    """The application. It answers at once, and serves when `build` has made the service; `on_failure` ends the process."""
    metrics = Metrics(settings)
    watch = StoreWatch(metrics, settings.metrics_store_seconds if settings.metrics and metrics.sees_files else 0)

    def build_watched() -> MemoryService:
        service = build(metrics)
        watch.begin(service.on_disk)
        return service

    startup = Startup(build_watched, on_failure)
    adds = Lane("adds", settings.max_concurrent_adds, settings.max_waiting_adds, metrics)
    searches = Lane("searches", settings.max_concurrent_searches, settings.max_waiting_searches, metrics)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        startup.begin()
        yield
        adds.close()
        searches.close()
        watch.close()
        await startup.end()

    app = FastAPI(
        title="mmmem",
        version=mmmem.__version__,
        description="A multimodal memory service: text and images in, the right memories out.",
        lifespan=lifespan,
        docs_url=None,  # its page would load scripts from elsewhere; /openapi.json holds the same
        redoc_url=None,
        redirect_slashes=False,
    )
    app.include_router(health_router(settings, startup))
    app.include_router(metrics_router(settings, metrics))
    app.include_router(memory_router(settings, startup, adds, searches, metrics))
    app.include_router(stored_router(settings, startup, adds, searches))
    if settings.ui:
        app.include_router(inspector_router(settings, startup, searches))
        app.include_router(page_router())
    app.add_exception_handler(MmmemError, answer_domain_error)
    app.add_exception_handler(HTTPException, answer_http_error)
    app.add_middleware(ErrorBoundary)  # each goes around those before it
    app.add_middleware(HeadAsGet)
    app.add_middleware(Tracking, metrics=metrics)
    app.openapi = partial(openapi_document, app)  # type: ignore[method-assign]
    return app


def app_from_settings(settings: Settings, exit_code: int) -> FastAPI:
    """The application around the real service. A start that fails ends the process: nothing was served yet."""
    return create_app(settings, partial(build_service, settings), partial(_end, exit_code))


def _end(exit_code: int) -> None:
    """Not before uvicorn's supervisor, if it just asks whether this worker lives, has its answer: it would wait a minute for that."""
    time.sleep(_ANSWER_SECONDS)
    os._exit(exit_code)


def create_app_from_environment() -> FastAPI:
    """One worker's application, with the settings of the environment: what uvicorn calls in each worker process."""
    settings = Settings()
    configure_logging(settings)
    _end_with_supervisor()
    place = worker_counts.folder()
    if place:
        try:
            worker_counts.join(place)
        except OSError:  # there was space when the service started: others go on, and this one is tried again
            log.error("cannot start: no space in the temporary folder, in which workers count for GET /metrics")  # noqa: TRY400
            os._exit(1)
    # uvicorn's supervisor stops everything at this code, and at any other starts the worker again, for ever.
    return app_from_settings(settings, STARTUP_FAILURE)


def _end_with_supervisor() -> None:
    """A supervisor that is killed takes nobody along: its workers would hold port, folder and memory for ever."""
    supervisor = parent_process()
    if supervisor:

        def wait() -> None:
            supervisor.join()
            os.kill(os.getpid(), signal.SIGTERM)  # as if it had asked: what was accepted is finished

        threading.Thread(target=wait, name="supervisor", daemon=True).start()
