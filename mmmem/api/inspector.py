"""The inspector, where the settings want it: a page to look at memories, and what it asks for beyond the other routes."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from mmmem.api import inspector_contract as contract
from mmmem.api.addresses import optional_id, parameter, query_count
from mmmem.api.answers import JSON, roster_answer, to_json
from mmmem.api.auth import KeyCheck
from mmmem.api.openapi import operation
from mmmem.api.ranking_settings import described

if TYPE_CHECKING:
    from mmmem.api.admission import Lane
    from mmmem.api.startup import Startup
    from mmmem.settings import Settings

PAGE = "index.html"
PLACE_CHARS = 100
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# The page shows what strangers wrote: whatever of it were taken for code would not be run, nor could it send anything away.
_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{directive} {sources}" for directive, sources in _POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",  # after an update of mmmem the page is the new one at once
}


def page_router() -> APIRouter:
    """GET /ui and its files. They hold nothing of anybody, so they are given without a key; what the page then asks for needs it."""
    router = APIRouter(include_in_schema=False)
    held = {
        file.name: (file.read_bytes(), _KINDS[suffix])
        for file in files("mmmem").joinpath("inspector").iterdir()
        if (suffix := f".{file.name.rpartition('.')[2]}") in _KINDS
    }

    def answer(name: str) -> Response:
        if name not in held:
            raise HTTPException(404)
        content, kind = held[name]
        return Response(content, headers={**HEADERS, "Content-Type": kind})

    @router.get("/ui")
    async def page() -> Response:
        """The inspector."""
        return answer(PAGE)

    @router.get("/ui/")
    async def slash() -> Response:
        """The page's addresses are relative to one without a slash, so that it may lie behind a prefix."""
        return RedirectResponse("../ui")

    @router.get("/ui/{name}")
    async def file(name: str) -> Response:
        """One of its files."""
        return answer(name)

    return router


def inspector_router(settings: Settings, startup: Startup, searches: Lane) -> APIRouter:
    """GET /ui/users and /ui/settings."""
    router = APIRouter(dependencies=[Depends(KeyCheck(settings))])
    most = settings.max_page
    asked = [
        parameter("limit", "query", "Most users.", type="integer", minimum=1, maximum=most, default=min(100, most)),
        parameter("after", "query", "`next` of the page before.", type="string", minLength=1, default=None),
    ]

    @router.get("/ui/users", **operation(None, contract.RosterAnswer, (401, 422, 429, 500, 503), asked))
    async def users(request: Request) -> Response:
        """Whose memories there are, a page of them, in an order that means nothing and stays."""
        limit = query_count(request, "limit", min(100, most), most)
        after = optional_id(request, "after", PLACE_CHARS) or ""
        with searches.admit():
            found = await searches.run(startup.service.users, after, limit)
        return Response(roster_answer(found), media_type=JSON)

    @router.get("/ui/settings", **operation(None, contract.SettingsAnswer, (401, 500)))
    async def ranking_settings() -> Response:
        """The settings of the ranking that a question may have otherwise (POST /explain), as they are."""
        return Response(to_json({"data": described(settings)}), media_type=JSON)

    return router
