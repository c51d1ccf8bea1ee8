"""`mmmem mcp --transport http`: who may call, from where, and how it ends; and `--url`, before a running service."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from mmmem import Client, Memory
from mmmem.errors import StoreUnavailable, Unauthorized
from mmmem.mcp_server.opening import Opening
from mmmem.mcp_server.tools import Tools
from mmmem.settings import Settings
from tests.conftest import KEY
from tests.contract.test_observability import WORDS_ONLY
from tests.mcp.agents import Served, over_http, over_stdio
from tests.running import RunningService

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPTED = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def post(served: Served, body: Any = LIST, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with httpx.Client(trust_env=False, timeout=60) as client:
        return client.post(f"{served.url}/mcp", json=body, headers={**ACCEPTED, **named})


@pytest.mark.parametrize(
    "sent", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": KEY}, {"X_Api_Key": "wrong"}]
)
def test_without_the_key_nobody_comes_in(served: Served, sent: dict[str, str]) -> None:
    answer = post(served, **sent)
    assert answer.status_code == 401
    assert answer.json()["code"] == "unauthorized"
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_with_the_key_it_answers(served: Served) -> None:
    assert len(post(served, Authorization=f"Bearer {KEY}").json()["result"]["tools"]) == 4


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
    ],
)
def test_a_page_of_another_name_is_refused(served: Served, headers: dict[str, str], status: int) -> None:
    assert post(served, Authorization=f"Bearer {KEY}", **headers).status_code == status
    assert "evil" not in served.log.read_text()


def test_it_warns_when_the_network_reaches_it_without_a_key_and_keeps_its_bounds(tmp_path: Path) -> None:
    outward = ("--user", "ann", "--host", "0.0.0.0", "--url", "http://127.0.0.1:1")
    served = Served(tmp_path, *outward, mcp_names="memory.lan, other.lan:80", max_request_bytes="1024")
    try:
        assert "OPEN TO THE NETWORK WITHOUT A KEY" in served.log.read_text()
        hosts = ["memory.lan", "memory.lan:9", "other.lan:80", "localhost:1", "other.lan", "evil.lan"]
        assert [post(served, Host=host).status_code for host in hosts] == [200, 200, 200, 200, 421, 421]
        assert post(served, {**LIST, "params": {"x": "x" * 2000}}).status_code == 413
    finally:
        ended = served.stop(signal.SIGINT)
    assert ended == 0
    assert "Traceback" not in served.log.read_text()


def test_by_default_only_this_machine_reaches_it_and_nothing_is_warned_of(served: Served) -> None:
    log = served.log.read_text()
    assert served.url.startswith("http://127.0.0.1:")
    assert "OPEN" not in log
    assert KEY not in log


def test_before_a_running_service_its_key_is_sent(start_service: Callable[..., RunningService], tmp_path: Path) -> None:
    service = start_service(api_key=KEY, **WORDS_ONLY).ready()
    service.client.headers["X-Api-Key"] = KEY
    service.add("ann", "The bicycle is in the cellar")
    with over_stdio(tmp_path, "--user", "ann", service=service.url, api_key=KEY) as agent:
        assert "The bicycle is in the cellar" in agent.ask("recall", text="bicycle")
        agent.ask("remember", text="The skis are in the attic", session="told")
        assert "The skis" in agent.ask("list_memories", session="told")
        assert agent.fail("list_memories", cursor="nowhere").startswith("cursor: ")
        assert agent.fail("remember", text="x", images=["%%%"]).startswith("images.0: ")
    for key in (None, "wrong"):
        with Client(service.url, key=key) as client, pytest.raises(Unauthorized):
            Tools(Settings(mcp_user="ann"), lambda client=client: client).call("recall", {"text": "bicycle"})


def test_a_store_that_cannot_be_opened_is_said_by_every_tool(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")
    opening = Opening(lambda: Memory(tmp_path / "data", **WORDS_ONLY))
    opening.begin()
    tools = Tools(Settings(mcp_user="ann"), opening.door)
    for name, arguments in (("recall", {"text": "x"}), ("list_memories", {}), ("forget", {"id": "x"})):
        with pytest.raises(StoreUnavailable, match="data_dir"):
            tools.call(name, arguments)
    opening.close()


def test_several_agents_share_one_server(served: Served) -> None:
    with over_http(served.url, Authorization=f"Bearer {KEY}") as one:
        one.ask("remember", text="shared", session="shared")
        with over_http(served.url, Authorization=f"Bearer {KEY}") as other:
            assert "shared" in other.ask("list_memories", session="shared")
