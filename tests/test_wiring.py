"""A profile starts with the models it names, verified, or it does not start and says what to do."""

from __future__ import annotations

import io
import logging
import sys

import numpy as np
import pytest
from PIL import Image

from mmmem import wiring
from mmmem.encoders.weights import pin
from mmmem.errors import StartupError, StoreMismatch, WeightsError
from mmmem.settings import Settings
from mmmem.types import AddRequest, ImagePart, Message, Query, TextPart
from tests.encoders import tiny


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """Settings of a clip profile whose three models are small, have random weights, and are pinned."""
    folder = tmp_path_factory.mktemp("models")
    places = {"clip_checkpoint": "clip", "colbert_dir": "colbert", "sentence_dir": "sentence"}
    tiny.write_clip(folder / "clip")
    tiny.write_stanford_colbert(folder / "colbert")
    tiny.write_sentence_encoder(folder / "sentence")
    manifest = folder / "models.toml"
    manifest.write_text("".join(pin(name, folder / name) for name in places.values()), encoding="utf-8")
    paths = {setting: str(folder / name) for setting, name in places.items()}
    return {"profile": "clip", "models_manifest": str(manifest), **paths}


def picture(colour):
    pixels = np.zeros((40, 60, 3), dtype=np.uint8)
    pixels[:, :30] = colour
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    return ImagePart("data:image/png;base64", data.getvalue())


def test_the_clip_profile_remembers_and_finds_text_and_images_with_local_models(clip, tmp_path):
    service = wiring.build_service(Settings(data_dir=str(tmp_path), **clip))
    try:
        red, blue = picture((250, 10, 10)), picture((10, 10, 250))
        messages = (
            Message("user", (TextPart("The harbour is closed on Mondays."),)),
            Message("user", (red,)),
            Message("user", (TextPart("look"), blue)),
        )
        service.add(AddRequest("r", "u", "s", messages))
        explained = service.explain(Query("u", (TextPart("harbour closed Mondays"),), 10))
        assert len(explained) == 3
        assert {"maxsim", "lexical", "text_to_image"} <= {
            name for hit in explained for name in hit.explanation.channels
        }
        for image in (red, blue):
            [first] = service.search(Query("u", (image,), 1))
            assert image in first.memory.parts
    finally:
        service.close()


def test_a_store_is_bound_to_the_models_that_wrote_it(clip, tmp_path):
    wiring.build_service(Settings(data_dir=str(tmp_path), **clip)).close()
    with pytest.raises(StoreMismatch) as raised:
        wiring.build_service(Settings(data_dir=str(tmp_path)))
    assert "open_clip" in str(raised.value)
    assert "all-MiniLM-L6-v2" in str(raised.value)


@pytest.mark.parametrize("setting", ["clip_checkpoint", "colbert_dir", "sentence_dir"])
def test_without_a_model_the_clip_profile_does_not_start(clip, setting):
    with pytest.raises(WeightsError, match=f"MMMEM_{setting.upper()}"):
        wiring.check(Settings(**{**clip, setting: ""}))


def test_without_pins_the_clip_profile_does_not_start_and_says_how_to_pin(clip):
    with pytest.raises(WeightsError, match="mmmem models pin"):
        wiring.check(Settings(**{**clip, "models_manifest": ""}))


def test_the_light_profile_starts_only_with_the_files_of_the_manifest(monkeypatch, tmp_path):
    wiring.check(Settings())
    (tmp_path / wiring.light.PROJECTION).with_suffix(".safetensors").write_bytes(b"something else")
    monkeypatch.setattr(wiring.light, "models_folder", lambda: tmp_path)
    with pytest.raises(WeightsError, match=wiring.light.PROJECTION):
        wiring.check(Settings())


@pytest.mark.parametrize("profile", ["light", "clip"])
def test_a_start_says_in_one_line_what_runs_where_and_how_wide_it_is(clip, tmp_path, caplog, profile):
    with caplog.at_level(logging.INFO):
        service = wiring.build_service(
            Settings(data_dir=str(tmp_path), device="cpu", **(clip if profile == "clip" else {}))
        )
        service.close()
    [line] = [line for line in caplog.messages if line.startswith("ready:")]
    said = {
        "light": ("all-MiniLM-L6-v2", "dimensions 384, of tokens 128", "efficientnet-lite2", "PP-OCRv4"),
        "clip": ("open_clip:", "PP-OCRv4"),
    }
    for part in (f"profile {profile} on cpu;", *said[profile]):
        assert part in line
    assert str(tmp_path) not in line


def test_a_gpu_that_is_not_there_is_not_replaced_in_silence(monkeypatch, tmp_path):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(StartupError, match="MMMEM_DEVICE"):
        wiring.build_service(Settings(device="cuda", data_dir=str(tmp_path)))


@pytest.mark.parametrize("place", ["~nobody-of-this-name/models", "/" + "x" * 300])
def test_a_folder_of_models_that_cannot_be_looked_into_is_named_by_its_setting(place):
    # As is the home of another user, which a service that was started by that user still has in HOME.
    with pytest.raises(WeightsError, match=r"models_dir: cannot be used .*MMMEM_MODELS_DIR") as raised:
        wiring.check(Settings(models_dir=place))
    assert place not in str(raised.value)


def test_with_the_lexical_channels_alone_no_model_is_needed(tmp_path):
    # The clip profile without any checkpoint starts with nothing else.
    words = {"weight_maxsim": 0, "weight_dense": 0, "weight_image": 0, "weight_labels": 0, "reranker": "none"}
    settings = Settings(data_dir=str(tmp_path), profile="clip", **words)
    with pytest.raises(StartupError):
        wiring.check(settings.model_copy(update={"weight_image": 1.0}))
    wiring.check(settings)
    service = wiring.build_service(settings)
    try:
        texts = ("The spare key is under the pot.", "Otto mended the radio in May.", "错误 ERR_42 又出现了")
        messages = (*(Message("user", (TextPart(text),)) for text in texts), Message("user", (picture((9, 9, 9)),)))
        service.add(AddRequest("r", "u", "s", messages))
        for question, text in (
            ("where is the spare key?", "key"),
            ("ERR_42", "ERR_42"),
            ("出现错误", "错误"),
            ("radio", "Otto"),
        ):
            assert text in service.search(Query("u", (TextPart(question),), 1))[0].memory.text
        assert len(service.search(Query("u", (TextPart("anything"), picture((1, 2, 3))), 10))) == 4
    finally:
        service.close()
    with pytest.raises(StoreMismatch):
        wiring.build_service(Settings(data_dir=str(tmp_path)))


def test_text_in_images_is_read_where_any_model_is_used_and_can_be_switched_off():
    from mmmem.wiring import ocr

    assert ocr.wanted(Settings(), models=True)
    assert not ocr.wanted(Settings(), models=False), "where only words are compared no model is loaded"
    assert ocr.wanted(Settings(ocr="on"), models=False)
    assert not ocr.wanted(Settings(ocr="off"), models=True)


def test_text_reading_that_cannot_be_loaded_stops_the_start_with_what_to_do(monkeypatch):
    from mmmem.encoders.device import choose_device
    from mmmem.wiring import ocr

    monkeypatch.setitem(sys.modules, "cv2", None)  # as where the system lacks libGL
    monkeypatch.delitem(sys.modules, "mmmem.media.rapidocr", raising=False)
    for name in [name for name in sys.modules if name.startswith("rapidocr_onnxruntime")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(WeightsError, match="MMMEM_OCR=off"):
        ocr.load(Settings(), choose_device(Settings()), models=True)
