"""A provider's pooled vectors beside either profile's own token vectors: the store, its cache, and what they refuse."""

from __future__ import annotations

import io
from importlib.resources import files

import pytest
from PIL import Image

from mmmem import wiring
from mmmem.encoders.weights import pin
from mmmem.errors import StartupError, StoreMismatch, WeightsError
from mmmem.settings import Settings
from mmmem.types import AddRequest, ImagePart, Message, Query, TextPart
from tests.encoders import tiny

TEXTS = ("My bicycle has a flat tyre.", "We moved house in May.", "He plays chess on Fridays.")


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """Settings of a clip profile without a sentence encoder: two small models with random weights."""
    folder = tmp_path_factory.mktemp("models")
    tiny.write_clip(folder / "clip")
    tiny.write_stanford_colbert(folder / "colbert")
    manifest = folder / "models.toml"
    manifest.write_text("".join(pin(name, folder / name) for name in ("clip", "colbert")), encoding="utf-8")
    return {
        "profile": "clip",
        "models_dir": str(folder / "fetched"),
        "models_manifest": str(manifest),
        "clip_checkpoint": str(folder / "clip"),
        "colbert_dir": str(folder / "colbert"),
    }


@pytest.fixture
def settings(provider, tmp_path):
    """Settings with a provider: `settings(remote_model=...)`."""
    common = {"data_dir": str(tmp_path / "data"), "ocr": "off", "remote_retries": 0}
    return lambda **others: Settings(**provider.settings(**common, **others))


def add(service, user, *parts):
    service.add(AddRequest("r", user, "s", tuple(Message("user", (part,)) for part in parts)))


def first(service, user, question):
    [hit] = service.explain(Query(user, (TextPart(question),), 1))
    return hit


def photo():
    with Image.open(files("skimage.data") / "coffee.png") as image:
        data = io.BytesIO()
        image.convert("RGB").resize((300, 200)).save(data, "PNG")
    return ImagePart("data:image/png;base64", data.getvalue())


def test_words_and_photos_still_meet_in_the_light_models_own_space(settings):
    service = wiring.build_service(settings())
    try:
        add(service, "u", *(TextPart(text) for text in TEXTS), photo())
        said = first(service, "u", "the bike")
        assert "bicycle" in said.memory.text
        assert said.explanation.channels["dense"].rank == 1
        shown = first(service, "u", "a photo of an espresso")
        assert shown.memory.parts[-1] == photo()
        assert shown.explanation.channels["text_to_image"].score > 2  # deviations above chance
    finally:
        service.close()


def test_no_text_is_paid_for_twice_also_after_a_restart(provider, settings, clip, tmp_path):
    said = [TextPart(text) for text in TEXTS]
    sent = []
    for user in ("u", "v"):
        service = wiring.build_service(settings(**clip, weight_maxsim=0, reranker="none"))
        try:
            add(service, user, *said)
            for asked in dict.fromkeys(("u", user)):
                best = first(service, asked, "the bike")
                assert "bicycle" in best.memory.text
                assert best.explanation.channels["dense"].rank == 1
        finally:
            service.close()
        sent.append(len(provider.texts))
    assert sent == [4, 4]
    names = {path.name for path in (tmp_path / "data").iterdir() if path.suffix != ".lance"}
    assert names == {"locks", "embeddings"}


def test_a_store_is_bound_to_the_providers_model_and_dimension_and_not_to_its_address(provider, settings, clip):
    service = wiring.build_service(settings(**clip))
    add(service, "u", TextPart(TEXTS[0]))
    service.close()
    for other in ({"remote_model": "text-embedding-v3"}, {"remote_dimensions": 32}):
        with pytest.raises(StoreMismatch, match="openai/text-embedding-v4:64"):
            wiring.build_service(settings(**clip, **other))
    service = wiring.build_service(settings(**clip, remote_url=provider.url.replace("127.0.0.1", "localhost")))
    try:
        assert first(service, "u", "the bike")
    finally:
        service.close()


def test_what_is_missing_is_said_before_anything_is_loaded(settings, clip):
    wiring.check(settings(**clip))
    with pytest.raises(StartupError, match="MMMEM_REMOTE_URL"):
        wiring.check(settings(**clip, remote_url=""))
    with pytest.raises(WeightsError, match="MMMEM_SENTENCE_DIR"):
        wiring.check(settings(**clip, text_encoder="local"))
