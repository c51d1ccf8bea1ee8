"""Who may call: one key, sent in one of three ways, compared in constant time and before a body is read."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from starlette.requests import Request

from mmmem.errors import Unauthorized

if TYPE_CHECKING:
    from mmmem.settings import Settings

_SCHEMES = {
    "auto": ("bearer", "token", "x-api-key"),
    "bearer": ("bearer",),
    "token": ("token",),
    "x-api-key": ("x-api-key",),
}
_HEADERS = {
    "bearer": "Authorization: Bearer KEY",
    "token": "Authorization: Token KEY",
    "x-api-key": "X-Api-Key: KEY",
}


class KeyCheck:
    """A FastAPI dependency that lets a request pass or raises Unauthorized."""

    def __init__(self, settings: Settings) -> None:
        key = settings.api_key.get_secret_value() if settings.api_key else ""
        self._key = key.encode("utf-8", "surrogateescape")  # the bytes that the environment held
        self._schemes = _SCHEMES[settings.auth] if settings.asks_key else ()

    @property
    def is_open(self) -> bool:
        """Whether everyone who can connect is let in."""
        return not self._schemes

    async def __call__(self, request: Request) -> None:
        """Raises Unauthorized."""
        if self.is_open:
            return
        sent = [key for scheme, key in _keys(request.headers.raw) if scheme in self._schemes]
        if not any(hmac.compare_digest(key, self._key) for key in sent):
            ways = " or ".join(f"`{_HEADERS[scheme]}`" for scheme in self._schemes)
            raise Unauthorized(f"{'wrong' if sent else 'missing'} key; send it as {ways}")


def _keys(headers: list[tuple[bytes, bytes]]) -> list[tuple[str, bytes]]:
    """(scheme, key) of every header that carries one. Header values are bytes: a key need not be ASCII."""
    keys = []
    for name, value in headers:
        if name == b"x-api-key":
            keys.append(("x-api-key", value.strip()))
        elif name == b"authorization":
            scheme, _, key = value.strip().partition(b" ")
            keys.append((scheme.decode("latin-1").lower(), key.strip()))
    return keys
