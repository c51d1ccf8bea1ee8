"""The channels that compare with pictures. They count deviations above chance: a user may have just one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.channels.channel import Channel
from mmmem.retrieval.conversation import following, neighbouring
from mmmem.retrieval.dense import best_of_owner, cosine
from mmmem.retrieval.fusion import beyond_luck
from mmmem.retrieval.pictures import resemblance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.channels.query import EncodedCaption, EncodedPicture, EncodedQuery
    from mmmem.settings import Settings
    from mmmem.store import UserArrays
    from mmmem.types import Float32

COPY_POWER = 4  # of the correlation of grey levels: half of it is what any two screenshots of one layout have


def image_channels(query: EncodedQuery, arrays: UserArrays, settings: Settings) -> list[Channel]:
    """Text to image, image to image, and image to what was said just before and after one."""
    found: list[Channel] = []
    if not settings.weight_image or not len(arrays.images):
        return found
    if query.caption:
        scores = best_of_owner(above_chance(query.caption, arrays.images.vectors), arrays.images.owners, len(arrays))
        # A question about no picture must not be flooded by whichever picture is nearest by luck.
        luckless = beyond_luck(scores, len(arrays.images))
        found.append(Channel("text_to_image", settings.weight_image, scores, luckless))
    if query.images:
        scores = among_images(query.images, arrays)
        found.append(Channel("image_to_image", settings.weight_image, scores, scores))
        if settings.picture_share:
            beside = neighbouring(scores, arrays.previous, following(arrays.previous))
            found.append(Channel("beside_image", settings.picture_share * settings.weight_image, beside, beside))
    return found


def above_chance(sought: EncodedCaption, vectors: Float32) -> Float32:
    """Deviations above chance of each image, float32 [m]."""
    above: Float32 = (cosine(sought.vector, vectors) - sought.chance.mean) / sought.chance.deviation
    return above


def among_images(sought: Sequence[EncodedPicture], arrays: UserArrays) -> Float32:
    """How much each memory's best image is like the best of what is sought, float32 [n]; NaN without images.

    Deviations of appearance above chance; a copy, however it was saved, turned or mirrored, has as many again.
    """
    best = np.full(len(arrays.images), -np.inf, dtype=np.float32)
    for picture in sought:
        alike = (cosine(picture.appearance, arrays.images.appearances) - picture.chance.mean) / picture.chance.deviation
        copied = np.maximum(resemblance(picture.fingerprint, arrays.images.fingerprints), 0) ** COPY_POWER
        best = np.maximum(best, alike + copied / picture.chance.deviation)
    return best_of_owner(best, arrays.images.owners, len(arrays))
