"""`mmmem doctor` finds what is wrong before a user does, and says what to do about it. Each fault here is planted for real."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import lancedb
import pytest
from typer.testing import CliRunner

from mmmem.cli import app
from mmmem.doctor import Finding, State, diagnose
from mmmem.doctor.tables import table_findings
from mmmem.errors import StoreUnavailable
from mmmem.ingest import content_key
from mmmem.settings import Settings
from mmmem.store import StoredRequest
from mmmem.store.record import FORMAT, beginning
from mmmem.store.users import LanceStore, table_name
from mmmem.types import EncodedMemory, ImagePart, TextPart
from tests.running import DEADLINE, run
from tests.store.content import DIMENSIONS, MODELS, request

SECRET = "the spare key is under the flower pot "
IMAGE = bytes(range(256)) * 100


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


def findings(data_dir: Path, *, quick: bool = True, free_bytes: int = 0, **settings: object) -> list[Finding]:
    given = Settings(data_dir=str(data_dir), port=0).model_copy(update=settings)
    return list(diagnose(given, free_bytes=free_bytes, quick=quick))


def the_one(found: list[Finding], check: str) -> Finding:
    """The check's finding, the only one that is not well; it says what to do."""
    wrong = [finding for finding in found if finding.state in {State.WARNING, State.FAULT}]
    assert [finding.check for finding in wrong] == [check]
    assert wrong[0].advice
    return wrong[0]


def with_hash(stored: StoredRequest) -> StoredRequest:
    """A request of the store's tests with the hashes that the service stores."""
    memories = tuple(
        EncodedMemory(each.memory, each.text, each.terms, content_key(each.memory), each.events, each.images)
        for each in stored.memories
    )
    return StoredRequest(stored.user_id, stored.request_id, stored.body_hash, memories)


@pytest.fixture
def filled(data_dir: Path) -> Path:
    """A store of two users: texts in several commits, and a picture."""
    store = LanceStore(Settings(data_dir=str(data_dir)), models=MODELS, dimensions=DIMENSIONS)
    store.open()
    for number in range(3):
        store.add(with_hash(request("ada", f"r{number}", SECRET + str(number))))
    store.add(with_hash(request("bob", "r", (TextPart("look"), ImagePart("data:image/png;base64", IMAGE)))))
    store.close()
    return data_dir


def table_of(data_dir: Path, user_id: str) -> Path:
    return data_dir / f"{table_name(user_id)}.lance"


def read_tables(data_dir: Path) -> list[Finding]:
    """What is found where every memory is read; the models need not be loaded for that."""
    return list(table_findings(Settings(data_dir=str(data_dir))))


def test_nothing_is_wrong_with_a_fresh_machine_and_nothing_is_left_there(data_dir: Path) -> None:
    found = findings(data_dir, quick=False)
    assert {finding.state for finding in found} == {State.OK}
    assert found[-1].check == "self-test"
    assert not data_dir.exists()


def as_it_lies(data_dir: Path) -> dict[Path, tuple[int, int]]:
    """Size and time of everything in a store's folder."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in data_dir.rglob("*")}


def test_nothing_is_wrong_with_a_store_and_it_stays_as_it_is(filled: Path) -> None:
    shutil.rmtree(filled / "locks")  # as of a store that was copied, so that nobody may make them
    trash = filled / f"{table_name('cy')}.deleted"  # a deletion that died half-way, for the next start to finish
    trash.mkdir()
    before = as_it_lies(filled)
    found = read_tables(filled)
    assert [finding.state for finding in found] == [State.OK]
    assert found[0].says == "4, with 1 images, of 2 users: all are what was stored"
    assert {finding.state for finding in findings(filled)} == {State.OK, State.SKIPPED}
    assert as_it_lies(filled) == before


def test_a_misspelt_setting_is_found_with_the_one_that_was_meant(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MMMEM_CACHE_BYTE", "5")
    finding = the_one(findings(data_dir), "settings")
    assert "MMMEM_CACHE_BYTE " in finding.says
    assert "MMMEM_CACHE_BYTES?" in finding.advice


def test_a_package_of_another_version_is_found(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "site" / "lancedb-0.1.0.dist-info"
    old.mkdir(parents=True)
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: lancedb\nVersion: 0.1.0\n")
    monkeypatch.syspath_prepend(str(old.parent))
    finding = the_one(findings(data_dir), "packages")
    assert finding.state is State.FAULT
    assert "lancedb is 0.1.0, and must be " in finding.says


def test_too_little_memory_is_found(data_dir: Path) -> None:
    assert "MMMEM_CACHE_BYTES" in the_one(findings(data_dir, cache_bytes=10**15), "memory").advice


def test_too_few_file_handles_are_found(data_dir: Path) -> None:
    command = f"ulimit -n 256; exec {sys.executable} -m mmmem doctor --quick --json --data-dir {data_dir}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=DEADLINE, check=False)
    (handles,) = [finding for finding in json.loads(done.stdout) if finding["check"] == "file handles"]
    assert (handles["state"], handles["says"]) == ("warning", "256 at most")
    assert "ulimit -Hn" in handles["advice"]


def test_a_temporary_folder_that_is_not_there_is_found(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(data_dir / "nowhere"))
    assert the_one(findings(data_dir), "temporary folder").state is State.FAULT


def test_an_address_that_is_taken_is_found(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        the_one(findings(data_dir, port=taken.getsockname()[1]), "address")


def test_a_service_open_to_the_network_is_found(data_dir: Path) -> None:
    assert "MMMEM_API_KEY" in the_one(findings(data_dir, host="0.0.0.0"), "access").advice


def test_a_gpu_that_is_not_there_is_found(data_dir: Path) -> None:
    assert the_one(findings(data_dir, device="cuda"), "device").state is State.FAULT


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"profile": "clip", "models_dir": "/nowhere"}, "MMMEM_CLIP_CHECKPOINT"),
        ({"text_dir": "/nowhere"}, "text_dir"),
        ({"models_manifest": "/nowhere"}, "models_manifest"),
    ],
)
def test_weights_that_are_missing_are_found(data_dir: Path, settings: dict[str, str], named: str) -> None:
    finding = the_one(findings(data_dir, **settings), "weights")
    assert finding.state is State.FAULT
    assert named in finding.says


def test_a_data_folder_that_is_a_file_is_found(data_dir: Path) -> None:
    data_dir.touch()
    assert the_one(findings(data_dir), "data folder").state is State.FAULT


def test_a_disk_that_is_nearly_full_is_found(data_dir: Path) -> None:
    assert "refuses every Add" in the_one(findings(data_dir, free_bytes=2**60), "disk").advice


def test_a_store_of_a_newer_version_is_found(filled: Path) -> None:
    lancedb.connect(filled).open_table("_store").update(values={"format": FORMAT + 1})
    finding = the_one(findings(filled), "store")
    assert finding.state is State.FAULT
    assert f"of format {FORMAT + 1}" in finding.says


def test_a_store_of_other_models_is_found(filled: Path) -> None:
    finding = the_one(findings(filled, quick=False), "store's models")
    assert finding.state is State.FAULT
    assert "image pixels-1, loaded " in finding.says


def test_a_lost_record_is_found(filled: Path) -> None:
    shutil.rmtree(filled / "_store.lance")
    assert "the tables of 2 users are there" in the_one(findings(filled), "store").says


@pytest.mark.parametrize("file", ["_versions/*.manifest", "data/*.lance"])
@pytest.mark.parametrize("left", [0, 30])
def test_a_torn_record_is_found_and_left_as_it_is(filled: Path, file: str, left: int) -> None:
    for each in (filled / "_store.lance").glob(file):
        each.write_bytes(each.read_bytes()[:left])
    before = as_it_lies(filled)
    finding = the_one(findings(filled), "store")
    assert finding.state is State.FAULT
    assert finding.says.startswith("its record is lost, or torn, and the tables of 2 users are there")
    assert "restore _store.lance" in finding.advice
    assert as_it_lies(filled) == before


def test_a_reindex_that_has_not_ended_is_found(filled: Path) -> None:
    models = beginning(MODELS, {"text": "words-2", "image": "pixels-2"})
    lancedb.connect(filled).open_table("_store").update(values={"models": json.dumps(models)})
    assert "`mmmem reindex` again" in the_one(findings(filled), "store").advice


def test_a_table_of_other_models_is_found(filled: Path) -> None:
    lancedb.connect(filled).open_table("_store").update(values={"models": json.dumps({**MODELS, "text": "words-2"})})
    finding = the_one(read_tables(filled), "memories")
    assert finding.says.startswith("those of 2 users are of a newer format, or of other models than the store: u_")


def test_a_lost_data_file_is_found_and_the_other_users_are_read(filled: Path) -> None:
    next((table_of(filled, "ada") / "data").iterdir()).unlink()
    finding = the_one(read_tables(filled), "memories")
    assert finding.state is State.FAULT
    assert finding.says == f"those of 1 users cannot be read: {table_name('ada')}"


@pytest.mark.parametrize(("user", "content"), [("ada", SECRET.encode()), ("bob", IMAGE)], ids=["text", "image"])
@pytest.mark.parametrize("damage", [lambda byte: byte ^ 1, lambda _: 0], ids=["a bit", "zero"])
def test_a_byte_that_the_disk_changed_is_found(
    filled: Path, user: str, content: bytes, damage: Callable[[int], int]
) -> None:
    for file in (table_of(filled, user) / "data").iterdir():
        stored = bytearray(file.read_bytes())
        if (place := stored.find(content)) >= 0:
            stored[place + 7] = damage(stored[place + 7])
            file.write_bytes(stored)
            break
    finding = the_one(read_tables(filled), "memories")
    assert finding.state is State.FAULT
    assert finding.says == f"1, of 1 users, not what was stored: {table_name(user)}"


def changed_in_all_files(folder: Path, content: bytes, place: int, value: bytes) -> None:
    """Put other bytes in the place of some of `content`, wherever it is stored."""
    changed = 0
    for file in (folder / "data").iterdir():
        stored = bytearray(file.read_bytes())
        if (found := stored.find(content)) >= 0:
            stored[found + place : found + place + len(value)] = value
            file.write_bytes(stored)
            changed += 1
    assert changed


def test_a_vector_that_is_no_number_is_found(filled: Path) -> None:
    stored = request("ada", "r1", SECRET + "1").memories[0].text.dense
    changed_in_all_files(table_of(filled, "ada"), stored.tobytes(), 4, b"\x00\x00\xc0\x7f")
    finding = the_one(read_tables(filled), "memories")
    assert finding.says == f"1, of 1 users, not what was stored: {table_name('ada')}"


def test_columns_that_only_the_service_reads_are_read(filled: Path) -> None:
    """A bit of any byte: what the service cannot read, or does not read whole, is found."""
    table, settings = table_of(filled, "bob"), Settings(data_dir=str(filled))
    [file] = (table / "data").iterdir()
    whole, kept, missed, unread = file.read_bytes(), filled.with_name("kept"), [], 0
    shutil.copytree(table, kept)
    for place in [*range(0, len(whole) - 4_000, 1_999), *range(len(whole) - 4_000, len(whole), 199)]:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x80]) + whole[place + 1 :])
        found = {finding.state for finding in read_tables(filled)}
        store = LanceStore(settings, models=MODELS, dimensions=DIMENSIONS)
        store.open()
        try:
            answered = len(store.load_images("bob", store.arrays("bob").memories)) == 1
        except StoreUnavailable:
            answered = False
        store.close()
        unread += not answered
        if not answered and found == {State.OK}:
            missed.append(place)
        shutil.rmtree(table)  # of which the service may have set a commit aside
        shutil.copytree(kept, table)
    assert missed == []
    assert unread


def test_a_newest_commit_that_is_gone_is_found(filled: Path) -> None:
    min((table_of(filled, "ada") / "_versions").glob("*.manifest")).unlink()
    finding = the_one(read_tables(filled), "commits")
    assert finding.state is State.WARNING
    assert "the newest of 1 users are not there" in finding.says
    assert "backup" in finding.advice


def test_a_commit_that_a_power_cut_tore_is_told_of(filled: Path) -> None:
    newest = min((table_of(filled, "ada") / "_versions").glob("*.manifest"))
    newest.write_bytes(newest.read_bytes()[:20])
    store = LanceStore(Settings(data_dir=str(filled)), models=MODELS, dimensions=DIMENSIONS)
    store.open()
    assert len(store.arrays("ada")) == 2
    store.close()
    assert the_one(read_tables(filled), "commits").state is State.WARNING


def test_a_provider_that_is_down_is_found(data_dir: Path) -> None:
    settings = {"text_encoder": "openai", "remote_url": "http://127.0.0.1:9", "remote_model": "m", "weight_dense": 0.3}
    finding = the_one(
        findings(data_dir, quick=False, remote_retries=0, remote_backoff_seconds=0.01, **settings), "self-test"
    )
    assert finding.state is State.FAULT


def test_the_report_and_its_exit_code(filled: Path) -> None:
    good = run("doctor", "--quick", "--data-dir", str(filled), MMMEM_PORT="0")
    assert good.returncode == 0
    assert good.stdout.endswith("\n0 faults, 0 warnings\n")
    bad = run("doctor", "--quick", "--data-dir", str(filled), MMMEM_PORT="0", MMMEM_DEVICE="cuda")
    assert bad.returncode == 1
    assert bad.stdout.endswith("\n1 fault, 0 warnings\n")
    assert "fault   device: MMMEM_DEVICE=cuda, but torch sees no GPU" in bad.stdout
    assert "\n        → " in bad.stdout


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--free-gib", "inf"], 2),
        (["--free-gib", "nan"], 2),
        (["--free-gib", "-1"], 2),
        (["--free-gib", ""], 2),
        (["--data-dir", ""], 2),
        (["--profile", "none"], 2),
        (["--data-dir", "d" * 5_000], 1),
        (["--data-dir", "ftp://x"], 1),
    ],
)
def test_odd_options_end_plainly(options: list[str], code: int) -> None:
    done = CliRunner().invoke(app, ["doctor", "--quick", *options], env={"MMMEM_PORT": "0"}, prog_name="mmmem")
    assert done.exit_code == code
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "d" * 50 not in done.output


def test_it_can_be_run_again_and_again_while_a_service_writes_merges_and_removes(filled: Path) -> None:
    settings = Settings(data_dir=str(filled)).model_copy(update={"compact_fragments": 2})
    store = LanceStore(settings, models=MODELS, dimensions=DIMENSIONS)
    store.open()
    stopped = threading.Event()

    def write() -> None:
        for number in count():
            if stopped.is_set():
                return
            store.add(with_hash(request("ada", f"w{number}", f"{SECRET} {number}")))
            if number % 5 == 4:
                store.delete_memory("ada", store.arrays("ada").memories[0].id)
            if number % 9 == 8:
                store.delete_user("ada")

    with ThreadPoolExecutor(1) as writer:
        writing = writer.submit(write)
        found = [finding for _ in range(20) for finding in read_tables(filled)]
        stopped.set()
        writing.result()
    store.close()
    assert [finding for finding in found if finding.state is not State.OK] == []


def test_nothing_of_a_memory_or_a_key_is_in_the_report(filled: Path) -> None:
    next((table_of(filled, "ada") / "data").iterdir()).unlink()
    done = run("doctor", "--data-dir", str(filled), MMMEM_DEVICE="cuda", MMMEM_API_KEY="hush4711")
    assert done.returncode == 1
    assert "cannot be read" in done.stdout
    assert not [word for word in ("hush4711", "flower", str(filled), "ada") if word in done.stdout + done.stderr]
