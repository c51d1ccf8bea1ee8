"""One encoded query against one user's arrays: what each channel says of every memory.

Every query runs on every channel that has something to compare. Channels are added up, so all of them speak in standard
deviations: over the user's memories for text, above chance for images (a user may have just one); speaker and date are
worth a set number of them.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from mmmem.channels.channel import Channel, added_up, together
from mmmem.channels.conversation import speaker_channels, time_channels, turn_channels
from mmmem.channels.images import image_channels, wanted_channels
from mmmem.channels.query import EncodedCaption, EncodedPicture, EncodedQuery, EncodedText
from mmmem.channels.standing import counted, standing
from mmmem.channels.words import Compared, Words, token_weights, word_channels

if TYPE_CHECKING:
    from mmmem.settings import Settings
    from mmmem.store import UserArrays

__all__ = [
    "Channel",
    "EncodedCaption",
    "EncodedPicture",
    "EncodedQuery",
    "EncodedText",
    "added_up",
    "channels",
    "counted",
    "token_weights",
]


def channels(query: EncodedQuery, arrays: UserArrays, settings: Settings) -> list[Channel]:
    """Every channel that is switched on and has something to compare."""
    times = time_channels(query.question, arrays, settings)
    speakers = speaker_channels(query.text, arrays, settings) if query.text else []
    wanted = query.caption if query.caption and query.caption.wanted else None
    sought = wanted.text if wanted and wanted.text is not query.text else None
    texts = [text for text in (query.text, query.labels, query.written, sought, *query.options) if text]
    images = image_channels(query, arrays, settings)
    of_texts = [Words.of(text, arrays, settings) for text in texts]
    compared = Compared.among(of_texts, [*times, *speakers, *images], arrays, settings)
    found = iter(word_channels(of_texts, compared, arrays, settings))
    words = next(found) if query.text else []
    labels = next(found) if query.labels else []
    written = next(found) if query.written else []
    sought_words = next(found) if sought else []
    options = [option for option in found if option]
    if not query.text:  # then the options are what is asked
        options = [[*option, *turn_channels(option, arrays, settings)] for option in options]
    said = [*words, *turn_channels(words, arrays, settings, pictured=bool(wanted))]
    named = [*sought_words, *turn_channels(sought_words, arrays, settings, pictured=True)] if sought else said
    return [
        *said,
        *speakers,
        *times,
        *_as_one("labels", settings.weight_labels, [labels] if labels else [], arrays),
        *_as_one("written", settings.weight_written, [written] if written else [], arrays),
        *_as_one("options", settings.weight_options, options, arrays),
        *images,
        *wanted_channels(query, images, arrays, settings, said=said, named=named),
    ]


def _as_one(name: str, weight: float, texts: list[list[Channel]], arrays: UserArrays) -> list[Channel]:
    """What the channels of words say of several texts, as one channel: of each memory the best."""
    if not texts or not weight:
        return []
    best = reduce(np.maximum, (together(of_text) for of_text in texts))
    return [standing(name, weight, lambda _: best, arrays)]
