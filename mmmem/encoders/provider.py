"""A provider of embeddings that speaks OpenAI's protocol: one request, tried until it is answered or given up.

An answer is used only when it is what was asked for. Errors name what went wrong and the settings to look at; nothing that was
sent, no key, and nothing of what the provider says gets into them.
"""

from __future__ import annotations

import logging
import random
import re
import threading
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import httpx
import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from mmmem.encoders.tokens import unit_rows
from mmmem.errors import ModelUnavailable, StartupError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.settings import Settings
    from mmmem.types import Float32

log = logging.getLogger(__name__)

NUMBER_BYTES = 48  # of one number of a vector in JSON, indented
BESIDE_BYTES = 1 << 20  # of what an answer may hold beside that, so that vectors somewhat wider can be told as such
WHY = {
    400: "refuses the request (400): check MMMEM_REMOTE_MODEL, MMMEM_REMOTE_DIMENSIONS and MMMEM_REMOTE_BATCH_SIZE",
    401: "does not accept the key (401): check MMMEM_REMOTE_KEY",
    403: "does not let this key use the model (403): check MMMEM_REMOTE_KEY and MMMEM_REMOTE_MODEL",
    404: "knows no such model or address (404): check MMMEM_REMOTE_MODEL and MMMEM_REMOTE_URL",
    429: "takes no more requests now (429)",
}


class _Vector(BaseModel):
    model_config = ConfigDict(strict=True)
    index: int
    embedding: list[float]


class _Answer(BaseModel):
    data: list[_Vector]


class _Passing(Exception):
    """What may be over at the next try. `retry_after`: seconds that the provider asks for. `busy`: it is well, but busy."""

    def __init__(self, problem: str, retry_after: float = 0.0, *, busy: bool = False) -> None:
        super().__init__(problem)
        self.retry_after = retry_after
        self.busy = busy


class EmbeddingsProvider:
    """Safe to use from many threads. It is not asked anything before the first texts: it may be down when the service starts.

    While it is down one request at a time finds out whether it still is, in one try, and others fail at once: a circuit breaker
    (Nygard, Release It!, 2007). Else a provider that never answers would have every caller wait for those before it.
    """

    def __init__(self, settings: Settings) -> None:
        key = settings.remote_key
        # Compressed, a small answer could become one of any size.
        headers = {"Accept-Encoding": "identity"}
        if key:
            headers["Authorization"] = f"Bearer {key.get_secret_value()}"
        try:
            self._url = httpx.URL(f"{settings.remote_url}/embeddings")
            _ = self._url.host  # reads a name in Punycode
        except (httpx.InvalidURL, UnicodeError):
            raise StartupError("MMMEM_REMOTE_URL: no request can go to that address") from None
        self._form = {
            "model": settings.remote_model,
            "dimensions": settings.remote_dimensions,
            "encoding_format": "float",
        }
        self._dimensions = settings.remote_dimensions
        self._retries = settings.remote_retries
        self._backoff = settings.remote_backoff_seconds
        self._timeout = settings.remote_timeout_seconds
        self._problem: str | None = None
        self._probe = threading.Lock()
        unlimited = httpx.Limits(max_connections=None, max_keepalive_connections=settings.remote_concurrency * 2)
        # No redirect is followed: it would take the key along.
        self._client = httpx.Client(headers=headers, timeout=self._timeout, limits=unlimited, follow_redirects=False)

    @property
    def down(self) -> bool:
        """Whether the last that was heard of it is that a request was given up."""
        return self._problem is not None

    def embed(self, texts: Sequence[str]) -> Float32:
        """The texts' vectors, float32 [n, d], unit rows. Raises ModelUnavailable."""
        problem = self._problem
        if problem is None:
            return self._tried(texts, self._retries)
        if not self._probe.acquire(blocking=False):
            raise ModelUnavailable(problem)
        try:
            return self._tried(texts, 0)
        finally:
            self._probe.release()

    def close(self) -> None:
        """Let go of connections; no request may be under way any more."""
        self._client.close()

    def _tried(self, texts: Sequence[str], retries: int) -> Float32:
        tried = 0
        while True:
            tried += 1
            try:
                vectors = self._vectors(self._ask(texts), len(texts))
            except _Passing as fault:
                if tried > retries or self.down:  # others need not find out for themselves
                    error = _unavailable(f"{fault}, in {tried} tries" if tried > 1 else f"{fault}")
                    if not fault.busy:
                        self._problem = str(error)
                    raise error from None
                wait = self._wait(tried, fault.retry_after)
                log.info("the embeddings provider %s; asked again in %.1f s", fault, wait)
            except ModelUnavailable:
                self._problem = None  # it is there, and what is wrong is something else
                raise
            else:
                self._problem = None
                return vectors
            time.sleep(wait)

    def _wait(self, tried: int, retry_after: float) -> float:
        """Seconds until the next try."""
        backoff = self._backoff * 2.0 ** (tried - 1) * random.uniform(0.5, 1)
        return min(max(backoff, retry_after), self._timeout)

    def _ask(self, texts: Sequence[str]) -> bytes:
        """The body of a 200."""
        try:
            with self._client.stream("POST", self._url, json={**self._form, "input": list(texts)}) as answer:
                status = answer.status_code
                if status == httpx.codes.OK:
                    return self._body(answer, len(texts) * self._dimensions * NUMBER_BYTES + BESIDE_BYTES)
                after = answer.headers.get("Retry-After", "")
        except httpx.TimeoutException:
            raise _Passing("does not answer in time") from None
        except httpx.TransportError as error:
            raise _Passing(f"cannot be reached ({type(error).__name__})") from None
        busy = status == httpx.codes.TOO_MANY_REQUESTS
        if busy or status >= 500:
            raise _Passing(WHY.get(status, f"has an error of its own ({status})"), _seconds(after), busy=busy)
        if 300 <= status < 400:
            raise _unavailable(f"redirects to elsewhere ({status}): check MMMEM_REMOTE_URL")
        raise _unavailable(WHY.get(status, f"refuses the request ({status})"))

    def _body(self, answer: httpx.Response, limit: int) -> bytes:
        deadline = time.monotonic() + self._timeout  # httpx's own time-out begins anew with every byte
        body = bytearray()
        for piece in answer.iter_raw():
            body += piece
            if len(body) > limit:
                raise _nonsense("it is too large")
            if time.monotonic() > deadline:
                raise _Passing("does not answer in time")
        return bytes(body)

    def _vectors(self, body: bytes, count: int) -> Float32:
        try:
            data = _Answer.model_validate_json(body).data
        except ValidationError:
            raise _nonsense("it is no list of embeddings in JSON") from None
        if sorted(vector.index for vector in data) != list(range(count)):
            raise _nonsense(f"its {len(data)} vectors are not those of {count} texts")
        others = {len(vector.embedding) for vector in data} - {self._dimensions}
        if others:
            raise _nonsense(
                f"a vector has {min(others)} numbers, not {self._dimensions}: check MMMEM_REMOTE_DIMENSIONS"
            )
        vectors = np.array([vector.embedding for vector in sorted(data, key=lambda vector: vector.index)])
        if not np.isfinite(vectors).all():
            raise _nonsense("a number is not finite")
        peaks = np.abs(vectors).max(axis=1, keepdims=True)
        if not peaks.all():
            raise _nonsense("a vector is all zeros")
        return unit_rows((vectors / peaks).astype(np.float32))


def _unavailable(problem: str) -> ModelUnavailable:
    message = f"the embeddings provider {problem}"
    log.error("%s", message)
    return ModelUnavailable(message)


def _nonsense(problem: str) -> ModelUnavailable:
    return _unavailable(f"gave an answer that cannot be used: {problem}")


def _seconds(retry_after: str) -> float:
    """What a Retry-After header asks for, 0 for anything that cannot be read."""
    if re.fullmatch(r"\d{1,9}(\.\d*)?", retry_after, re.ASCII):
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return 0.0
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
