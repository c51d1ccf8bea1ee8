"""A model hub on the loopback interface, as the Hugging Face hub answers a download."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPOSITORY = "someone/small"
REVISION = "0123456789abcdef0123456789abcdef01234567"
LARGE = 1000  # bytes; files from here on are kept elsewhere, as LFS files are


@dataclass
class Hub:
    """What is on the hub, how it misbehaves, and what was asked of it.

    cut: bytes after which the connection breaks, by path; one break a path. altered: what is sent in place of a file.
    """

    files: dict[str, bytes]
    cut: dict[str, int] = field(default_factory=dict)
    altered: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                place = f"/{REPOSITORY}/resolve/{REVISION}/"
                name = self.path.removeprefix(place).removeprefix("/elsewhere/")
                content = hub.files.get(name)
                if content is None:
                    self.send_error(404)
                elif self.path.startswith(place) and len(content) >= LARGE:
                    self.send_response(302)
                    self.send_header("Location", f"/elsewhere/{name}")
                    self.send_header("X-Linked-ETag", f'"{hashlib.sha256(content).hexdigest()}"')
                    self._end(b"")
                else:
                    self._send(name, hub.altered.get(name, content), content)

            def _send(self, name: str, sent: bytes, content: bytes) -> None:
                asked = self.headers.get("Range")
                hub.asked.append((name, asked))
                start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
                if start and start >= len(sent):
                    self.send_response(416)
                    self._end(b"")
                    return
                self.send_response(206 if asked else 200)
                blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
                self.send_header("ETag", f'"{blob.hexdigest()}"')
                self.send_header("X-Repo-Commit", REVISION)
                self._end(sent[start:], hub.cut.pop(name, None))

            def _end(self, body: bytes, cut: int | None = None) -> None:
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[:cut])

            def log_message(self, *_: object) -> None:
                pass

        return Handler
