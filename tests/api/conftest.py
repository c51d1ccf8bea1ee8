from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.api.controlled import ControlledService, serving


@pytest.fixture
def controlled() -> ControlledService:
    return ControlledService()


@pytest.fixture
def client(controlled: ControlledService) -> Iterator[TestClient]:
    with serving(controlled) as client:
        yield client
