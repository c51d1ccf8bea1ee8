from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import KEY
from tests.mcp.agents import Agent, Served, over_http, over_stdio


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Over HTTP with the key KEY, for the user ann."""
    folder = tmp_path_factory.mktemp("http")
    running = Served(folder, "--user", "ann", "--data-dir", str(folder / "data"), api_key=KEY)
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="package")
def stdio_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the data and the log of the agent over standard input and output."""
    return tmp_path_factory.mktemp("stdio")


@pytest.fixture(scope="package")
def stdio_agent(stdio_folder: Path) -> Iterator[Agent]:
    with over_stdio(stdio_folder, "--user", "ann", log_level="debug") as agent:
        yield agent


@pytest.fixture(scope="package")
def http_agent(served: Served) -> Iterator[Agent]:
    with over_http(served.url, Authorization=f"Bearer {KEY}") as agent:
        yield agent


@pytest.fixture(params=["stdio", "http"])
def agent(request: pytest.FixtureRequest) -> Agent:
    """Of the user ann, over each transport; shared, so let words be your own."""
    found: Agent = request.getfixturevalue(f"{request.param}_agent")
    return found
