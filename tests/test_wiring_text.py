"""The light profile with a text model of the user's own: the whole service, its store, and what it refuses."""

from __future__ import annotations

import io
import shutil
from importlib.resources import files

import pytest
from PIL import Image

from mmmem import wiring
from mmmem.encoders.tokens import Projection
from mmmem.encoders.weights import pin
from mmmem.errors import StoreMismatch, WeightsError
from mmmem.settings import Settings
from mmmem.types import AddRequest, ImagePart, Message, Query, TextPart
from tests.encoders import text_models, tiny


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """Settings of the light profile with a small multilingual model and its projection, both pinned."""
    folder = tmp_path_factory.mktemp("models")
    text_models.roberta(folder / "text")
    Projection.identity(32).save(folder / "projection.safetensors")
    return settings_for(folder, text_dir="text", text_projection="projection.safetensors")


def settings_for(folder, **places):
    manifest = folder / "models.toml"
    manifest.write_text("".join(pin(name, folder / place) for name, place in places.items()), encoding="utf-8")
    return {"models_manifest": str(manifest), **{name: str(folder / place) for name, place in places.items()}}


def photo():
    with Image.open(files("skimage.data") / "coffee.png") as image:
        data = io.BytesIO()
        image.convert("RGB").resize((300, 200)).save(data, "PNG")
    return ImagePart("data:image/png;base64", data.getvalue())


def test_chinese_is_remembered_and_found_with_a_multilingual_model(mine, tmp_path):
    service = wiring.build_service(Settings(data_dir=str(tmp_path), **mine))
    try:
        messages = [Message("user", (TextPart(text),)) for text in text_models.MEMORIES]
        service.add(AddRequest("r", "u", "s", tuple(messages)))
        [hit] = service.explain(Query("u", (TextPart("张伟把我的雨伞借走了吗？"),), 1))
        assert "张伟把我的雨伞借走了" in hit.memory.text
        assert hit.explanation.channels["maxsim"].rank == 1
        assert "雨" in "".join(match.query for match in hit.explanation.tokens)  # read, not only compared as a string
    finally:
        service.close()


def test_a_photo_is_found_by_words_in_the_space_of_the_users_own_model(tmp_path):
    # Random weights over a real vocabulary: the mean over tokens still tells which words a text has.
    tiny.write_sentence_encoder(tmp_path / "model")
    service = wiring.build_service(
        Settings(data_dir=str(tmp_path / "data"), **settings_for(tmp_path, text_dir="model"))
    )
    try:
        picture = photo()
        others = ("We moved house in May.", "The train leaves at seven.", "He plays chess on Fridays.")
        messages = [Message("user", (picture,)), *(Message("user", (TextPart(text),)) for text in others)]
        service.add(AddRequest("r", "u", "s", tuple(messages)))
        [hit] = service.explain(Query("u", (TextPart("espresso"),), 1))
        assert picture in hit.memory.parts
        assert hit.explanation.channels["text_to_image"].score > 2  # deviations above chance
    finally:
        service.close()


def test_a_store_is_bound_to_the_text_model_and_its_projection(mine, tmp_path):
    wiring.build_service(Settings(data_dir=str(tmp_path), **mine)).close()
    with pytest.raises(StoreMismatch, match="text@"):
        wiring.build_service(Settings(data_dir=str(tmp_path)))
    with pytest.raises(StoreMismatch, match="text@"):
        wiring.build_service(Settings(data_dir=str(tmp_path), **{**mine, "text_projection": ""}))


def test_without_pins_it_does_not_start_and_says_how_to_pin(mine):
    with pytest.raises(WeightsError, match=r"text_dir: .*mmmem models pin NAME \"\$MMMEM_TEXT_DIR\""):
        wiring.check(Settings(**{**mine, "models_manifest": ""}))


@pytest.mark.parametrize("setting", ["text_dir", "text_projection"])
def test_one_altered_byte_is_refused(mine, tmp_path, setting):
    shutil.copytree(mine["text_dir"], tmp_path / "text")
    shutil.copy(mine["text_projection"], tmp_path / "projection.safetensors")
    settings = settings_for(tmp_path, text_dir="text", text_projection="projection.safetensors")
    wiring.check(Settings(**settings))
    tiny.alter(tmp_path / ("text/model.safetensors" if setting == "text_dir" else "projection.safetensors"))
    with pytest.raises(WeightsError, match=f"{setting}:"):
        wiring.check(Settings(**settings))


def test_a_projection_alone_is_refused(mine):
    with pytest.raises(WeightsError, match=r"text_projection: .*MMMEM_TEXT_DIR"):
        wiring.check(Settings(**{**mine, "text_dir": ""}))


def test_a_folder_that_is_not_there_is_refused(mine):
    with pytest.raises(WeightsError, match="text_dir: nothing is there"):
        wiring.check(Settings(**{**mine, "text_dir": "nowhere"}))
