"""However a service ends, it says so in lines that a program can read, and with the status of an end that was asked for."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable

import pytest

from tests.contract.test_observability import WORDS_ONLY, eventually, started_in
from tests.running import DEADLINE, RunningService


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_changes_nothing(start_service: Callable[..., RunningService], number: signal.Signals) -> None:
    service = start_service(**WORDS_ONLY)  # still loading
    for _ in range(20):
        service.process.send_signal(number)
    assert service.process.wait(DEADLINE) == 0
    assert "Traceback" not in service.log.read_text()


def test_every_line_is_json_from_start_to_end_also_where_a_worker_is_killed(
    start_service: Callable[..., RunningService],
) -> None:
    service = start_service(log_format="json", workers="2", **WORDS_ONLY).ready()
    os.kill(started_in(service)[0], signal.SIGKILL)
    eventually(lambda: len(started_in(service)) == 3)
    for _ in range(3):
        service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(DEADLINE) == 0
    text = service.log.read_text()
    assert {"level", "logger", "message", "time"} <= set.intersection(
        *(set(json.loads(line)) for line in text.splitlines())
    )
    assert "/data" not in text
    assert ".py" not in text
