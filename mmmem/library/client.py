"""A service over HTTP, asked again where that may help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import httpx
from pydantic import AnyHttpUrl, TypeAdapter, ValidationError
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from mmmem.errors import InvalidInput, MmmemError, TableMismatch, Unavailable, Unreachable
from mmmem.library.door import Door
from mmmem.library.refusals import refusal

if TYPE_CHECKING:
    from mmmem.listing import PageQuery

RETRIED = {408, 425, 429, 500, 502, 503, 504}
_MOST_SECONDS = 30.0  # between two tries, whatever the service asks for


class Client(Door):
    """A running service: `Client("http://127.0.0.1:8000", key="...").search("what is my cat called?", user_id="ann")`.

    What fails in passing (no connection, 408, 425, 429, 5xx) is tried `attempts` times, after the time that the service asks for; that is
    safe, because an Add is sent again under the same request_id. timeout: seconds for one try.
    """

    def __init__(
        self, url: str = "http://127.0.0.1:8000", *, key: str | None = None, timeout: float = 300, attempts: int = 5
    ) -> None:
        super().__init__(_OverHttp(url, key, timeout, attempts))


class _OverHttp:
    """Implements Carrier."""

    def __init__(self, url: str, key: str | None, timeout: float, attempts: int) -> None:
        headers = {b"Content-Type": b"application/json"}
        if key:
            headers[b"X-Api-Key"] = key.strip().encode("utf-8", "surrogateescape")
        try:
            TypeAdapter(AnyHttpUrl).validate_python(url)
            self._http = httpx.Client(
                base_url=url.rstrip("/"), headers=headers, timeout=httpx.Timeout(timeout, connect=10)
            )
        except (ValidationError, httpx.InvalidURL, UnicodeError):
            raise InvalidInput("url", "is no address of a service") from None
        self._retrying = Retrying(
            stop=stop_after_attempt(attempts), wait=_wait, retry=retry_if_exception(_passing), reraise=True
        )

    def post(self, path: str, body: bytes) -> dict[str, Any]:
        """See Carrier."""
        return self._ask("POST", path, body)

    def page(self, query: PageQuery) -> dict[str, Any]:
        """See Carrier."""
        asked = {
            "user_id": query.user_id,
            "limit": str(query.limit),
            "session_id": query.session_id,
            "order": "newest" if query.newest_first else "oldest",
            "images": "true" if query.with_images else "false",
            "after": query.after,
        }
        return self._ask("GET", "/memories?" + _query(**asked))

    def memory(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """See Carrier."""
        return self._ask("GET", f"/memories/{_step(memory_id, 'id')}?" + _query(user_id=user_id))

    def usage(self, user_id: str) -> dict[str, Any]:
        """See Carrier."""
        return self._ask("GET", f"/users/{_step(user_id, 'user_id')}")

    def delete_memory(self, user_id: str, memory_id: str) -> bool:
        """See Carrier."""
        answer = self._ask("DELETE", f"/memories/{_step(memory_id, 'id')}?" + _query(user_id=user_id))
        return bool(answer["deleted"])

    def delete_user(self, user_id: str) -> bool:
        """See Carrier."""
        return bool(self._ask("DELETE", f"/users/{_step(user_id, 'user_id')}")["deleted"])

    def close(self) -> None:
        """See Carrier."""
        self._http.close()

    def _ask(self, method: str, path: str, body: bytes | None = None) -> dict[str, Any]:
        if self._http.is_closed:
            raise Unavailable("it is closed")
        try:
            answered: dict[str, Any] = self._retrying(self._ask_once, method, path, body)
        except _Failed as failed:
            raise failed.error from None
        return answered

    def _ask_once(self, method: str, path: str, body: bytes | None) -> dict[str, Any]:
        try:
            answer = self._http.request(method, path, content=body)
        except httpx.LocalProtocolError:  # which quotes the header
            raise InvalidInput("key", "holds what no header can carry") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
            raise InvalidInput("url", "is no address of a service") from None
        except httpx.TimeoutException:
            raise _Failed(Unreachable("the service did not answer in time")) from None
        except httpx.HTTPError as error:
            raise _Failed(Unreachable(f"the service cannot be reached: {type(error).__name__}")) from None
        try:
            said = answer.json()
        except (ValueError, RecursionError):
            said = None
        if answer.is_success and isinstance(said, dict):
            return said
        refused = refusal(answer.status_code, said)
        passing = answer.status_code in RETRIED and not isinstance(refused, TableMismatch)
        raise _Failed(refused, passing=passing, retry_after=answer.headers.get("Retry-After", ""))


class _Failed(Exception):
    """One try. `passing`: whether another may go otherwise; `retry_after`: seconds that the service asks for, as it says them."""

    def __init__(self, error: MmmemError, *, passing: bool = True, retry_after: str = "") -> None:
        super().__init__(str(error))
        self.error = error
        self.passing = passing
        self.retry_after = int(retry_after) if retry_after.isascii() and retry_after.isdigit() else 0


def _passing(error: BaseException) -> bool:
    return isinstance(error, _Failed) and error.passing


_backoff = wait_exponential_jitter(multiplier=0.2, max=_MOST_SECONDS, jitter=0.2)


def _wait(state: RetryCallState) -> float:
    failed = state.outcome.exception() if state.outcome else None
    asked = failed.retry_after if isinstance(failed, _Failed) else 0
    return max(_backoff(state), min(asked, _MOST_SECONDS))


def _query(**asked: str | None) -> str:
    return urlencode({name: _encoded(value) for name, value in asked.items() if value is not None})


def _step(id_: str, field: str) -> str:
    """A step of a path. One that is empty would be another path."""
    if not isinstance(id_, str):
        raise InvalidInput(field, "must be a string")
    if not id_:
        raise InvalidInput(field, "must not be empty")
    return quote(_encoded(id_), safe="").replace(".", "%2E")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
