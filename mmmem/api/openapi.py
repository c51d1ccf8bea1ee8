"""The OpenAPI document. Routes read their bodies themselves, so what FastAPI would infer is told to it here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.responses import PlainTextResponse

from mmmem.api import contract

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastapi import FastAPI
    from pydantic import BaseModel

_REF = "#/components/schemas/{model}"
_ERROR = {"application/json": {"schema": {"$ref": _REF.format(model="ErrorAnswer")}}}
_ERRORS = {
    401: "Missing or wrong key",
    404: "There is no such memory",
    408: "The body did not come in time",
    413: "Over a size limit",
    422: "Invalid input, an invalid image, or a request_id that came before with another body",
    429: "Over capacity; see Retry-After",
    500: "Unexpected error",
    503: "Not ready, or the store or a model is unavailable; see Retry-After",
}
_USUAL = [status for status in _ERRORS if status != 404]
_SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "Authorization: Bearer KEY"},
    "token": {"type": "apiKey", "in": "header", "name": "Authorization", "description": "Authorization: Token KEY"},
    "x-api-key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
}


def operation(
    body: type[BaseModel] | None,
    answer: type[BaseModel] | None,
    errors: Iterable[int] = _USUAL,
    parameters: Iterable[dict[str, Any]] = (),
) -> dict[str, Any]:
    """A route's arguments for FastAPI: its body, its answer, None for plain text, its errors, the key where it asks for one, and what its address holds."""
    responses = {status: {"content": _ERROR, "description": _ERRORS[status]} for status in errors}
    answered: dict[str, Any] = (
        {"model": answer} if answer else {"content": {"text/plain": {"schema": {"type": "string"}}}}
    )
    route: dict[str, Any] = {"response_model": None, "responses": {200: answered, **responses}}
    if answer is None:
        route["response_class"] = PlainTextResponse
    extra: dict[str, Any] = {}
    if 401 in responses:
        extra["security"] = [{name: []} for name in _SECURITY_SCHEMES]
    if body is not None:
        schema = {"$ref": _REF.format(model=body.__name__)}
        extra["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    if parameters:
        extra["parameters"] = list(parameters)
    return {**route, "openapi_extra": extra}


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The document with the schemas of bodies and errors in it."""
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    bodies = (contract.AddBody, contract.SearchBody, contract.ExplainBody)
    written: tuple[type[BaseModel], ...] = (*bodies, contract.ErrorAnswer)
    _, schemas = models_json_schema([(each, "validation") for each in written], ref_template=_REF)
    document["components"]["schemas"].update(schemas["$defs"])
    document["components"]["securitySchemes"] = _SECURITY_SCHEMES
    return document
