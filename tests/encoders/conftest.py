"""The light profile's real models, loaded once."""

from __future__ import annotations

import pytest
import torch

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


@pytest.fixture(autouse=True)
def one_thread():
    """As on an encoder thread: sums keep their order."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def light():
    return wiring.light.load(Settings(), Device("cpu", threads=1, cores=1))


@pytest.fixture(scope="session")
def minilm(light):
    return light[0]


@pytest.fixture(scope="session")
def conse(light):
    return light[1]
