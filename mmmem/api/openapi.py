"""The OpenAPI document. Routes read their bodies themselves, so what FastAPI would infer is told to it here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from mmmem.api import contract

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastapi import FastAPI
    from pydantic import BaseModel

_REF = "#/components/schemas/{model}"
_ERRORS = {
    401: "Missing or wrong key",
    408: "The body did not come in time",
    413: "Over a size limit",
    422: "Invalid input, an invalid image, or a request_id that came before with another body",
    429: "Over capacity; see Retry-After",
    500: "Unexpected error",
    503: "Not ready, or the store or a model is unavailable; see Retry-After",
}
_SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "Authorization: Bearer KEY"},
    "token": {"type": "apiKey", "in": "header", "name": "Authorization", "description": "Authorization: Token KEY"},
    "x-api-key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
}


def operation(
    body: type[BaseModel] | None,
    answer: type[BaseModel],
    errors: Iterable[int] = tuple(_ERRORS),
    parameters: Iterable[dict[str, Any]] = (),
) -> dict[str, Any]:
    """A route's arguments for FastAPI: its body, its answer, its errors, the key where it asks for one, and what its address holds."""
    responses = {status: {"model": contract.ErrorAnswer, "description": _ERRORS[status]} for status in errors}
    route: dict[str, Any] = {"response_model": None, "responses": {200: {"model": answer}, **responses}}
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
    """The document with the request bodies' schemas in it."""
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    bodies: tuple[type[BaseModel], ...] = (contract.AddBody, contract.SearchBody)
    _, schemas = models_json_schema([(body, "validation") for body in bodies], ref_template=_REF)
    document["components"]["schemas"].update(schemas["$defs"])
    document["components"]["securitySchemes"] = _SECURITY_SCHEMES
    return document
