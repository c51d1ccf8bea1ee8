"""The routes. Each admits a request, reads its body, and hands the rest to a thread: nothing here blocks the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response

import mmmem
from mmmem.api import contract, handlers
from mmmem.api.answers import JSON, to_json
from mmmem.api.auth import KeyCheck
from mmmem.api.bodies import read_body
from mmmem.api.errors import domain_error_response
from mmmem.api.openapi import operation

if TYPE_CHECKING:
    from mmmem.api.admission import Lane
    from mmmem.api.metrics import Metrics
    from mmmem.api.startup import Startup
    from mmmem.memory import MemoryService
    from mmmem.meter import Meter
    from mmmem.settings import Settings


def health_router(settings: Settings, startup: Startup) -> APIRouter:
    """GET /health and its parts, which never ask for a key."""
    router = APIRouter()

    @router.get("/health/live", **operation(None, contract.AliveAnswer, ()))
    async def live() -> Response:
        """Whether the process answers, also while it loads: for those who would start it anew."""
        return Response(to_json({"status": "alive"}), media_type=JSON)

    @router.get("/health/ready", **operation(None, contract.HealthAnswer, {503}))
    @router.get("/health", **operation(None, contract.HealthAnswer, {503}))
    async def health() -> Response:
        """Whether the models are loaded and the store is open."""
        if startup.status != "ok":
            return domain_error_response(startup.not_ready, status=startup.status)
        answer = {"status": "ok", "version": mmmem.__version__, "profile": settings.profile}
        return Response(to_json(answer), media_type=JSON)

    return router


def metrics_router(settings: Settings, metrics: Metrics) -> APIRouter:
    """GET /metrics, where the settings want it."""
    router = APIRouter(dependencies=[Depends(KeyCheck(settings))])

    async def metrics_page() -> Response:
        """What the service counts, of all its workers together, as Prometheus reads it; also while it loads."""
        return Response(await asyncio.to_thread(metrics.exposition), media_type=CONTENT_TYPE_LATEST)

    if settings.metrics:
        router.get("/metrics", **operation(None, None, (401, 500)))(metrics_page)
    return router


def memory_router(settings: Settings, startup: Startup, adds: Lane, searches: Lane, meter: Meter) -> APIRouter:
    """POST /add, /search and /explain; a wrong key is refused before a body is read."""
    router = APIRouter(dependencies=[Depends(KeyCheck(settings))])

    async def serve(request: Request, lane: Lane, operation: str, handle: Handler) -> Response:
        service = startup.service
        with lane.admit():
            with meter.stage(operation, "read"):
                body = await read_body(request, settings.max_request_bytes, settings.max_body_seconds)
            asked = perf_counter()

            def work() -> bytes:
                meter.spent(operation, "wait", perf_counter() - asked)
                return handle(service, settings, meter, body)

            return Response(await lane.run(work), media_type=JSON)

    @router.post("/add", **operation(contract.AddBody, contract.AddAnswer))
    async def add(request: Request) -> Response:
        """Remember messages. Answers once all of them are durable and searchable; the same request again is safe."""
        return await serve(request, adds, "add", handlers.add)

    @router.post("/search", **operation(contract.SearchBody, contract.SearchAnswer))
    async def search(request: Request) -> Response:
        """The memories of one user that answer a question by text, image or both, best first."""
        return await serve(request, searches, "search", handlers.search)

    @router.post("/explain", **operation(contract.ExplainBody, contract.ExplainAnswer))
    async def explain(request: Request) -> Response:
        """As /search, and how each memory came to its place; ranked with other settings where the body names any."""
        return await serve(request, searches, "explain", handlers.explain)

    return router


Handler = Callable[["MemoryService", "Settings", "Meter", bytes], bytes]
