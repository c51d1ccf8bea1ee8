"""How many encoder threads run side by side: as many as there are cores to run them."""

from __future__ import annotations

import os

import pytest

from mmmem.encoders.device import choose_device, usable_cores
from mmmem.settings import Settings

CORES = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("quota", "cores"),
    [
        ("100000 100000", 1),
        ("50000 100000", 1),
        (f"{100 * CORES} 100", CORES),
        (f"{100 * CORES + 500} 100", CORES),
        ("max 100000", CORES),
        ("", CORES),
    ],
)
def test_a_container_with_a_quota_has_as_many_threads_as_its_quota_keeps_busy(tmp_path, quota, cores):
    (tmp_path / "cpu.max").write_text(quota + "\n", encoding="ascii")
    assert usable_cores(tmp_path) == cores


def test_without_a_container_every_core_is_used(tmp_path):
    assert usable_cores(tmp_path) == CORES


def test_the_setting_wins_over_what_is_counted():
    assert choose_device(Settings(device="cpu", threads=CORES + 3)).threads == CORES + 3


@pytest.mark.parametrize("workers", [1, 2, 64])
def test_workers_share_the_cores_among_their_searches(workers):
    shared = choose_device(Settings(device="cpu", workers=workers))
    assert (shared.threads, shared.cores) == (CORES, max(1, CORES // workers))
    assert choose_device(Settings(device="cpu", workers=workers, threads=3)).cores == 3
