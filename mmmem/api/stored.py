"""The routes for what is stored: how much of a user there is, and how it is removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from mmmem.api import contract
from mmmem.api.addresses import parameter, path_id, query_id
from mmmem.api.answers import to_json, user_answer
from mmmem.api.auth import KeyCheck
from mmmem.api.openapi import operation

if TYPE_CHECKING:
    from mmmem.api.admission import Lane
    from mmmem.api.startup import Startup
    from mmmem.settings import Settings

JSON = "application/json"
_ERRORS = (401, 422, 429, 500, 503)
_USER = "Whose memory; percent-encoded, compared exactly."


def stored_router(settings: Settings, startup: Startup, adds: Lane, searches: Lane) -> APIRouter:
    """GET and DELETE /users/{user_id}, DELETE /memories/{id}. Deleting waits among the Adds: it writes as they do."""
    router = APIRouter(dependencies=[Depends(KeyCheck(settings))])
    limit = settings.max_id_chars
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

    memory = [parameter("id", "path", "As a search returned it."), parameter("user_id", "query", _USER)]

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
