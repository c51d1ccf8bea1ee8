#!/usr/bin/env python3
"""Kills exports, imports and reindexes again and again, and looks for what was lost, doubled, moved or left over.

    python scripts/crash_backup.py [--rounds 20] [--milliseconds 800] [--seed 1]

A store is filled with users, texts and pictures without any model. Each round exports it over an older file, imports its backup
into a new folder, and then encodes that folder anew for "models" of another name: each as one process after the other, every one of which but the last is
killed (SIGKILL) at a random moment within --milliseconds, which grow by a tenth each time so that it ends. After each kill of an
export the file is the older one or the new one, whole. After the import a new backup must be the first one to the byte. Between two kills of a reindex nobody else may open the store as of both models;
after it all but the vectors must be as before, and nothing of the work left on disk. Exit code: 1 when anything broke.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from multiprocessing.synchronize import Event
from pathlib import Path

from PIL import Image
from rich.progress import track

from mmmem.backup.counts import Counts
from mmmem.backup.exporting import export
from mmmem.backup.importing import Importer
from mmmem.backup.reading import Reader
from mmmem.backup.reindexing import Reindexer
from mmmem.cli.backup_files import written
from mmmem.encoders.absent import WIDTH, NoImageEncoder, NoTextEncoder
from mmmem.errors import MmmemError, StoreMismatch
from mmmem.ingest import Ingest
from mmmem.media.colours import NAMES
from mmmem.media.fingerprints import LENGTH
from mmmem.media.ocr import NoTextReader
from mmmem.pictures import PictureEncoder
from mmmem.settings import Settings
from mmmem.store import Dimensions
from mmmem.store.reindexing import FOLDER, Reindexing
from mmmem.store.users import LanceStore
from mmmem.types import AddRequest, ImagePart, Message, TextPart

FIRST, SECOND = ({"text": name, "image": name} for name in ("first", "second"))
WIDTHS = Dimensions(WIDTH, WIDTH, WIDTH, WIDTH, LENGTH, len(NAMES))
OLDER = b"an older backup"
USERS, REQUESTS = 6, 60
_PATIENCE = 120  # seconds until a process has imported what it needs


def ingest() -> Ingest:
    """Encodes nothing but what no model is needed for."""
    settings = Settings()
    return Ingest(settings, NoTextEncoder(), PictureEncoder(settings, NoImageEncoder(), NoTextReader()))


def opened(folder: Path, models: dict[str, str]) -> LanceStore:
    """A store there."""
    store = LanceStore(Settings(data_dir=str(folder), compact_fragments=4), models=models, dimensions=WIDTHS)
    store.open()
    return store


def fill(folder: Path, chance: random.Random) -> None:
    """Users with a few hundred memories and some pictures."""
    encoder = ingest()
    with closing(opened(folder, FIRST)) as store:
        for user in range(USERS):
            requests = []
            for number in range(REQUESTS):
                picture = io.BytesIO()
                Image.new("RGB", (40, 30), tuple(chance.randbytes(3))).save(picture, "PNG")
                shown = (ImagePart("data:image/png;base64", picture.getvalue()),) if number % 10 == 0 else ()
                messages = (
                    Message("user", (TextPart(f"{number} of {user} {chance.random()}"), *shown), number),
                    Message("assistant", (TextPart("And then?"),), number),
                )
                add = AddRequest(f"r{number}", f"user {user} \ud800", f"s{number % 3}", messages)
                requests.append(encoder.encode(add, None, 0))
            store.add_all(requests)


def exported(folder: Path, models: dict[str, str], *, vectors: bool = True) -> bytes:
    """A backup."""
    file = io.BytesIO()
    with closing(opened(folder, models)) as store:
        export(store, file, store.names(), vectors=vectors)
    return file.getvalue()


def run_export(file: Path, folder: Path) -> None:
    """What `mmmem export` does."""
    with closing(opened(folder, FIRST)) as store, written(file) as output:
        export(store, output, store.names(), vectors=True)


def run_import(file: Path, folder: Path) -> None:
    """What `mmmem import` does."""
    with closing(opened(folder, FIRST)) as store, file.open("rb") as lines:
        Importer(store, ingest(), WIDTHS, threads=2).run(Reader(lines), Counts())


def run_reindex(folder: Path) -> None:
    """What `mmmem reindex` does."""
    with closing(Reindexing(Settings(data_dir=str(folder)), models=SECOND, dimensions=WIDTHS)) as store:
        store.open()
        Reindexer(store, ingest(), threads=2).run(Counts())


def _run(begun: Event, action: Callable[..., None], *arguments: Path) -> None:
    begun.set()
    action(*arguments)


class Crashes:
    """Rounds in one folder. `kills` of processes that had not ended, and what is `wrong`."""

    def __init__(self, folder: Path, milliseconds: float, chance: random.Random) -> None:
        self._processes = multiprocessing.get_context("spawn")  # LanceDB has threads, which a fork would lack
        self._folder = folder
        self._most = milliseconds / 1000
        self._chance = chance
        self.kills = 0
        self.wrong: list[str] = []
        fill(folder / "first", chance)
        self._backup = exported(folder / "first", FIRST)
        self._raw = list(_said(exported(folder / "first", FIRST, vectors=False)))
        self._file = folder / "backup.jsonl"
        self._file.write_bytes(self._backup)

    def round(self) -> None:
        """One export, one import and one reindex."""
        data, exports = self._folder / "data", self._folder / "exports"
        exports.mkdir()
        file = exports / "backup.jsonl"
        file.write_bytes(OLDER)
        whole = {OLDER, self._backup}
        exported_again = partial(self._expect, "an export left half a file", lambda: file.read_bytes() in whole)
        self._until_it_ends(run_export, file, self._folder / "first", between=exported_again)
        self._expect("an export that ended is another one", lambda: file.read_bytes() == self._backup)
        shutil.rmtree(exports)
        self._until_it_ends(run_import, self._file, data)
        self._expect("the backup after an import is another one", lambda: exported(data, FIRST) == self._backup)
        self._until_it_ends(run_reindex, data, between=lambda: self._refused(data))
        kept = list(_said(exported(data, SECOND, vectors=False)))
        self._expect("a reindex changed what is kept", lambda: kept == self._raw)
        self._expect("a reindex left its work behind", lambda: not (data / FOLDER).exists())
        shutil.rmtree(data)

    def _until_it_ends(
        self, action: Callable[..., None], *arguments: Path, between: Callable[[], object] = lambda: None
    ) -> None:
        most = self._most
        while True:
            begun = self._processes.Event()
            process = self._processes.Process(target=_run, args=(begun, action, *arguments))
            process.start()
            begun.wait(_PATIENCE)
            process.join(self._chance.uniform(0, most))
            most *= 1.1
            if process.exitcode is None:
                process.kill()
                process.join()
                self.kills += 1
                between()
            elif process.exitcode:
                self.wrong.append(f"{action.__name__} ended with {process.exitcode}")
                return
            else:
                return

    def _refused(self, data: Path) -> None:
        """Once a reindex has begun, and until it has ended, the store is neither of the old models nor of the new."""
        open_to = []
        for models in (FIRST, SECOND):
            try:
                opened(data, models).close()
                open_to.append(models)
            except StoreMismatch:
                pass
        self._expect("a store opens with two models", lambda: len(open_to) < 2)

    def _expect(self, otherwise: str, holds: Callable[[], bool]) -> None:
        try:
            if not holds():
                self.wrong.append(otherwise)
        except MmmemError as error:
            self.wrong.append(f"{otherwise}: {error}")


def _said(backup: bytes) -> Iterator[bytes]:
    """Its lines, without what names the models: the header, and the checksums that rest on it."""
    return (line.partition(b',"sha256":"')[0] for line in backup.splitlines()[1:])


def main() -> int:
    """The command line; the exit code comes back."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--milliseconds", type=float, default=800, help="longest life of the first process of each")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        crashes = Crashes(Path(folder), options.milliseconds, random.Random(options.seed))
        for _ in track(range(options.rounds), "Rounds"):
            crashes.round()
    for fault in crashes.wrong:
        print(f"FAULT {fault}")
    print(
        f"{options.rounds} exports, imports and reindexes, {crashes.kills} kills, seed {options.seed}: {len(crashes.wrong)} faults"
    )
    return int(bool(crashes.wrong))


if __name__ == "__main__":
    raise SystemExit(main())
