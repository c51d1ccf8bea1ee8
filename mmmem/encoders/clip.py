"""Images and text in one space with OpenCLIP (Radford et al., 2021; Cherti et al., 2023), from local weights only.

open_clip runs on random weights after a mere warning, and for a weights file it takes default preprocessing whatever the
model was trained with. Here the weights are verified and loaded without a gap, and the preprocessing is known or the
start is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from mmmem.encoders import Chance
from mmmem.encoders.checkpoint import autocast
from mmmem.encoders.clip_weights import SETTING, load_clip
from mmmem.encoders.tokens import unit_rows
from mmmem.encoders.weights import Model, verified_pin
from mmmem.encoders.windows import encode_in_windows
from mmmem.types import ImageEncoding

if TYPE_CHECKING:
    from PIL.Image import Image

    from mmmem.types import Float32, QueryEncoding

# Rough figures for OpenAI's ViT-B/32, not measured here. Others differ (unrelated pairs of SigLIP lie near 0): write
# `caption_chance` and `image_chance` into the pinned entry once you have measured them on your own images.
CAPTION_CHANCE = Chance(0.17, 0.04)
IMAGE_CHANCE = Chance(0.50, 0.15)

LONGEST_SIDE = 8  # in units of the shorter one


class ClipImageEncoder:
    """An ImageEncoder: an open_clip model with its own tokenizer and preprocessing.

    `checkpoint` is a weights file of `architecture`, or a folder with `open_clip_config.json` and its weights, which then
    says the architecture itself. Raises WeightsError when it is not pinned in `models` or does not fit. Safe to share
    between threads.
    """

    def __init__(
        self, architecture: str, checkpoint: Path, *, models: Iterable[Model], device: str, batch_size: int
    ) -> None:
        entry = verified_pin(SETTING, checkpoint, models)
        self._clip = load_clip(architecture, checkpoint)
        self._model = self._clip.model.to(device).eval()
        self._device = device
        self._batch_size = batch_size
        self.name = f"open_clip:{self._clip.architecture}@{entry.fingerprint}"
        self.dimensions = self._clip.dimensions
        self._caption_chance = Chance(*entry.caption_chance) if entry.caption_chance else CAPTION_CHANCE
        self._image_chance = Chance(*entry.image_chance) if entry.image_chance else IMAGE_CHANCE

    def prepare(self, image: Image) -> Float32:
        """The image tower's input, float32 [3, h, w]: scaled, cut and normalised as the model was trained."""
        pixels: Float32 = self._clip.preprocess(_middle(image)).numpy()
        return pixels

    @torch.inference_mode()
    def encode_images(self, prepared: Sequence[Float32]) -> list[ImageEncoding]:
        """Encode prepared images."""
        encodings: list[ImageEncoding] = []
        for start in range(0, len(prepared), self._batch_size):
            pixels = torch.from_numpy(np.stack(prepared[start : start + self._batch_size])).to(self._device)
            with autocast(self._device):
                encodings.extend(ImageEncoding(vector) for vector in _unit(self._model.encode_image(pixels)))
        return encodings

    def encode_captions(self, texts: Sequence[str], encodings: Sequence[QueryEncoding]) -> list[Float32]:
        """Each text's vector, float32 [d], unit length; a text longer than the text tower's window is its windows' mean."""
        windows = encode_in_windows(
            texts, self._clip.count_tokens, self._clip.context_length, self._batch_size, self._encode_windows
        )
        return [unit_rows(np.mean(vectors, axis=0, dtype=np.float32)) for vectors in windows]

    def caption_chance(self, caption: Float32) -> Chance:
        """The same for every text: what the pinned entry says, or a rough figure."""
        return self._caption_chance

    def image_chance(self, image: Float32) -> Chance:
        """The same for every image: what the pinned entry says, or a rough figure."""
        return self._image_chance

    @torch.inference_mode()
    def _encode_windows(self, texts: list[str]) -> list[Float32]:
        tokens = self._clip.tokenise(texts).to(self._device)
        with autocast(self._device):
            return list(_unit(self._model.encode_text(tokens)))


def _unit(features: torch.Tensor) -> Float32:
    vectors: Float32 = features.float().cpu().numpy()
    return unit_rows(vectors)


def _middle(image: Image) -> Image:
    """The middle of a very long image.

    Preprocessing scales the shorter side to the network's input and then cuts out the middle: an image of 1 x 1,000,000
    pixels would become 224 x 224,000,000 before it is cut.
    """
    width, height = image.size
    longest = LONGEST_SIDE * min(width, height)
    left, top = max(0, width - longest) // 2, max(0, height - longest) // 2
    return image.crop((left, top, left + min(width, longest), top + min(height, longest))) if left or top else image
