#!/usr/bin/env python3
"""An S3 API on this machine, in memory (moto), with one empty bucket named `mmmem`.

    python scripts/s3_server.py [--port 9000]

Prints the variables that point a service at it, and serves until it is stopped. For tests and for scripts/replicas.py: what is in
it is gone when it stops. Needs the `test` extra.
"""

from __future__ import annotations

import argparse
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Self

import requests
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import make_server

BUCKET = "mmmem"

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class QuietHandler(MotoRequestHandler):
    """Logs no requests."""

    def log_request(self, *_: object) -> None:
        """Nothing."""


class S3Server:
    """Serves from a thread of this process, at `url`. A context manager.

    `asked` counts requests, by method. `before` is called with method and path, and the request waits for it; where it raises
    PermissionError, the answer is 403. With `conditional` False it writes whatever was asked about what is there, as some servers do.
    """

    def __init__(self, port: int = 0, *, conditional: bool = True) -> None:
        self.asked: Counter[str] = Counter()
        self.before: Callable[[str, str], None] = lambda *_: None
        self._counting = threading.Lock()
        moto = DomainDispatcherApplication(create_backend_app)
        application = self._watched(_atomic(moto) if conditional else _unconditional(moto))
        self._server = make_server("127.0.0.1", port, application, threaded=True, request_handler=QuietHandler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.port}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that point a service at it."""
        return {
            "AWS_ENDPOINT": self.url,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_REGION": "us-east-1",
        }

    def objects(self, prefix: str) -> dict[str, bytes]:
        """The content of every object whose name begins so."""
        keys = s3_backends[DEFAULT_ACCOUNT_ID]["aws"].get_bucket(BUCKET).keys
        return {name: key.value for name, key in keys.items() if name.startswith(prefix)}

    def __enter__(self) -> Self:
        self._thread.start()
        with requests.Session() as session:
            session.trust_env = False  # a proxy is for the outside
            session.put(f"{self.url}/{BUCKET}", timeout=10).raise_for_status()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _watched(self, application: Application) -> Application:
        def serve(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            method = "LIST" if "list-type=" in environ["QUERY_STRING"] else environ["REQUEST_METHOD"]
            with self._counting:
                self.asked[method] += 1
            try:
                self.before(method, environ["PATH_INFO"])
            except PermissionError:
                start_response("403 Forbidden", [("Content-Length", "0")])
                return []
            return application(environ, start_response)

        return serve


def _atomic(application: Application) -> Application:
    """moto looks whether an object exists, then writes it: of 8 that create one at once, 2 did in 2 of 60 trials."""
    lock = threading.Lock()

    def serve(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if "HTTP_IF_NONE_MATCH" not in environ:
            return application(environ, start_response)
        with lock:
            return application(environ, start_response)

    return serve


def _unconditional(application: Application) -> Application:
    def serve(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ.pop("HTTP_IF_NONE_MATCH", None)
        return application(environ, start_response)

    return serve


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=9000, help="of 127.0.0.1 to listen on")
    with S3Server(parser.parse_args().port) as server:
        for name, value in {**server.environment, "MMMEM_DATA_DIR": f"s3://{BUCKET}/data"}.items():
            print(f"export {name}={value}", flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
