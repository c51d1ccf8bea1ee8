"""A request's body in, its answer's body out, whoever carries them: what the routes and the library have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmmem.api.answers import add_answer, explain_answer, search_answer
from mmmem.api.translate import read_add, read_explain, read_query

if TYPE_CHECKING:
    from mmmem.memory import MemoryService
    from mmmem.meter import Meter
    from mmmem.settings import Settings


def add(service: MemoryService, settings: Settings, meter: Meter, body: bytes) -> bytes:
    """POST /add. Raises MmmemError, as the others do."""
    with meter.stage("add", "parse"):
        request = read_add(body, settings)
    service.add(request)
    return add_answer(request)


def search(service: MemoryService, settings: Settings, meter: Meter, body: bytes) -> bytes:
    """POST /search."""
    with meter.stage("search", "parse"):
        query = read_query(body, settings)
    hits = service.search(query)
    with meter.stage("search", "answer"):
        return search_answer(hits, settings.response_max_bytes)


def explain(service: MemoryService, settings: Settings, meter: Meter, body: bytes) -> bytes:
    """POST /explain."""
    with meter.stage("explain", "parse"):
        query, ranking = read_explain(body, settings)
    hits = service.explain(query, ranking)
    with meter.stage("explain", "answer"):
        return explain_answer(hits, settings.response_max_bytes)
