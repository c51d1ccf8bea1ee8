"""Images and text in one space with OpenCLIP (Radford et al., 2021; Cherti et al., 2023), from local weights only.

open_clip runs on random weights after a mere warning, and for a weights file it takes default preprocessing whatever the
model was trained with. Here the weights are verified and loaded without a gap, and the preprocessing is known or the
start is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from mmmem.encoders import Chance
from mmmem.encoders.chance import measure
from mmmem.encoders.clip_weights import SETTING, load_clip
from mmmem.encoders.tokens import unit_rows
from mmmem.encoders.weights import Model, verified_pin
from mmmem.encoders.windows import encode_in_windows
from mmmem.types import ImageVectors

if TYPE_CHECKING:
    from PIL.Image import Image

    from mmmem.types import Float32, QueryEncoding

Precision = Literal["auto", "float32", "bfloat16", "float16"]
LONGEST_SIDE = 8  # in units of the shorter one


class ClipImageEncoder:
    """An ImageEncoder: an open_clip model with its own tokenizer and preprocessing.

    `checkpoint` is a weights file of `architecture`, or a folder with `open_clip_config.json` and its weights, which then
    says the architecture itself. Raises WeightsError when it is not pinned in `models` or does not fit. Safe to share
    between threads. Chance is what the pinned entry says (`caption_chance`, `image_chance`), else it is measured here.
    """

    def __init__(
        self,
        architecture: str,
        checkpoint: Path,
        *,
        models: Iterable[Model],
        device: str,
        batch_size: int,
        precision: Precision = "auto",
    ) -> None:
        entry = verified_pin(SETTING, checkpoint, models)
        self._clip = load_clip(architecture, checkpoint)
        self._model = self._clip.model.to(device).eval()
        self._device = device
        self._dtype = computing_dtype(precision, device)
        self._batch_size = batch_size
        self.name = f"open_clip:{self._clip.architecture}@{entry.fingerprint}"
        self.dimensions = self._clip.dimensions
        self.appearance_dimensions = self._clip.dimensions
        self._caption_chance, self.appearance_chance = self._chance(entry)

    def prepare(self, image: Image) -> Float32:
        """The image tower's input, float32 [3, h, w]: scaled, cut and normalised as the model was trained."""
        pixels: Float32 = self._clip.preprocess(_middle(image)).numpy()
        return pixels

    @torch.inference_mode()
    def encode_images(self, prepared: Sequence[Float32]) -> list[ImageVectors]:
        """Encode prepared images."""
        encodings: list[ImageVectors] = []
        for start in range(0, len(prepared), self._batch_size):
            pixels = torch.from_numpy(np.stack(prepared[start : start + self._batch_size])).to(self._device)
            with self._autocast():
                encodings.extend(ImageVectors(vector, vector) for vector in _unit(self._model.encode_image(pixels)))
        return encodings

    def encode_captions(self, texts: Sequence[str], encodings: Sequence[QueryEncoding]) -> list[Float32]:
        """Each text's vector, float32 [d], unit length; a text longer than the text tower's window is its windows' mean."""
        windows = encode_in_windows(
            texts, self._clip.count_tokens, self._clip.context_length, self._batch_size, self._encode_windows
        )
        return [unit_rows(np.mean(vectors, axis=0, dtype=np.float32)) for vectors in windows]

    def caption_chance(self, caption: Float32) -> Chance:
        """The same for every text."""
        return self._caption_chance

    def _chance(self, entry: Model) -> tuple[Chance, Chance]:
        if entry.caption_chance and entry.image_chance:
            return Chance(*entry.caption_chance), Chance(*entry.image_chance)
        caption, image = measure(
            lambda images: [seen.vector for seen in self.encode_images([self.prepare(image) for image in images])],
            lambda texts: self.encode_captions(texts, []),
        )
        return (
            Chance(*entry.caption_chance) if entry.caption_chance else caption,
            Chance(*entry.image_chance) if entry.image_chance else image,
        )

    def _autocast(self) -> torch.autocast:
        return torch.autocast(
            torch.device(self._device).type, dtype=self._dtype, enabled=self._dtype is not torch.float32
        )

    @torch.inference_mode()
    def _encode_windows(self, texts: list[str]) -> list[Float32]:
        tokens = self._clip.tokenise(texts).to(self._device)
        with self._autocast():
            return list(_unit(self._model.encode_text(tokens)))


def computing_dtype(precision: Precision, device: str) -> torch.dtype:
    """What a tower computes in. On a CPU `auto` is float32: without AMX bfloat16 takes nine times as long.

    Vectors of different precisions differ in the third digit and are compared all the same: no store is bound to one.
    """
    if precision != "auto":
        return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[precision]
    if torch.device(device).type == "cpu":
        return torch.float32
    return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16


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
