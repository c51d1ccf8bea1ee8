"""The light profile's real models, loaded once."""

from __future__ import annotations

import pytest

from mmmem import wiring
from mmmem.encoders.device import Device
from mmmem.settings import Settings
from tests.encoders import tiny


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """No encoder asks the network for anything."""
    tried = tiny.refuse_network(monkeypatch)
    yield
    assert tried == []


@pytest.fixture(scope="session")
def light():
    return wiring._light(Settings(), Device("cpu", threads=1))


@pytest.fixture(scope="session")
def minilm(light):
    return light[0]


@pytest.fixture(scope="session")
def conse(light):
    return light[1]
