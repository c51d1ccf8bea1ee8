"""The channels that compare with pictures. They count deviations above chance: a user may have just one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.channels.channel import Channel
from mmmem.retrieval.dense import best_of_owner, cosine
from mmmem.retrieval.fusion import beyond_luck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.channels.query import EncodedPicture, EncodedQuery
    from mmmem.settings import Settings
    from mmmem.store import UserArrays
    from mmmem.types import Float32


def image_channels(query: EncodedQuery, arrays: UserArrays, settings: Settings) -> list[Channel]:
    """Text to image, and image to image."""
    found: list[Channel] = []
    if not settings.weight_image or not len(arrays.image_vectors):
        return found
    if query.caption:
        scores = among_images([query.caption], arrays)
        # A question about no picture must not be flooded by whichever picture is nearest by luck.
        luckless = beyond_luck(scores, len(arrays.image_vectors))
        found.append(Channel("text_to_image", settings.weight_image, scores, luckless))
    if query.images:
        scores = among_images(query.images, arrays)
        found.append(Channel("image_to_image", settings.weight_image, scores, scores))
    return found


def among_images(sought: Sequence[EncodedPicture], arrays: UserArrays) -> Float32:
    """Deviations above chance of each memory's best image for the best of what is sought, float32 [n]; NaN without images."""
    best = np.full(len(arrays.image_vectors), -np.inf, dtype=np.float32)
    for picture in sought:
        above = (cosine(picture.vector, arrays.image_vectors) - picture.chance.mean) / picture.chance.deviation
        best = np.maximum(best, above)
    return best_of_owner(best, arrays.image_owners, len(arrays))
