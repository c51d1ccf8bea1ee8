"""OpenCLIP from local files: the model that was saved, or no start."""

from __future__ import annotations

import json
import shutil

import numpy as np
import open_clip
import pytest
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from safetensors.torch import load_file, save_file

from mmmem.encoders.clip import CAPTION_CHANCE, IMAGE_CHANCE, ClipImageEncoder
from mmmem.errors import WeightsError
from tests.encoders import tiny

PHOTO = Image.fromarray(np.random.default_rng(3).integers(0, 256, (40, 60, 3), dtype=np.uint8))
ARCHITECTURE = "tiny-for-tests"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with open_clip_config.json, and the model that was saved in it."""
    folder = tmp_path_factory.mktemp("clip") / "folder"
    return folder, tiny.write_clip(folder)


@pytest.fixture
def folder(saved, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(saved[0], tmp_path / "folder")


@pytest.fixture
def architecture(monkeypatch):
    """The tiny model known to open_clip as its own architectures are, with weights published for it."""
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, ARCHITECTURE, tiny.CLIP_CONFIG)

    def publish(**preprocessing):
        tags = {name: {**tiny.GREY, **values} for name, values in preprocessing.items()}
        monkeypatch.setitem(open_clip.pretrained._PRETRAINED, ARCHITECTURE, tags)

    publish(one={}, two={})
    return publish


def load(checkpoint, architecture="ViT-B-32", extra=""):
    models = tiny.pinned(checkpoint, extra)
    return ClipImageEncoder(architecture, checkpoint, models=models, device="cpu", batch_size=2)


def original_image(model, preprocessing=tiny.GREY):
    transform = image_transform_v2(PreprocessCfg(size=32, **preprocessing), is_train=False)
    with torch.inference_mode():
        return model.encode_image(transform(PHOTO)[None], normalize=True)[0].numpy()


def original_text(model, text):
    with torch.inference_mode():
        tokens = open_clip.SimpleTokenizer(context_length=16)([text])
        return model.encode_text(tokens, normalize=True)[0].numpy()


def encode(encoder, *images):
    return [encoding.vector for encoding in encoder.encode_images([encoder.prepare(image) for image in images])]


def test_a_folder_gives_the_vectors_of_the_model_that_was_saved(saved):
    folder, model = saved
    encoder = load(folder)
    (image,) = encode(encoder, PHOTO)
    (text,) = encoder.encode_captions(["a cat on a mat"], [])
    np.testing.assert_allclose(image, original_image(model), atol=1e-5)
    np.testing.assert_allclose(text, original_text(model, "a cat on a mat"), atol=1e-5)
    assert image.dtype == text.dtype == np.float32
    assert image.shape == text.shape == (encoder.dimensions,)
    assert np.linalg.norm(image) == pytest.approx(1, abs=1e-6)


def test_a_weights_file_is_prepared_for_as_its_architecture_was_trained(saved, architecture):
    folder, model = saved
    (image,) = encode(load(tiny.weights_of(folder), ARCHITECTURE), PHOTO)
    np.testing.assert_allclose(image, original_image(model), atol=1e-5)


def test_a_checkpoint_of_a_training_run_loads_when_it_holds_tensors_only(saved, tmp_path, architecture):
    folder, model = saved
    file = tmp_path / "epoch_3.pt"
    state = {f"module.{name}": value for name, value in load_file(tiny.weights_of(folder)).items()}
    torch.save({"epoch": 3, "state_dict": state}, file)
    (image,) = encode(load(file, ARCHITECTURE), PHOTO)
    np.testing.assert_allclose(image, original_image(model), atol=1e-5)


def test_batches_change_nothing(saved):
    encoder = load(saved[0])
    turned = [PHOTO.rotate(angle) for angle in (0, 90, 180, 270, 45)]
    for together, image in zip(encode(encoder, *turned), turned, strict=True):
        np.testing.assert_allclose(together, encode(encoder, image)[0], atol=1e-6)
    texts = ["a dog", "two cats asleep", "a train in the snow", "", "rain"]
    for together, text in zip(encoder.encode_captions(texts, []), texts, strict=True):
        np.testing.assert_allclose(together, encoder.encode_captions([text], [])[0], atol=1e-6)
    assert encoder.encode_images([]) == encoder.encode_captions([], []) == []


def test_the_end_of_a_long_caption_counts(saved):
    encoder = load(saved[0])
    beginning = "once upon a time there was a very long caption about nothing at all " * 3
    cat, dog = encoder.encode_captions([beginning + "cat", beginning + "dog"], [])
    assert not np.allclose(cat, dog, atol=1e-4)


def test_a_sliver_of_an_image_does_not_blow_up(saved):
    encoder = load(saved[0])
    assert encoder.prepare(Image.new("RGB", (1, 2_000_000))).shape == (3, 32, 32)
    assert encoder.prepare(Image.new("RGB", (2_000_000, 1))).shape == (3, 32, 32)


def test_chance_is_what_the_pinned_entry_says(saved):
    encoder = load(saved[0])
    vector = encode(encoder, PHOTO)[0]
    assert (encoder.caption_chance(vector), encoder.image_chance(vector)) == (CAPTION_CHANCE, IMAGE_CHANCE)
    measured = load(saved[0], extra="caption_chance = [0.01, 0.05]\nimage_chance = [0.6, 0.1]\n")
    assert (measured.caption_chance(vector), measured.image_chance(vector)) == ((0.01, 0.05), (0.6, 0.1))


def test_the_name_follows_the_weights(saved, folder):
    state = load_file(tiny.weights_of(folder))
    save_file({name: value + 0.001 for name, value in state.items()}, tiny.weights_of(folder))
    assert load(folder).name != load(saved[0]).name


def test_without_a_pin_it_does_not_start(saved):
    with pytest.raises(WeightsError, match="mmmem models pin"):
        ClipImageEncoder("ViT-B-32", saved[0], models=(), device="cpu", batch_size=2)


def test_one_altered_byte_is_refused(folder):
    models = tiny.pinned(folder)
    tiny.alter(tiny.weights_of(folder))
    with pytest.raises(WeightsError, match=r"open_clip_model\.safetensors is not the file pinned"):
        ClipImageEncoder("ViT-B-32", folder, models=models, device="cpu", batch_size=2)


def test_a_folder_without_weights_is_refused(folder):
    tiny.weights_of(folder).unlink()
    with pytest.raises(WeightsError, match="has neither"):
        load(folder)


@pytest.mark.parametrize(("kept", "lost"), [("visual.", "text tower"), ("t", "image tower")])
def test_a_checkpoint_that_lacks_a_tower_is_refused(folder, kept, lost):
    state = load_file(tiny.weights_of(folder))
    save_file(
        {k: v for k, v in state.items() if k.startswith("visual.") == (kept == "visual.")}, tiny.weights_of(folder)
    )
    with pytest.raises(WeightsError, match=f"lacks .* weights of the {lost}"):
        load(folder)


def test_weights_beyond_the_architecture_are_refused(folder):
    state = load_file(tiny.weights_of(folder))
    save_file({**state, "visual.second_head": torch.zeros(2)}, tiny.weights_of(folder))
    with pytest.raises(
        WeightsError, match=r"has 1 weights that the architecture has not, for example visual\.second_head"
    ):
        load(folder)


@pytest.mark.parametrize(
    "vision",
    [
        {"width": 64},  # other shapes
        {"image_size": 64},  # other positions, which open_clip would stretch
        {"layers": [1, 1, 1, 1], "patch_size": None, "width": 16},  # a ResNet
    ],
)
def test_weights_of_another_architecture_are_refused(folder, vision):
    config = {**tiny.CLIP_CONFIG, "vision_cfg": {**tiny.CLIP_CONFIG["vision_cfg"], **vision}}
    tiny.write_clip_config(folder, config)
    with pytest.raises(WeightsError, match="another architecture's"):
        load(folder)


def test_a_file_of_another_architecture_is_refused(saved):
    with pytest.raises(WeightsError, match="another architecture's"):
        load(tiny.weights_of(saved[0]), "RN50-quickgelu")


def test_an_unknown_architecture_is_refused(saved):
    with pytest.raises(WeightsError, match="clip_model: open_clip has no architecture ViT-Z"):
        load(tiny.weights_of(saved[0]), "ViT-Z")


def test_preprocessing_is_never_guessed(saved, folder, architecture):
    file = tiny.weights_of(saved[0])
    architecture(one={}, two={"mean": (0.4, 0.4, 0.4)})
    with pytest.raises(WeightsError, match="does not say how tiny-for-tests wants its images prepared"):
        load(file, ARCHITECTURE)
    architecture(one={}, two={"mean": (0.4, 0.4, 0.4), "quick_gelu": True})  # another activation: another architecture
    load(file, ARCHITECTURE)
    tiny.write_clip_config(folder, preprocessing={"interpolation": "bicubic"})
    with pytest.raises(WeightsError, match=r"does not say preprocess_cfg\.mean"):
        load(folder)


@pytest.mark.parametrize("architecture_name", ["ViT-B-16-SigLIP", "xlm-roberta-base-ViT-B-32"])
def test_a_tokenizer_or_tower_on_a_hub_is_refused_and_not_fetched(saved, architecture_name):
    with pytest.raises(WeightsError, match="tokenizer of its own"):
        load(tiny.weights_of(saved[0]), architecture_name)


def test_a_folder_brings_its_own_tokenizer(folder):
    tiny.write_bert(folder.with_name("bert"))
    text = {**tiny.CLIP_CONFIG["text_cfg"], "hf_tokenizer_name": "some/where-else", "pool_type": "last"}
    tiny.write_clip_config(folder, {**tiny.CLIP_CONFIG, "text_cfg": text})
    with pytest.raises(WeightsError, match="tokenizer cannot be loaded"):
        load(folder)
    for name in tiny.TOKENIZER_FILES:
        shutil.copy(folder.with_name("bert") / name, folder / name)
    long = "a caption that has more words than the sixteen tokens which this text tower takes at a time, "
    cat, dog = load(folder).encode_captions([long + "cat", long + "dog"], [])
    assert not np.allclose(cat, dog, atol=1e-4)


class Malice:
    """Unpickling it would run code."""

    def __reduce__(self):
        return (json.loads, ('"ran"',))


def test_a_pickle_that_runs_code_is_refused(tmp_path, architecture):
    file = tmp_path / "weights.pt"
    torch.save({"state_dict": Malice()}, file)
    with pytest.raises(WeightsError, match="cannot be read as plain tensors"):
        load(file, ARCHITECTURE)


def test_other_files_are_refused(tmp_path, architecture):
    file = tmp_path / "weights.npz"
    file.write_bytes(b"anything")
    with pytest.raises(WeightsError, match=r"is none of \.bin, \.pt, \.pth, \.safetensors"):
        load(file, ARCHITECTURE)
