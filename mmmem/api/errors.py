"""Errors on the wire: which status each has, and one shape for all. Nothing that was sent or stored gets into them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match

from mmmem import errors
from mmmem.api.answers import JSON, to_json
from mmmem.api.served import current
from mmmem.api.stacks import stack_of
from mmmem.api.tracking import METHODS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

STATUS: Mapping[type[errors.MmmemError], int] = {
    errors.MmmemError: 500,
    errors.InvalidInput: 422,
    errors.InvalidImage: 422,
    errors.RequestConflict: 422,  # not 409, which callers retry
    errors.InvalidBackup: 422,
    errors.Unauthorized: 401,
    errors.NotFound: 404,
    errors.TooLarge: 413,
    errors.TooSlow: 408,
    errors.OverCapacity: 429,
    errors.Unavailable: 503,
    errors.NotReady: 503,
    errors.StoreUnavailable: 503,
    errors.TableMismatch: 503,
    errors.ModelUnavailable: 503,
    errors.Unreachable: 503,
    errors.StartupError: 503,
    errors.WeightsError: 503,
    errors.StoreMismatch: 503,
}
HTTP_CODES = {404: "not_found", 405: "method_not_allowed"}
INTERNAL_ERROR = "internal_error"

_RETRY_UNAVAILABLE = 2  # seconds: loading takes about five, and a store that comes back does so quickly


def domain_error_response(error: errors.MmmemError, **beside: str) -> Response:
    """The answer to one of the domain's errors; `beside` stands next to its detail."""
    status = STATUS[type(error)]
    headers = {}
    if isinstance(error, errors.OverCapacity):
        headers["Retry-After"] = str(error.retry_after)
    elif status == 503:
        headers["Retry-After"] = str(_RETRY_UNAVAILABLE)
    elif status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    detail = {"reason": str(error)}
    if isinstance(error, errors.InvalidInput | errors.TooLarge):
        detail |= {"field": error.field, "problem": error.problem}
    return _response(status, {**beside, "detail": detail, "code": error.code}, headers)


def _response(status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    served = current.get()
    if served:
        served.code = body["code"]
    return Response(to_json(body), status, headers, media_type=JSON)


async def answer_domain_error(_: Request, error: Exception) -> Response:
    """FastAPI's handler of MmmemError."""
    assert isinstance(error, errors.MmmemError)
    if isinstance(error, errors.Unavailable) and error.__cause__ is not None:
        log.error("%s\n%s", error, stack_of(error))
    return domain_error_response(error)


async def answer_http_error(request: Request, error: Exception) -> Response:
    """FastAPI's handler of what the router itself refuses."""
    assert isinstance(error, HTTPException)
    code = HTTP_CODES.get(error.status_code, "http_error")
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_methods(request))  # the router names those of one of the path's routes
    return _response(error.status_code, {"detail": {"reason": error.detail}, "code": code}, headers)


def _methods(request: Request) -> list[str]:
    """All that the path of a request can be asked with."""
    routes = request.app.router.routes
    known = [
        method
        for method in sorted(METHODS - {"HEAD"})
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return known + ["HEAD"] * ("GET" in known)  # HeadAsGet


class ErrorBoundary:
    """The outermost layer: what nobody foresaw becomes a 500, and its message, which may hold content, goes nowhere."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except ClientDisconnect:
            log.info("a client left before its request was read")
        except Exception as error:
            log.error("unexpected error\n%s", stack_of(error))  # noqa: TRY400 - a traceback holds the message
            if not started:
                reason = "something went wrong here; the log says where"
                response = _response(500, {"detail": {"reason": reason}, "code": INTERNAL_ERROR})
                await response(scope, receive, send)
