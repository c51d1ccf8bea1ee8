"""Callers that Add and Search on a running service, and have a Ledger judge each answer, for disk_faults.py and soak.py."""

from __future__ import annotations

import base64
import io
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx
from attack_ledger import Ledger, mark
from demo_service import Service
from PIL import Image

MESSAGES = 3  # of an Add
SECONDS = 60  # within which an answer must come
SHOWN = 0.3  # of the requests have a picture
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
SETTINGS = {
    "MMMEM_CONTEXT_TURNS": "0",  # so that a memory comes back with its own mark alone
    "MMMEM_MAX_RETURN_CHARS": "10000000",
    "MMMEM_COMPACT_FRAGMENTS": "8",
    "MMMEM_OCR": "off",  # more requests in the time
}
"""What the service has to run with."""


@dataclass
class Figures:
    """What came of one fault."""

    name: str
    means: str
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    slowest: float = 0.0
    recovered: float = 0.0


class Caller:
    """Keeps a connection to the service, sends it Adds and Searches, and has the ledger judge the answers. For one thread."""

    def __init__(self, service: Service, ledger: Ledger, name: str, seed: str) -> None:
        self._headers = {"Authorization": f"Bearer {service.key}"}
        self._client = httpx.Client(base_url=service.url, headers=self._headers, timeout=SECONDS, trust_env=False)
        self._ledger = ledger
        self._name = name
        self._chance = random.Random(seed)
        self._count = 0
        self._client.get("/health")  # connected before anything is wrong

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def act(self, figures: Figures) -> int:
        """An Add, of an old user or a new one, a repetition or a Search; the status."""
        users = self._ledger.users()
        choice = self._chance.random()
        if not users or choice < 0.4:
            known = users and self._chance.random() < 0.7
            return self.add(
                self._body(self._chance.choice(users) if known else f"user {self._name} {self._count}"), figures
            )
        if choice < 0.5 and (refused := self._ledger.open()):
            return self.add(self._chance.choice(refused), figures)
        return self.search(self._chance.choice(users), figures)

    def add(self, body: dict[str, Any], figures: Figures) -> int:
        """The status; 0 when there was no answer."""
        self._ledger.sent(body)
        status, answer = self._post("/add", body, figures)
        if status:
            self._ledger.answered(body, status, answer)
        return status

    def search(self, user: str, figures: Figures, *, all_of_it: bool = False) -> int:
        """The status; 0 when there was no answer."""
        before = self._ledger.acknowledged(user)
        query: list[dict[str, Any]] = [{"type": "text", "text": "what was noted?"}]
        if self._chance.random() < SHOWN:
            query.append(self._picture())
        status, answer = self._post("/search", {"user_id": user, "query": query, "top_k": 1_000}, figures)
        if status:
            self._ledger.found(user, before, status, answer, all_of_it=all_of_it)
        return status

    def _body(self, user: str) -> dict[str, Any]:
        self._count += 1
        request_id = f"{self._name}-{self._count}"
        texts = [f"{mark(request_id, place, MESSAGES)} noted on day {self._count}" for place in range(MESSAGES)]
        shown = [self._picture()] if self._chance.random() < SHOWN else []
        contents = [texts[0], [{"type": "text", "text": texts[1]}, *shown], texts[2] + " in full, 一字不漏" * 9]
        messages = [{"role": "user", "content": content} for content in contents]
        return {"request_id": request_id, "user_id": user, "session_id": "s", "messages": messages}

    def _picture(self) -> dict[str, Any]:
        return picture(self._chance.choice(FORMATS), self._chance.randrange(50))

    def _post(self, path: str, body: dict[str, Any], figures: Figures) -> tuple[int, Any]:
        began = time.monotonic()
        try:
            response = self._client.post(path, json=body)
            status, answer = response.status_code, response.json()
        except (httpx.HTTPError, ValueError) as error:
            self._ledger.count(f"{path}: {type(error).__name__}")
            status, answer = 0, None
        figures.slowest = max(figures.slowest, time.monotonic() - began)
        figures.answers[path, status] += 1
        return status, answer


@cache
def picture(file_format: str, number: int) -> dict[str, Any]:
    """A content part with a small picture."""
    file = io.BytesIO()
    Image.linear_gradient("L").rotate(7 * number).resize((64, 64)).save(file, file_format)
    url = f"data:image/{file_format.lower()};base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}
