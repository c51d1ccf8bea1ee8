"""Backups and reindexing as a user meets them: real models, whole commands, and `kill -9` in the middle of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mmmem import wiring
from mmmem.backup.counts import Counts
from mmmem.cli import app
from mmmem.encoders.weights import pin
from mmmem.memory import MemoryService
from mmmem.meter import NO_METER, Meter
from mmmem.settings import Settings
from mmmem.types import AddRequest, Message, Query, TextPart
from mmmem.wiring import backup as wiring_backup
from mmmem.wiring import loading
from tests.backup.conftest import WORDS, WORDS_ENVIRONMENT, picture, told_without_models
from tests.encoders import tiny
from tests.running import DEADLINE

TIME = 1_704_067_200_000
USERS = ["bob \ud800", "李"]
TURNS = [
    "I adopted a cat called Miso last week.",
    "Lovely! What does Miso eat?",
    "Tuna, and whatever falls off the table.",
    "The build failed with ERR_42 in src/app.py again.",
    "When did it start to fail?",
    "On 3 January, after the update to v2.1.0.",
    "我上周在北京买了一辆自行车。",
    "My flight to Lisbon is on Friday at nine. " * 40,
]
QUESTIONS = [
    "What does the cat eat?",
    "when did the build fail?",
    "自行车",
    "ERR_42",
    "Lisbon",
    "show me the red picture",
]
RED, BLUE = picture((250, 10, 10), (60, 40)), picture((10, 10, 250), (60, 40))


@pytest.fixture(scope="module", autouse=True)
def light() -> Iterator[None]:
    """The models of the light profile are loaded once, not by each that asks for them."""
    held: list[loading.Models] = []
    pictures_without_text = pytest.MonkeyPatch()
    pictures_without_text.setenv("MMMEM_OCR", "off")
    original = loading.load

    def load(settings: Settings, meter: Meter = NO_METER) -> loading.Models:
        if settings.profile != "light" or not loading.needs_models(settings):
            return original(settings, meter)
        if not held:
            held.append(original(settings, meter))
        return replace(held[0], settings=settings, ending=ExitStack())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring, "load", load)
        patch.setattr(wiring_backup, "load", load)
        yield
    pictures_without_text.undo()
    for models in held:
        models.ending.close()


def opened(folder: Path, **settings: Any) -> MemoryService:
    return wiring.build_service(Settings(data_dir=str(folder), **settings))


def filled(folder: Path, rounds: int = 1, **settings: Any) -> None:
    """Users with `rounds` times the same turns, the session going on from one Add to the next."""
    with closing(opened(folder, **settings)) as service:
        for user in USERS:
            for number in range(rounds):
                for start in range(0, len(TURNS), 2):
                    messages = [
                        Message("user", (TextPart(f"{turn} ({number})"),), TIME + start) for turn in TURNS[start:][:2]
                    ]
                    service.add(AddRequest(f"{number}.{start}", user, f"s{number % 2}", tuple(messages)))
            shown = (Message("user", (TextPart("look"), RED, BLUE), TIME), Message("user", (BLUE,), TIME))
            service.add(AddRequest("pictures", user, "s0", shown))


def answers(folder: Path, **settings: Any) -> list[list[tuple[Any, float]]]:
    """What every user is answered: memories whole, images included, with their scores."""
    queries = [(TextPart(question),) for question in QUESTIONS] + [(RED,), (TextPart("the picture"), BLUE)]
    with closing(opened(folder, **settings)) as service:
        hits = [service.search(Query(user, query, 100)) for user in USERS for query in queries]
    return [[(hit.memory, hit.score) for hit in found] for found in hits]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the light profile: to be read, or copied."""
    folder = tmp_path_factory.mktemp("told") / "data"
    filled(folder, rounds=2)
    return folder


def command(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(app, arguments, env=environment)


def test_a_store_filled_exported_wiped_and_imported_gives_the_same_content_and_rankings(
    told: Path, tmp_path: Path
) -> None:
    data, file, again = tmp_path / "data", tmp_path / "backup.jsonl.gz", tmp_path / "again.jsonl.gz"
    shutil.copytree(told, data)
    with closing(
        opened(data)
    ) as service:  # its answer was encoded with it before: from what is kept that cannot be had again
        question = service.search(Query(USERS[0], (TextPart("What does Miso eat?"),), 1))[0]
        assert service.delete_memory(USERS[0], question.memory.id)
    expected = answers(data)
    assert any(len(found) > 10 for found in expected)
    done = command("export", str(file), "--data-dir", str(data))
    assert done.exit_code == 0, done.output
    assert "exported 2 users, 18 requests, 39 memories, 6 images" in done.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    shutil.rmtree(data)
    done = command("import", str(file), "--data-dir", str(data))
    assert done.exit_code == 0, done.output
    assert "imported 2 users, 18 requests, 39 memories, 6 images; 0 requests there before" in done.stderr
    assert answers(data) == expected
    command("export", str(again), "--data-dir", str(data))
    assert again.read_bytes() == file.read_bytes()


def test_a_backup_goes_into_a_store_of_other_models_with_vectors_and_without(told: Path, tmp_path: Path) -> None:
    filled(tmp_path / "words", rounds=2, **WORDS)
    expected = answers(tmp_path / "words", **WORDS)
    for option in ("--vectors", "--no-vectors"):
        written = command("export", "-", option, "--data-dir", str(told))
        assert written.exit_code == 0
        (tmp_path / "file").write_bytes(written.stdout_bytes)
        data = tmp_path / option
        done = command("import", str(tmp_path / "file"), "--data-dir", str(data), **WORDS_ENVIRONMENT)
        assert done.exit_code == 0, done.output
        assert answers(data, **WORDS) == expected


@contextmanager
def killed(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command in a process of its own, until it is killed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MMMEM_")} | environment
    with subprocess.Popen([sys.executable, "-m", "mmmem", *arguments], env=clean, stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(condition: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert process.poll() is None, "it ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_import_that_is_killed_is_ended_by_the_same_command(tmp_path: Path) -> None:
    backup = told_without_models(tmp_path / "data", USERS, 100)
    file, data = tmp_path / "backup.jsonl", tmp_path / "new"
    file.write_bytes(backup)
    with killed("import", "-", "--data-dir", str(data), **WORDS_ENVIRONMENT) as process:
        assert process.stdin
        process.stdin.writelines(
            backup.splitlines(keepends=True)[:190]
        )  # a user, and as much of another as is read ahead
        process.stdin.flush()
        wait_for(lambda: list(data.glob("u_*.lance/_versions/*.manifest")), process)
    done = command("import", str(file), "--data-dir", str(data), **WORDS_ENVIRONMENT)
    assert done.exit_code == 0, done.output
    assert "imported 2 users, 200 requests" in done.stderr
    assert "; 0 requests of them" not in done.stderr
    assert command("export", "-", "--data-dir", str(data)).stdout_bytes == backup


def test_a_reindex_that_is_killed_is_refused_to_all_others_and_goes_on(tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    users = [str(number) for number in range(12)]
    told_without_models(data, users, 2, models={"text": "old", "image": "old"})
    expected = told_without_models(other, users, 2)
    gathered: set[str] = set()

    def at_the_third_user() -> bool:
        gathered.update(path.name for path in (data / "reindexing").glob("u_*.lance"))
        return len(gathered) == 3

    with killed("reindex", "--data-dir", str(data), **WORDS_ENVIRONMENT) as process:
        wait_for(at_the_third_user, process)
    for arguments in (["export", "-"], ["explain", "cat", "--user", "0"], ["purge", "--user", "0"]):
        refused = command(*arguments, "--data-dir", str(data), **WORDS_ENVIRONMENT)
        assert refused.exit_code == 1
        assert "run `mmmem reindex` again" in refused.stderr
    done = command("reindex", "--data-dir", str(data), **WORDS_ENVIRONMENT)
    assert done.exit_code == 0, done.output
    anew, before = (int(part.strip().split()[0]) for part in done.stdout.split(","))
    assert (anew + before, before >= 2) == (12, True)
    assert command("export", "-", "--data-dir", str(data)).stdout_bytes == expected


def test_a_reindex_gives_what_the_new_models_would_have_given(told: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    filled(data, rounds=2, **WORDS)
    done = command("reindex", "--data-dir", str(data), "--profile", "light")
    assert "2 users with 40 memories encoded anew, 0 users were of these models before" in done.stdout
    assert answers(data) == answers(told)


def test_a_store_is_brought_to_the_clip_profile(told: Path, tmp_path: Path) -> None:
    writers = {
        "clip_checkpoint": tiny.write_clip,
        "colbert_dir": tiny.write_stanford_colbert,
        "sentence_dir": tiny.write_sentence_encoder,
    }
    for name, write in writers.items():
        write(tmp_path / name)
    manifest = tmp_path / "models.toml"
    manifest.write_text("".join(pin(name, tmp_path / name) for name in writers), encoding="utf-8")
    clip = {"profile": "clip", "models_manifest": str(manifest), **{name: str(tmp_path / name) for name in writers}}
    data = tmp_path / "data"
    shutil.copytree(told, data)
    counts = Counts()
    with wiring_backup.reindexer(Settings(data_dir=str(data), **clip)) as anew:
        anew.run(counts)
    assert (counts.users, counts.memories, counts.images) == (2, 40, 6)
    with closing(opened(data, **clip)) as service:
        for user in USERS:
            [found] = service.search(Query(user, (RED,), 1))
            assert RED in found.memory.parts
            explained = service.explain(Query(user, (TextPart("What does the cat eat?"),), 100))
            assert {"maxsim", "text_to_image"} <= {name for hit in explained for name in hit.explanation.channels}
