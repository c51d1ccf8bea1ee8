#!/usr/bin/env python3
"""Cuts the power, in a model of a disk, at every fsync and every acknowledgement, and opens what is left.

    python scripts/power_loss.py [--generations 8] [--adds 40] [--variants 2] [--seed 1] [--keep FOLDER]

A generation is told --adds requests, some with a photo, by eight threads at once. Before each of its calls of fsync and after each
acknowledgement the state of the folder is noted, and --variants folders are made as a power cut at that moment may have left it (see
power_disk.py): what was synced is there, of everything else names are missing and files are empty, cut short or zeros by chance. In each
of them the service is opened: every request acknowledged before the cut must be there exactly once, every other one whole or not at all,
what is set aside must be said in the log, and when everything is sent again it must be there once, also after the next opening. One of the
cuts is what the next generation goes on from, so that there are cuts after cuts. Tables are compacted after a few commits.

This is the service without HTTP and models, whose files are the same. --keep: where the folder of the first fault goes. Exit code: 1 when
anything broke.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import shutil
import tempfile
from base64 import b64encode
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crash_requests import Fate, Teller, Told, shown
from demo_sample import image_part
from power_disk import Cut, Disk, Odds
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from mmmem.api.translate import read_add
from mmmem.errors import MmmemError
from mmmem.memory import MemoryService
from mmmem.settings import Settings
from mmmem.types import ImagePart, Query, TextPart
from mmmem.wiring import build_service

CALLERS = 8
ODDS = [Odds(names, contents) for names in (0, 0.5, 0.9, 1) for contents in (0, 0.5, 0.9, 1)]
ASIDE = "*.unreadable"


@dataclass
class Moment:
    """A cut, and what had been acknowledged by then."""

    cut: Cut
    acknowledged: frozenset[str]


@dataclass
class Report:
    """What the cuts left, and what was wrong with it."""

    fate: Fate = field(default_factory=Fate)
    cuts: int = 0
    folders: int = 0
    set_aside: int = 0
    faulty: int = 0

    def table(self) -> Table:
        """The counts."""
        fate = self.fate
        table = Table("cuts", "folders", "set aside", "whole", "absent", "lost", "doubled", "torn", "refused", "faulty")
        counts = (self.cuts, self.folders, self.set_aside, fate.whole, fate.absent, fate.lost, fate.doubled, fate.torn)
        table.add_row(*(f"{count:,}" for count in (*counts, fate.refused, self.faulty)))
        return table


class Log(logging.Handler):
    """Counts what the service says that it set aside."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.set_aside = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count a line."""
        self.set_aside += "set aside" in record.getMessage()


class PowerCuts:
    """Generations of one store, each begun in what a cut left of the one before."""

    def __init__(self, workplace: Path, seed: int, keep: Path | None = None) -> None:
        self.report = Report()
        self._workplace = workplace
        self._keep = keep
        self._chance = random.Random(seed)
        self._tell = Teller(seed, picture_every=12)
        self._told: dict[str, Told] = {}
        self._acknowledged: frozenset[str] = frozenset()  # before the present generation
        self._live = workplace / "live"
        self._live.mkdir()

    def generation(self, adds: int) -> list[Moment]:
        """Send again what the last cut may have taken, and new requests; the moments at which the power may have gone."""
        retries = [told for id_, told in self._told.items() if id_ not in self._acknowledged]
        requests = retries + [self._tell() for _ in range(adds)]
        self._told |= {told.body["request_id"]: told for told in requests}
        moments: list[Moment] = []
        acknowledged = set(self._acknowledged)

        def note(cut: Cut) -> None:
            moments.append(Moment(cut, frozenset(acknowledged)))

        def add(told: Told) -> None:
            send(service, told)
            with disk.lock:
                acknowledged.add(told.body["request_id"])
                note(disk.cut())

        with Disk(self._live, note) as disk, opened(self._live) as service, ThreadPoolExecutor(CALLERS) as callers:
            list(callers.map(add, requests))
        self.report.cuts += len(moments)
        return moments

    def go_on(self, moment: Moment) -> None:
        """Begin the next generation in what a cut left."""
        shutil.rmtree(self._live)
        moment.cut.build(self._live, self._chance.choice(ODDS), self._chance)
        self._acknowledged = moment.acknowledged

    def look(self, moment: Moment) -> None:
        """Make a folder as the power cut may have left it, open it and compare."""
        folder, odds = self._workplace / "cut", self._chance.choice(ODDS)
        moment.cut.build(folder, odds, self._chance)
        if self._keep and not self.report.faulty:
            shutil.copytree(folder, self._keep, dirs_exist_ok=True)
        faults = self.report.fate.faults
        before = len(faults)
        try:
            self._check(folder, moment)
        except MmmemError as error:
            faults.append(f"{type(error).__name__}: {error}")
        self.report.folders += 1
        if len(faults) > before:
            self.report.faulty += 1
            faults[before:] = [f"cut {self.report.folders} with {odds}: {fault}" for fault in faults[before:]]
        elif self._keep and not self.report.faulty:
            shutil.rmtree(self._keep)
        shutil.rmtree(folder)

    def _check(self, folder: Path, moment: Moment) -> None:
        before, log = aside(folder), Log()
        logging.getLogger("mmmem").addHandler(log)
        others = [told for id_, told in self._told.items() if id_ not in moment.acknowledged]
        try:
            with opened(folder) as service:
                self._compare(service, [self._told[id_] for id_ in moment.acknowledged], others)
                with ThreadPoolExecutor(CALLERS) as callers:
                    list(callers.map(lambda told: self._send_again(service, told), others))
                self._compare(service, list(self._told.values()), [])
        finally:
            logging.getLogger("mmmem").removeHandler(log)
        set_aside = len(aside(folder) - before)
        self.report.set_aside += set_aside
        if set_aside != log.set_aside:
            self.report.fate.faults.append(f"{set_aside} commits set aside, {log.set_aside} of them said")
        with opened(folder) as service:
            self._compare(service, list(self._told.values()), [])

    def _send_again(self, service: MemoryService, told: Told) -> None:
        try:
            send(service, told)
        except MmmemError as error:
            self.report.fate.refused += 1
            self.report.fate.faults.append(f"a retry was refused: {error}")

    def _compare(self, service: MemoryService, acknowledged: Sequence[Told], others: Sequence[Told]) -> None:
        for user in sorted({told.user_id for told in self._told.values()}):
            mine, rest = ([told for told in each if told.user_id == user] for each in (acknowledged, others))
            self.report.fate.look(everything(service, user), mine, rest)


def aside(folder: Path) -> set[tuple[Path, int]]:
    """What was set aside; the same version once more is another file under the same name."""
    return {(path, path.stat().st_ino) for path in folder.rglob(ASIDE)}


@contextmanager
def opened(folder: Path) -> Iterator[MemoryService]:
    """The service on a folder."""
    with closing(build_service(settings(folder))) as service:
        yield service


def settings(folder: Path) -> Settings:
    """Without models: what they make is only more bytes in the same files."""
    return Settings(
        data_dir=str(folder / "data"),
        ocr="off",
        weight_maxsim=0,
        weight_dense=0,
        weight_image=0,
        weight_labels=0,
        reranker="none",
        max_images=1_000,
        context_turns=0,
        compact_fragments=4,
        version_minutes=1,
    )


def send(service: MemoryService, told: Told) -> None:
    """Add it."""
    service.add(read_add(json.dumps(told.body).encode(), settings(Path())))


def everything(service: MemoryService, user: str) -> list[str]:
    """All memories of a user, as `crash_requests.shown` gives them."""
    hits = service.search(Query(user, (TextPart("what was said?"),), top_k=1_000))
    return [shown([content_part(part) for part in hit.memory.parts]) for hit in hits]


def content_part(part: TextPart | ImagePart) -> dict[str, Any]:
    """A part as the contract has it."""
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    return image_part(f"{part.header},{b64encode(part.data).decode('ascii')}")


def main() -> int:
    """Cut; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generations", type=int, default=8, help="default: 8")
    parser.add_argument("--adds", type=int, default=40, help="requests of a generation; default: 40")
    parser.add_argument("--variants", type=int, default=2, help="folders made of each cut; default: 2")
    parser.add_argument("--seed", type=int, default=1, help="default: 1; threads make each run another all the same")
    parser.add_argument("--keep", type=Path, help="where the folder of the first fault goes")
    options = parser.parse_args()
    console, interrupted = Console(), False
    logging.getLogger("mmmem").addHandler(logging.NullHandler())
    with tempfile.TemporaryDirectory(prefix="mmmem-power-") as folder:
        cuts = PowerCuts(Path(folder), options.seed, options.keep)
        chance = random.Random(options.seed)
        try:
            with Progress(
                BarColumn(), MofNCompleteColumn(), TextColumn("folders"), TimeElapsedColumn(), console=console
            ) as bar:
                for _ in range(options.generations):
                    moments = cuts.generation(options.adds)
                    for moment in bar.track(moments * options.variants):
                        cuts.look(moment)
                    cuts.go_on(chance.choice(moments))
        except KeyboardInterrupt:
            console.print("interrupted; so far:")
            interrupted = True
    console.print(cuts.report.table())
    for fault in cuts.report.fate.faults[:100]:
        console.print(f"FAIL {fault}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"seed {options.seed}: {len(cuts.report.fate.faults):,} faults")
    return 130 if interrupted else min(len(cuts.report.fate.faults), 1)


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except KeyboardInterrupt:
        raise SystemExit(130) from None
