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

from mmmem.encoders.chance import CAPTIONS, photographs
from mmmem.encoders.clip import ClipImageEncoder, computing_dtype
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


def load(checkpoint, architecture="ViT-B-32", extra="", **options):
    models = tiny.pinned(checkpoint, extra)
    return ClipImageEncoder(architecture, checkpoint, models=models, device="cpu", batch_size=2, **options)


def write(folder, config, preprocessing):
    """Write a folder with a model that open_clip builds from this configuration; the model comes back."""
    tiny.write_clip_config(folder, config, preprocessing)
    torch.manual_seed(4)
    model = open_clip.create_model(f"local-dir:{folder}", load_weights=False, pretrained_text=False).eval()
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, tiny.weights_of(folder))
    return model


def write_siglip(folder):
    """What SigLIP 2 is, small: a bias in its loss, a tokenizer of its own, 64 tokens, an image squashed to a square."""
    text = {"context_length": 64, "vocab_size": 30522, "width": 32, "heads": 2, "layers": 1, "no_causal_mask": True}
    text |= {"proj_bias": True, "pool_type": "last", "hf_tokenizer_name": "somewhere/else"}
    text |= {"norm_kwargs": {"eps": 1e-6}, "tokenizer_kwargs": {"clean": "canonicalize"}}
    config = {**tiny.CLIP_CONFIG, "custom_text": True, "init_logit_bias": -10, "text_cfg": text}
    half = {"mean": [0.5] * 3, "std": [0.5] * 3, "interpolation": "bicubic", "resize_mode": "squash"}
    tiny.write_bert(folder.with_name("bert"))
    folder.mkdir()
    for name in tiny.TOKENIZER_FILES:
        shutil.copy(folder.with_name("bert") / name, folder / name)
    return write(folder, config, half), half


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


PREPARED = {
    "laion": {"mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]},
    "siglip": {"mean": [0.5] * 3, "std": [0.5] * 3, "interpolation": "bicubic", "resize_mode": "squash"},
    "mobileclip": {"mean": [0.0] * 3, "std": [1.0] * 3, "interpolation": "bilinear", "resize_mode": "shortest"},
}


@pytest.mark.parametrize("way", PREPARED)
def test_images_are_prepared_as_the_folder_says(folder, way):
    tiny.write_clip_config(folder, preprocessing=PREPARED[way])
    wanted = image_transform_v2(PreprocessCfg(size=32, **PREPARED[way]), is_train=False)(PHOTO).numpy()
    np.testing.assert_array_equal(load(folder).prepare(PHOTO), wanted)


def test_a_weights_file_is_prepared_for_as_published_for_it_alone(saved, architecture):
    architecture(one=PREPARED["mobileclip"])
    wanted = image_transform_v2(PreprocessCfg(size=32, **PREPARED["mobileclip"]), is_train=False)(PHOTO).numpy()
    np.testing.assert_array_equal(load(tiny.weights_of(saved[0]), ARCHITECTURE).prepare(PHOTO), wanted)


def test_a_siglip_gives_the_vectors_of_the_model_that_was_saved(tmp_path):
    folder = tmp_path / "siglip"
    model, preprocessing = write_siglip(folder)
    encoder = load(folder)
    (image,) = encode(encoder, PHOTO)
    np.testing.assert_allclose(image, original_image(model, preprocessing), atol=1e-5)
    tokens = open_clip.get_tokenizer(f"local-dir:{folder}", local_files_only=True)(["A cat, on a mat!"])
    assert tokens.shape == (1, 64)
    with torch.inference_mode():
        wanted = model.encode_text(tokens, normalize=True)[0].numpy()
    np.testing.assert_allclose(encoder.encode_captions(["A cat, on a mat!"], [])[0], wanted, atol=1e-5)
    cat, dog = encoder.encode_captions(["once upon a time " * 40 + "cat", "once upon a time " * 40 + "dog"], [])
    assert not np.allclose(cat, dog, atol=1e-4)


def test_a_mobileclip_is_folded_and_gives_the_same_vectors(tmp_path):
    vision = {"timm_model_name": "fastvit_mci0", "timm_model_pretrained": False, "timm_pool": "avg", "timm_proj": None}
    config = {**tiny.CLIP_CONFIG, "custom_text": True, "vision_cfg": {**vision, "image_size": 64}}
    model = write(tmp_path / "mobileclip", config, PREPARED["mobileclip"])
    encoder = load(tmp_path / "mobileclip")
    transform = image_transform_v2(PreprocessCfg(size=64, **PREPARED["mobileclip"]), is_train=False)
    with torch.inference_mode():
        wanted = model.encode_image(transform(PHOTO)[None], normalize=True)[0].numpy()
    np.testing.assert_allclose(encode(encoder, PHOTO)[0], wanted, atol=1e-5)
    branches = [name for name, _ in encoder._clip.model.named_modules() if name.endswith(("conv_kxk", "conv_scale"))]
    assert branches == []


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_half_precision_gives_nearly_the_same_vectors_and_the_same_name(saved, precision):
    whole, half = load(saved[0]), load(saved[0], precision=precision)
    for one, other in zip(encode(whole, PHOTO) + whole.encode_captions(["a cat"], []),
                          encode(half, PHOTO) + half.encode_captions(["a cat"], []), strict=True):  # fmt: skip
        assert other.dtype == np.float32
        assert 0.995 < one @ other < 1 - 1e-9
    assert half.name == whole.name


def test_half_precision_is_for_gpus_unless_it_is_asked_for(monkeypatch):
    assert computing_dtype("auto", "cpu") is torch.float32
    for able, dtype in ((True, torch.bfloat16), (False, torch.float16)):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda able=able: able)
        assert computing_dtype("auto", "cuda") is dtype
    assert computing_dtype("bfloat16", "cpu") is torch.bfloat16


def test_chance_is_what_the_pinned_entry_says(saved):
    encoder = load(saved[0], extra="caption_chance = [0.01, 0.05]\nimage_chance = [0.6, 0.1]\n")
    vector = encode(encoder, PHOTO)[0]
    assert (encoder.caption_chance(vector), encoder.appearance_chance) == ((0.01, 0.05), (0.6, 0.1))


def test_chance_is_measured_where_the_entry_says_nothing(saved):
    encoder = load(saved[0])
    china, flower = (np.stack(encode(encoder, *views)) for views in photographs())
    texts = np.stack(encoder.encode_captions(CAPTIONS, []))
    cosines = np.concatenate([china, flower]) @ texts.T
    assert encoder.caption_chance(texts[0]) == pytest.approx((cosines.mean(), cosines.std()), abs=1e-3)
    assert encoder.appearance_chance.mean == pytest.approx((china @ flower.T).mean(), abs=1e-3)
    half = load(saved[0], extra="image_chance = [0.6, 0.1]\n")
    assert (half.caption_chance(texts[0]), half.appearance_chance) == (encoder.caption_chance(texts[0]), (0.6, 0.1))


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
