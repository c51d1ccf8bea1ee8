from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.embeddings import Provider
from tests.running import RunningService

# No test fails because a machine is slow.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

KEY = "a-key-for-tests"


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningService, RunningService]]:
    """The two services below, which load their models at the same time. Both have the inspector."""
    folder = tmp_path_factory.mktemp("services")
    running = (RunningService(folder / "open", ui="1"), RunningService(folder / "keyed", ui="1", api_key=KEY))
    yield running
    for each in running:
        each.stop()


@pytest.fixture(scope="session")
def service(services: tuple[RunningService, RunningService]) -> RunningService:
    """A running service without a key, shared by the whole run: use users of your own."""
    return services[0].ready()


@pytest.fixture(scope="session")
def keyed_service(services: tuple[RunningService, RunningService]) -> RunningService:
    """A running service that asks for `KEY`; its client does not send one by itself."""
    return services[1].ready()


@pytest.fixture
def start_service(tmp_path: Path) -> Iterator[Callable[..., RunningService]]:
    """Starts services of the test's own, by default on its own folder; what still runs is killed when the test ends."""
    started: list[RunningService] = []

    def start(folder: Path = tmp_path, *options: str, **settings: str) -> RunningService:
        started.append(RunningService(folder, *options, **settings))
        return started[-1]

    yield start
    for running in started:
        running.process.kill()
        running.process.wait()
        running.client.close()


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider of embeddings on this machine."""
    running = Provider()
    yield running
    running.close()
