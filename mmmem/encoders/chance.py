"""What a model of images and text makes of things that have nothing to do with each other, measured with two photographs.

The level belongs to the model: a softmax loss leaves it free, a sigmoid loss (Zhai et al., 2023) ties it to a learned bias. One
figure for all of them would hide every image of some, or show every image of others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

from mmmem.encoders import Chance

if TYPE_CHECKING:
    from mmmem.types import Float32

LEAST_DEVIATION = 0.01  # a score is divided by it
# Of nothing that is in a photograph of a Chinese palace by a lake or in one of a flower.
CAPTIONS = (
    "a bicycle leaning against a brick wall",
    "a bowl of noodle soup",
    "a screenshot of a spreadsheet",
    "two dogs playing in the snow",
    "my new laptop on the desk",
    "a receipt from the supermarket",
    "a bar chart of the sales in each quarter",
    "a birthday cake with candles",
    "people waiting at an airport gate",
    "a cat asleep on a sofa",
    "an error message in a terminal window",
    "a red sports car on a race track",
    "a handwritten shopping list",
    "the kitchen after the renovation",
    "a selfie at a football match",
    "a train passing through a tunnel",
    "an X-ray of a broken hand",
    "a pair of running shoes",
    "a map of the underground",
    "a man playing the guitar on a stage",
    "a cup of coffee next to a newspaper",
    "a ski slope in the morning",
    "a wiring diagram of a thermostat",
    "children drawing with crayons",
)


def photographs() -> tuple[list[Image.Image], list[Image.Image]]:
    """Each of scikit-learn's two photographs, whole and its four quarters: RGB."""
    china, flower = (Image.fromarray(pixels) for pixels in load_sample_images().images)
    return _views(china), _views(flower)


def measure(
    images: Callable[[Sequence[Image.Image]], Sequence[Float32]], captions: Callable[[Sequence[str]], Sequence[Float32]]
) -> tuple[Chance, Chance]:
    """Chance of a caption and an image, and of two images, from functions that give unit vectors, float32 [d]."""
    china, flower = (np.stack(images(views)) for views in photographs())
    texts = np.stack(captions(CAPTIONS))
    return _chance(np.concatenate([china, flower]) @ texts.T), _chance(china @ flower.T)


def _chance(cosines: Float32) -> Chance:
    # Rounded, so that it is the same on any number of threads.
    return Chance(round(float(cosines.mean()), 3), max(round(float(cosines.std()), 3), LEAST_DEVIATION))


def _views(photograph: Image.Image) -> list[Image.Image]:
    width, height = photograph.size
    x, y = width // 2, height // 2
    boxes = ((0, 0, x, y), (x, 0, width, y), (0, y, x, height), (x, y, width, height))
    return [photograph, *(photograph.crop(box) for box in boxes)]
