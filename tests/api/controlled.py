"""An application around a service that a test controls, for what the real one cannot be made to do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.testclient import TestClient

from mmmem.api.app import create_app
from mmmem.settings import Settings
from mmmem.store import Part
from mmmem.types import AddRequest, Hit, Query


class ControlledService:
    """Calls `on_add` and `on_search`, and keeps what was added."""

    def __init__(self) -> None:
        self.on_add: Callable[[AddRequest], None] = lambda request: None
        self.on_search: Callable[[Query], list[Hit]] = lambda query: []
        self.added: list[AddRequest] = []
        self.closed = False

    def add(self, request: AddRequest) -> None:
        self.on_add(request)
        self.added.append(request)

    def search(self, query: Query) -> list[Hit]:
        return self.on_search(query)

    def on_disk(self) -> Iterator[Part]:
        return iter(())

    def close(self) -> None:
        self.closed = True


@contextmanager
def serving(service: ControlledService, **settings: object) -> Iterator[TestClient]:
    app = create_app(Settings(**settings), lambda _: service, lambda: None)
    with TestClient(app, raise_server_exceptions=True) as client:
        while client.get("/health").status_code == 503:
            pass
        yield client


def add_body(**fields: object) -> dict[str, object]:
    message = {"role": "user", "content": "the bicycle is in the cellar"}
    return {"request_id": "r", "user_id": "u", "session_id": "s", "messages": [message], **fields}


def search_body(**fields: object) -> dict[str, object]:
    return {"query": "where is the bicycle?", "user_id": "u", "top_k": 10, **fields}
