"""With nothing set, the clip profile takes the models that were fetched for it; one of the user's own takes its place."""

from __future__ import annotations

import pytest

from mmmem.encoders.catalogue import HubFile, HubModel
from mmmem.encoders.fetching import fetch, from_folder
from mmmem.encoders.weights import model_files, pin
from mmmem.errors import WeightsError
from mmmem.settings import Settings
from mmmem.wiring import clip
from tests.encoders import tiny

WRITERS = {
    "clip_checkpoint": tiny.write_clip,
    "colbert_dir": tiny.write_stanford_colbert,
    "sentence_dir": tiny.write_sentence_encoder,
}


@pytest.fixture(scope="module")
def carried(tmp_path_factory):
    """Small models in the form of the profile's own, in folders of their names."""
    folder = tmp_path_factory.mktemp("carried")
    for setting, name in clip.CHOICES.items():
        WRITERS[setting](folder / name)
    return folder


@pytest.fixture
def settings(carried, tmp_path):
    """Nothing set but where fetched models are, after each of the three was fetched."""
    for name in clip.CHOICES.values():
        files = tuple(HubFile(file.path) for file in model_files(carried / name))
        model = HubModel(name, "someone/small", "0" * 40, files, "MIT")
        fetch(model, tmp_path / "models", from_folder(carried / name), lambda *_: None)
    return Settings(profile="clip", models_dir=str(tmp_path / "models"))


def test_fetched_models_need_no_settings(settings):
    names = {model.name for model in clip.pins(settings)}
    assert set(clip.CHOICES.values()) <= names
    assert clip.places(settings)["clip_checkpoint"].name == "siglip2-b32-256"


@pytest.mark.parametrize("setting", clip.CHOICES)
def test_an_altered_fetched_model_stops_the_start_with_the_command_that_mends_it(settings, setting):
    folder = clip.places(settings)[setting]
    tiny.alter(next(folder.rglob("*.safetensors")))
    with pytest.raises(WeightsError, match=f"{setting}: .*Run `mmmem models fetch {folder.name}`"):
        clip.pins(settings)


def test_a_model_of_the_users_own_takes_the_place_of_the_fetched_one(settings, tmp_path):
    own = tmp_path / "own"
    tiny.write_clip(own)
    tiny.alter(tiny.weights_of(own))
    manifest = tmp_path / "models.toml"
    manifest.write_text(pin("own", own))
    chosen = settings.model_copy(update={"clip_checkpoint": str(own), "models_manifest": str(manifest)})
    clip.pins(chosen)
    assert clip.places(chosen)["clip_checkpoint"] == own
    with pytest.raises(WeightsError, match=r"clip_checkpoint: .*mmmem models pin"):
        clip.pins(chosen.model_copy(update={"models_manifest": ""}))


def test_a_model_that_is_neither_set_nor_fetched_stops_the_start_with_the_command_that_fetches_it(tmp_path):
    with pytest.raises(WeightsError, match=r"MMMEM_CLIP_CHECKPOINT.*mmmem models fetch siglip2-b32-256"):
        clip.pins(Settings(profile="clip", models_dir=str(tmp_path)))
