"""The fuzzer of the API finds nothing in some sixty cases, and would find what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import KEY
from tests.running import RunningService

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("fuzz_api")


@pytest.fixture
def document(keyed_service: RunningService) -> Any:
    return keyed_service.client.get("/openapi.json").json()


def run(service: RunningService, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / "fuzz_api.py"), "--url", service.url, "--cases", "60", *options]
    environment = os.environ | {"MMMEM_API_KEY": KEY}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


def test_every_answer_is_as_documented(keyed_service: RunningService) -> None:
    done = run(keyed_service, "--seed", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seed 4: 60 cases, 0 findings" in done.stdout
    assert "POST /add" in done.stdout


def test_a_service_that_lets_everyone_in_is_found(service: RunningService) -> None:
    done = run(service, "--cases", "200")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Answered without the key: POST /add, " in done.stdout
    assert "curl -X POST" in done.stdout


def findings(fuzz: Any, document: Any, url: str) -> list[str]:
    fuzzer = fuzz.Fuzzer(document, url, KEY, seed=4)
    for _ in fuzzer.run(60):
        pass
    found: list[str] = fuzzer.report.findings
    return found


@pytest.mark.parametrize("undocumented", ["200", "422"])
def test_a_status_that_the_document_leaves_out_is_found_and_no_key_is_told(
    undocumented: str, document: Any, keyed_service: RunningService, fuzz: Any
) -> None:
    document["paths"] = {"/search": document["paths"]["/search"]}
    del document["paths"]["/search"]["post"]["responses"][undocumented]
    found = findings(fuzz, document, keyed_service.url)
    assert found
    assert all(f"POST /search, {undocumented}\n" in finding for finding in found)
    assert not any(KEY in finding for finding in found)


def test_an_answer_of_another_shape_than_documented_is_found(
    document: Any, keyed_service: RunningService, fuzz: Any
) -> None:
    document["paths"] = {"/search": document["paths"]["/search"]}
    document["components"]["schemas"]["SearchAnswer"]["required"] = ["results"]
    found = findings(fuzz, document, keyed_service.url)
    assert found
    assert all("POST /search, 200\n" in finding for finding in found)


def test_a_body_that_the_document_forbids_and_the_service_takes_is_found(
    document: Any, keyed_service: RunningService, fuzz: Any
) -> None:
    document["paths"] = {"/search": document["paths"]["/search"]}  # sixty cases for it alone
    document["components"]["schemas"]["SearchBody"]["required"].append("reason")
    found = findings(fuzz, document, keyed_service.url)
    assert any("POST /search, 200\n" in finding for finding in found)


@pytest.mark.parametrize(("status", "is_found"), [(500, True), (503, False)])
def test_a_server_error_is_found_though_documented_and_unavailability_is_not(
    status: int, is_found: bool, document: Any, fuzz: Any
) -> None:
    class Broken(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = b'{"detail": {"reason": "something went wrong"}, "code": "broken"}'
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    del document["paths"]["/health"]
    with ThreadingHTTPServer(("127.0.0.1", 0), Broken) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = findings(fuzz, document, f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert any(finding.startswith(f"Server error: POST /add, {status}\n") for finding in found) == is_found
