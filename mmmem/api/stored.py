"""The routes for what is stored: what and how much of a user there is, and how it is removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from mmmem.api import stored_contract as contract
from mmmem.api.addresses import optional_id, parameter, path_id, query_choice, query_count, query_id
from mmmem.api.answers import JSON, memory_answer, page_answer, to_json, user_answer
from mmmem.api.auth import KeyCheck
from mmmem.api.openapi import operation
from mmmem.listing import PLACE_CHARS, PageQuery

if TYPE_CHECKING:
    from mmmem.api.admission import Lane
    from mmmem.api.startup import Startup
    from mmmem.settings import Settings

_ERRORS = (401, 422, 429, 500, 503)
_ORDERS = ("oldest", "newest")  # what comes first
_SWITCH = ("true", "false")
_USER = "Whose memory; percent-encoded, compared exactly."


def stored_router(settings: Settings, startup: Startup, adds: Lane, searches: Lane) -> APIRouter:
    """GET and DELETE /users/{user_id}, GET /memories, GET and DELETE /memories/{id}. Deleting waits among the Adds: it writes as they do."""
    router = APIRouter(dependencies=[Depends(KeyCheck(settings))])
    limit, most = settings.max_id_chars, settings.max_page
    user = [parameter("user_id", "path", _USER)]

    @router.get("/users/{user_id:opaque}", **operation(None, contract.UserAnswer, _ERRORS, user))
    async def usage(request: Request) -> Response:
        """How many memories, images, sessions and bytes there are of a user; zeros for an unknown one."""
        user_id = path_id(request, "users", "user_id", limit)
        with searches.admit():
            found = await searches.run(startup.service.usage, user_id)
        return Response(user_answer(user_id, found), media_type=JSON)

    @router.delete("/users/{user_id:opaque}", **operation(None, contract.UserDeletion, _ERRORS, user))
    async def delete_user(request: Request) -> Response:
        """Remove everything of a user. Answers once it is gone from disk; again is safe."""
        user_id = path_id(request, "users", "user_id", limit)
        with adds.admit():
            deleted = await adds.run(startup.service.delete_user, user_id)
        return Response(to_json({"success": True, "user_id": user_id, "deleted": deleted}), media_type=JSON)

    asked = [
        parameter("user_id", "query", _USER),
        parameter("limit", "query", "Most memories.", type="integer", minimum=1, maximum=most, default=min(100, most)),
        parameter("after", "query", "`next` of the page before.", type="string", minLength=1, default=None),
        parameter("session_id", "query", "Of this session alone.", type="string", minLength=1, default=None),
        parameter("order", "query", "By time.", type="string", enum=list(_ORDERS), default=_ORDERS[0]),
        parameter("images", "query", "With their images.", type="string", enum=list(_SWITCH), default=_SWITCH[0]),
    ]

    @router.get("/memories", **operation(None, contract.PageAnswer, _ERRORS, asked))
    async def memories(request: Request) -> Response:
        """A user's memories as they were stored, by time, a page of them; none for an unknown user."""
        query = PageQuery(
            query_id(request, "user_id", limit),
            query_count(request, "limit", min(100, most), most),
            session_id=optional_id(request, "session_id", limit),
            newest_first=query_choice(request, "order", _ORDERS) == _ORDERS[1],
            with_images=query_choice(request, "images", _SWITCH) == _SWITCH[0],
            after=optional_id(request, "after", limit + PLACE_CHARS),
        )

        def answered() -> bytes:
            return page_answer(startup.service.page(query), settings.response_max_bytes)

        with searches.admit():
            return Response(await searches.run(answered), media_type=JSON)

    memory = [parameter("id", "path", "As a search returned it."), parameter("user_id", "query", _USER)]

    @router.get("/memories/{id:opaque}", **operation(None, contract.StoredMemory, (*_ERRORS, 404), memory))
    async def one_memory(request: Request) -> Response:
        """One memory of a user, with its images."""
        user_id = query_id(request, "user_id", limit)
        memory_id = path_id(request, "memories", "id", limit)

        def answered() -> bytes:
            return memory_answer(startup.service.memory(user_id, memory_id), settings.response_max_bytes)

        with searches.admit():
            return Response(await searches.run(answered), media_type=JSON)

    @router.delete("/memories/{id:opaque}", **operation(None, contract.MemoryDeletion, _ERRORS, memory))
    async def delete_memory(request: Request) -> Response:
        """Remove one memory of a user. Answers once it is gone; again is safe."""
        user_id = query_id(request, "user_id", limit)
        memory_id = path_id(request, "memories", "id", limit)
        with adds.admit():
            deleted = await adds.run(startup.service.delete_memory, user_id, memory_id)
        answer = {"success": True, "user_id": user_id, "id": memory_id, "deleted": deleted}
        return Response(to_json(answer), media_type=JSON)

    return router
