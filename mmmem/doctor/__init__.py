"""What can be wrong with a deployment, looked for before a user meets it. Nothing of the store is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmmem.doctor.finding import Finding, State, skipped
from mmmem.doctor.machine import machine_findings
from mmmem.doctor.models import model_findings
from mmmem.doctor.place import place_findings
from mmmem.doctor.selftest import self_test
from mmmem.doctor.setup import setup_findings
from mmmem.doctor.tables import table_findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mmmem.settings import Settings

__all__ = ["Finding", "State", "diagnose"]


def diagnose(settings: Settings, *, free_bytes: int, quick: bool) -> Iterator[Finding]:
    """Every finding, each as soon as it is known.

    free_bytes: what the data folder's file system should have left. quick: without reading every memory, and without the
    self-test, which loads the models.
    """
    yield from setup_findings(settings)
    machine = list(machine_findings(settings))
    yield from machine
    models = list(model_findings(settings))
    yield from models
    place = list(place_findings(settings, free_bytes))
    yield from place
    if quick:
        yield skipped("memories", "not read (--quick)")
    elif _faulty([finding for finding in place if finding.check == "store"]):
        yield skipped("memories", "not read: see the fault above")
    else:
        yield from table_findings(settings)
    if quick:
        yield skipped("self-test", "not run (--quick)")
    elif _faulty([*machine, *models]):
        yield skipped("self-test", "not run: the service would not start")
    else:
        yield from self_test(settings)


def _faulty(findings: list[Finding]) -> bool:
    return any(finding.state is State.FAULT for finding in findings)
