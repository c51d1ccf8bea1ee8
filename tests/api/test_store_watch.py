"""The data folder's files are counted in the background, again and again."""

import threading
from collections.abc import Iterator

import pytest

from mmmem.api.store_watch import StoreWatch
from mmmem.errors import StoreUnavailable
from mmmem.store import Part


class Told:
    """Takes what a watch counted."""

    def __init__(self) -> None:
        self.counts: list[tuple[int, dict[str, int], dict[str, int]]] = []
        self.two = threading.Event()

    def measured(self, users: int, files: dict[str, int], nbytes: dict[str, int]) -> None:
        self.counts.append((users, dict(files), dict(nbytes)))
        if len(self.counts) == 2:
            self.two.set()


@pytest.mark.parametrize("fault", [PermissionError, RecursionError, RuntimeError("/data/ann"), StoreUnavailable("no")])
def test_a_watch_adds_up_again_and_again_and_outlives_a_fault_told_of_once(
    fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    faults = iter([True, True, True, False, False])

    def on_disk() -> Iterator[Part]:
        if next(faults, False):
            raise fault
        yield from (Part("users", 4, 100), Part("users", 5, 10), Part("other", 1, 3))

    told = Told()
    watch = StoreWatch(told, 0.001)  # type: ignore[arg-type]
    watch.begin(on_disk)
    assert told.two.wait(60)
    watch.close()
    assert len(caplog.records) == 1
    assert "/data" not in caplog.text
    assert told.counts[:2] == [(2, {"users": 9, "other": 1}, {"users": 110, "other": 3})] * 2


def test_a_watch_that_is_closed_stops_amid_a_large_store() -> None:
    done = threading.Event()

    def endless() -> Iterator[Part]:
        try:
            while True:
                yield Part("users", 1, 1)
        finally:
            done.set()

    told = Told()
    watch = StoreWatch(told, 60)  # type: ignore[arg-type]
    watch.begin(endless)
    watch.close()
    assert done.wait(60)
    assert told.counts == []
