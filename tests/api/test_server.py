"""The socket that the service listens on."""

from __future__ import annotations

import socket

import pytest

from mmmem.api.server import listen
from mmmem.errors import StartupError


def test_an_answer_s_last_packet_does_not_wait_for_its_first_to_be_acknowledged():
    with listen("127.0.0.1", 0, "--port") as listener:
        listener.listen()
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_in_use_is_named():
    with listen("127.0.0.1", 0, "--port") as listener:
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(StartupError, match=f"cannot listen on 127.0.0.1 port {port}"):
            listen("127.0.0.1", port, "--port")
