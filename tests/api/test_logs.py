"""The log says what runs and how open it is, and nothing of what callers send."""

import json
import logging
import subprocess
import sys

import pytest

from mmmem.api.logs import announce, configure_logging
from mmmem.settings import Settings

ADDRESS = "http://127.0.0.1:8000"


def announced(caplog: pytest.LogCaptureFixture, **settings: object) -> str:
    with caplog.at_level(logging.INFO):
        announce(Settings(**settings), ADDRESS)
    return caplog.text


def test_the_first_line_names_profile_store_and_authentication(caplog: pytest.LogCaptureFixture) -> None:
    text = announced(caplog, api_key="4711", data_dir="s3://bucket/folder", auth="bearer")
    for part in (ADDRESS, "profile light", "s3 object store", "key asked (bearer)"):
        assert part in text
    assert "4711" not in text
    assert "bucket" not in text


@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ({"host": "0.0.0.0"}, True),
        ({"host": "::"}, True),
        ({"host": "memory.example.com"}, True),
        ({"host": "0.0.0.0", "api_key": "k", "auth": "none"}, True),
        ({"host": "0.0.0.0", "api_key": "k"}, False),
        ({"host": "127.0.0.1"}, False),
        ({"host": "::1"}, False),
        ({"host": "localhost"}, False),
    ],
)
def test_being_open_to_the_network_is_said_loudly(
    caplog: pytest.LogCaptureFixture, settings: dict[str, str], warned: bool
) -> None:
    announced(caplog, **settings)
    loud = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert bool(loud) is warned
    if warned:
        assert "WITHOUT A KEY" in loud[0].getMessage()


def test_the_server_s_own_line_about_a_request_which_holds_its_path_is_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    configure_logging(Settings())
    logging.getLogger("uvicorn.access").info(
        '%s - "%s %s HTTP/%s" %d', "127.0.0.1:1", "GET", "/users/ann?key=4711", "1.1", 200
    )
    assert caplog.text == ""


UNCAUGHT = """
import logging, sys, threading, warnings
from mmmem.api.logs import configure_logging
from mmmem.settings import Settings
configure_logging(Settings(log_format="json"))
def fail():
    raise OSError(2, "hush4711", "/data/ann")
class Fails:
    def __del__(self):
        fail()
thread = threading.Thread(target=fail)
thread.start()
thread.join()
Fails()
warnings.warn("hush4711 in /data/ann")
try:
    fail()
except OSError:
    logging.getLogger("a.library").exception("failed")
fail()
"""


def test_what_nobody_caught_is_a_line_like_any_other_without_its_message() -> None:
    done = subprocess.run([sys.executable, "-c", UNCAUGHT], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["level"] for line in lines] == ["error", "error", "warning", "error", "critical"]
    assert sum("FileNotFoundError\n" in line.get("exception", "") + line["message"] for line in lines) == 4
    assert "UserWarning" in lines[2]["message"]
    assert "hush4711" not in done.stderr
    assert "/" not in done.stderr
