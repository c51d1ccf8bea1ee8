"""The few objects that a store in a bucket has beside its tables, and the one promise that everything there rests on.

That promise is the conditional write: of several who write a new object at once, one does and the others learn of it.
LanceDB commits with it too, but does not offer it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError
from obstore.store import from_url

from mmmem.errors import StoreUnavailable

if TYPE_CHECKING:
    from obstore.store import ObjectStore

CONNECT_SECONDS, REQUEST_SECONDS, RETRIES, RETRY_SECONDS = 5, 20, 3, 15
_PROBE = "_probe"


class Objects:
    """Objects under a URI (s3://bucket/prefix, gs://..., az://...); credentials and endpoint are the environment's."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._opened: ObjectStore | None = None

    def check(self) -> None:
        """Raises StoreUnavailable where conditional writes are not honoured: there memories would be lost."""
        self.create(_PROBE, b"")
        if self.create(_PROBE, b""):
            raise StoreUnavailable(
                "data_dir: the object store does not honour conditional writes (If-None-Match: *), and would lose memories"
            )

    def create(self, path: str, data: bytes) -> bool:
        """Write a new object; False, and nothing written, where there is one already."""
        try:
            obstore.put(self._store, path, data, mode="create")
        except AlreadyExistsError:
            return False
        return True

    def write(self, path: str, data: bytes) -> None:
        """Write an object, whether there is one already or not."""
        obstore.put(self._store, path, data)

    def read(self, path: str) -> bytes | None:
        """An object's content, None where there is none."""
        try:
            return bytes(obstore.get(self._store, path).bytes())
        except FileNotFoundError:
            return None

    def names(self, folder: str) -> list[str]:
        """The paths of all objects below a folder, "" for all there are, sorted."""
        return sorted(entry["path"] for entry in obstore.list(self._store, folder or None).collect())

    def remove(self, paths: Iterable[str]) -> None:
        """Remove objects; one that is not there is no error."""
        if listed := list(paths):
            obstore.delete(self._store, listed)

    @property
    def _store(self) -> ObjectStore:
        if self._opened is None:
            self._opened = from_url(
                self._uri,
                client_options={
                    "connect_timeout": f"{CONNECT_SECONDS}s",
                    "timeout": f"{REQUEST_SECONDS}s",
                    "allow_http": _http_allowed(),
                },
                retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=RETRY_SECONDS)},
            )
        return self._opened


def _http_allowed() -> bool:
    """As LanceDB reads it."""
    names = ("AWS_ALLOW_HTTP", "GOOGLE_ALLOW_HTTP", "AZURE_ALLOW_HTTP", "ALLOW_HTTP")
    return any(os.environ.get(name, "").lower() in {"1", "true", "on", "yes", "y"} for name in names)
