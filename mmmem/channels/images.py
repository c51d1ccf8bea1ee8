"""The channels that compare with pictures. They count deviations above chance: a user may have just one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.channels.channel import Channel, added_up, switched_on
from mmmem.retrieval.conversation import following, neighbouring
from mmmem.retrieval.dense import best_of_owner, cosine
from mmmem.retrieval.fusion import beyond_luck, zscores
from mmmem.retrieval.pictures import named_shares, resemblance

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
    if query.caption and (query.caption.wanted or not query.caption.about):
        scores = best_of_owner(above_chance(query.caption, arrays.images.vectors), arrays.images.owners, len(arrays))
        # A question about no picture must not be flooded by whichever picture is nearest by luck.
        draws = 1 if query.caption.wanted else len(arrays.images)
        found.append(Channel("text_to_image", settings.weight_image, scores, beyond_luck(scores, draws)))
    if query.images:
        scores = among_images(query.images, arrays)
        found.append(Channel("image_to_image", settings.weight_image, scores, scores))
        if settings.picture_share:
            beside = neighbouring(scores, arrays.previous, following(arrays.previous))
            found.append(Channel("beside_image", settings.picture_share * settings.weight_image, beside, beside))
    return found


def wanted_channels(
    query: EncodedQuery,
    images: Sequence[Channel],
    arrays: UserArrays,
    settings: Settings,
    *,
    said: Sequence[Channel],
    named: Sequence[Channel],
) -> list[Channel]:
    """For a question that asks for a picture: those that may be it come first, and words count for one only beyond what luck reaches.

    Among a thousand memories some picture's caption or writing has a word of the question; what pictures show says more.
    images, said: what the channels of pictures and of words say. named: what those of words say of what is asked for alone, without
    "show me the photo of", which memories of showing photos have in common with it.
    """
    alike = next((channel.scores for channel in images if channel.name == "text_to_image"), None)
    if alike is None or not query.caption or not query.caption.wanted:
        return []
    found, looks = [], alike
    if query.caption.colours:
        shares = named_shares(arrays.images.colours, query.caption.colours)
        seen = best_of_owner(shares, arrays.images.owners, len(arrays))
        found.append(Channel("colours", settings.weight_colours, seen, seen))
        looks = alike + settings.weight_colours * seen
    may_be = looks >= settings.picture_least  # NaN is no picture
    if said and named:
        of_names = added_up(named)
        by_luck = np.where(np.isnan(alike), np.nan, beyond_luck(of_names, len(arrays)) - added_up(said))
        found.append(Channel("words_by_luck", 1.0, by_luck, by_luck, demotes=True))
        # A name says which picture, however little it looks like what the encoder takes the name for: "This is Luna".
        may_be |= ~np.isnan(alike) & (beyond_luck(zscores(of_names), len(arrays)) > 0)
    likely = np.where(may_be, np.float32(1), np.float32(np.nan))
    found.append(Channel("picture", settings.weight_picture, likely, likely))
    return switched_on(found)


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
