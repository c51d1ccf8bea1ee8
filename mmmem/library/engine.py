"""The engine in this process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mmmem.api import handlers
from mmmem.api.answers import memory_answer, page_answer, user_answer
from mmmem.errors import InvalidInput, Unavailable
from mmmem.library.door import Door
from mmmem.meter import NO_METER
from mmmem.settings import Settings
from mmmem.wiring import build_service, check, open_without_models

if TYPE_CHECKING:
    from os import PathLike

    from mmmem.listing import PageQuery
    from mmmem.memory import MemoryService, StoreService

_HANDLERS = {"/add": handlers.add, "/search": handlers.search, "/explain": handlers.explain}


class Memory(Door):
    """The whole engine in this process: `Memory("./data").add("I adopted a cat.", user_id="ann")`.

    A folder may be used by several processes at once, a running service included. `settings` are those of docs/configuration.md, in lower case and
    without MMMEM_; what is not given comes from the environment. Raises StartupError, StoreUnavailable, pydantic.ValidationError.
    """

    def __init__(self, data_dir: str | PathLike[str] = "./data", **settings: Any) -> None:
        chosen = Settings(data_dir=str(data_dir), **settings)
        check(chosen)
        super().__init__(_InProcess(build_service(chosen), chosen))


class StoreDoor(Door):
    """What is kept in a folder, to list and to remove: no model is loaded, and `add`, `search` and `explain` raise Unavailable.

    The store must be there, of whatever models. Raises StoreMismatch, StoreUnavailable.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(_Stored(open_without_models(settings), settings))


class _Stored:
    """Implements Carrier, but for what needs models."""

    def __init__(self, service: StoreService, settings: Settings) -> None:
        self._stored = service
        self._settings = settings
        self._closed = False

    def post(self, path: str, body: bytes) -> dict[str, Any]:
        """See Carrier."""
        raise Unavailable("no models are loaded")

    def page(self, query: PageQuery) -> dict[str, Any]:
        """See Carrier."""
        self._check_id(query.user_id, "user_id")
        if query.session_id is not None:
            self._check_id(query.session_id, "session_id")
        return _read(page_answer(self._open().page(query), self._settings.response_max_bytes))

    def memory(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """See Carrier."""
        self._check_ids(user_id, memory_id)
        return _read(memory_answer(self._open().memory(user_id, memory_id), self._settings.response_max_bytes))

    def usage(self, user_id: str) -> dict[str, Any]:
        """See Carrier."""
        self._check_id(user_id, "user_id")
        return _read(user_answer(user_id, self._open().usage(user_id)))

    def delete_memory(self, user_id: str, memory_id: str) -> bool:
        """See Carrier."""
        self._check_ids(user_id, memory_id)
        return self._open().delete_memory(user_id, memory_id)

    def delete_user(self, user_id: str) -> bool:
        """See Carrier."""
        self._check_id(user_id, "user_id")
        return self._open().delete_user(user_id)

    def close(self) -> None:
        """See Carrier."""
        if not self._closed:
            self._closed = True
            self._stored.close()

    def _open(self) -> StoreService:
        if self._closed:
            raise Unavailable("it is closed")
        return self._stored

    def _check_ids(self, user_id: str, memory_id: str) -> None:
        self._check_id(user_id, "user_id")
        self._check_id(memory_id, "id")

    def _check_id(self, id_: str, field: str) -> None:
        """As the addresses of the HTTP API are checked."""
        if not isinstance(id_, str):
            raise InvalidInput(field, "must be a string")
        if not id_:
            raise InvalidInput(field, "must not be empty")
        if len(id_) > self._settings.max_id_chars:
            raise InvalidInput(field, f"is longer than {self._settings.max_id_chars:,} characters")


class _InProcess(_Stored):
    """Implements Carrier."""

    def __init__(self, service: MemoryService, settings: Settings) -> None:
        super().__init__(service, settings)
        self._service = service

    def post(self, path: str, body: bytes) -> dict[str, Any]:
        """See Carrier."""
        self._open()
        return _read(_HANDLERS[path](self._service, self._settings, NO_METER, body))


def _read(answer: bytes) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(answer)
    return read
