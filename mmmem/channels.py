"""One encoded query against one user's arrays: what each channel says of every memory.

Every query runs on every channel that has something to compare. Channels are added up, so all of them speak in standard
deviations: over the user's memories for text, above chance for images (a user may have just one); speaker and date are
worth a set number of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mmmem.dates import NamedDate
from mmmem.encoders.terms import hashed, terms
from mmmem.retrieval.conversation import inherited, passed_on
from mmmem.retrieval.dense import best_of_owner, cosine
from mmmem.retrieval.fusion import beyond_luck, weighted_mean, zscores
from mmmem.retrieval.lexical import bm25
from mmmem.retrieval.maxsim import maxsim, strongest, token_idf
from mmmem.retrieval.temporal import DAY, nearness
from mmmem.types import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.encoders import Chance
    from mmmem.settings import Settings
    from mmmem.store import UserArrays
    from mmmem.types import Float32, Int64, QueryEncoding

EPOCH_YEAR, LAST_YEAR = 1970, 9999
YEAR = int(365.2425 * DAY)  # of the calendar on average, in ms: near enough to say which years a user's memories span


@dataclass(frozen=True, slots=True)
class EncodedText:
    """A question as the text channels see it. terms: int64 [q]; identifiers: those of them that are names, int64 [i]."""

    encoding: QueryEncoding
    terms: Int64
    identifiers: Int64


@dataclass(frozen=True, slots=True)
class EncodedPicture:
    """Something to look for among the images, float32 [d] in their space, and what its cosine with any of them would be."""

    vector: Float32
    chance: Chance


@dataclass(frozen=True, slots=True)
class EncodedQuery:
    """A query's parts as the channels take them; what the query does not have is None or empty.

    `labels` is what the query's images seem to show, as text; `caption` is its text, as an image; `dates` are those that it names.
    """

    text: EncodedText | None
    options: EncodedText | None
    labels: EncodedText | None
    caption: EncodedPicture | None
    images: tuple[EncodedPicture, ...]
    dates: tuple[NamedDate, ...] = ()


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel's opinion: `scores` float [n] as measured, NaN where it has none; `standard` what is added up.

    One that only `demotes` is left out of rank fusion, which cannot subtract.
    """

    name: str
    weight: float
    scores: Float32 = field(repr=False)
    standard: Float32 = field(repr=False)
    demotes: bool = False


def channels(query: EncodedQuery, arrays: UserArrays, settings: Settings) -> list[Channel]:
    """Every channel that is switched on and has something to compare."""
    text = [channel for channel in _text_channels(query, arrays, settings) if channel.weight > 0]
    others = [
        *_conversation_channels(query, text, arrays, settings),
        *_date_channels(query, arrays, settings),
        *_image_channels(query, arrays, settings),
    ]
    return text + [channel for channel in others if channel.weight > 0]


def _text_channels(query: EncodedQuery, arrays: UserArrays, settings: Settings) -> Iterator[Channel]:
    if query.text:
        # What the encoder's vocabulary cannot read (Chinese, in a model for English) is left to the words themselves.
        readable = float((query.text.encoding.token_ids != UNKNOWN).mean())
        unread = settings.weight_maxsim * (1 - readable)
        yield _measured("maxsim", settings.weight_maxsim * readable, late_interaction(query.text, arrays, settings))
        yield _measured("lexical", settings.weight_lexical + unread, lexical(query.text.terms, arrays, settings))
        if len(query.text.identifiers):
            named = lexical(query.text.identifiers, arrays, settings)
            yield _measured("identifiers", settings.weight_identifiers, named)
        if settings.weight_dense:
            yield _measured("dense", settings.weight_dense, cosine(query.text.encoding.dense, arrays.dense))
    if query.options:
        yield _measured("options", settings.weight_options, late_interaction(query.options, arrays, settings))
    if query.labels:
        yield _measured("labels", settings.weight_labels, late_interaction(query.labels, arrays, settings))


def _conversation_channels(
    query: EncodedQuery, text: Sequence[Channel], arrays: UserArrays, settings: Settings
) -> Iterator[Channel]:
    """What the text channels say of a question in the memory goes in part to its answer; and who is asked about, speaks."""
    if not query.text or not text:
        return
    words = weighted_mean([channel.standard for channel in text], [channel.weight for channel in text])
    total = sum(channel.weight for channel in text)
    answers = inherited(words, arrays.previous, arrays.asks)
    yield Channel("answers", settings.answer_share * total, answers, answers)
    questions = -passed_on(words, arrays.previous, arrays.asks)
    yield Channel("questions", settings.question_share * total, questions, questions, demotes=True)
    spoken = by_speakers(query.text.terms, arrays)
    if spoken is not None:
        yield Channel("speaker", settings.weight_speaker, spoken, spoken)


def _date_channels(query: EncodedQuery, arrays: UserArrays, settings: Settings) -> Iterator[Channel]:
    if query.dates and arrays.timed.any():
        told = np.unique(EPOCH_YEAR + arrays.times[arrays.timed] // YEAR).tolist()
        years = sorted({year + near for year in told for near in (-1, 0, 1) if 1 <= year + near < LAST_YEAR})
        windows = [window for date in query.dates for window in date.windows(years)]
        if windows:
            near = nearness(arrays.times, arrays.timed, windows)
            yield Channel("date", settings.weight_date, near, near)


def by_speakers(query_terms: Int64, arrays: UserArrays) -> Float32 | None:
    """1 for memories by a speaker whom the question names, else NaN, float32 [n]; None where it names none, or all."""
    # By first name too; in a script without spaces only by the whole name, not by a character of it.
    named = [bool(np.isin(hashed(terms(name.split()[0])), query_terms).all()) for name in arrays.speaker_names]
    if not any(named) or all(named):
        return None
    named.append(False)  # for -1, nobody
    return np.where(np.array(named)[arrays.speakers], np.float32(1), np.float32(np.nan))


def _image_channels(query: EncodedQuery, arrays: UserArrays, settings: Settings) -> Iterator[Channel]:
    if query.caption:
        scores = among_images([query.caption], arrays)
        # A question about no picture must not be flooded by whichever picture is nearest by luck.
        yield Channel("text_to_image", settings.weight_image, scores, beyond_luck(scores, len(arrays.image_vectors)))
    if query.images:
        scores = among_images(query.images, arrays)
        yield Channel("image_to_image", settings.weight_image, scores, scores)


def _measured(name: str, weight: float, scores: Float32) -> Channel:
    return Channel(name, weight, scores, zscores(scores))


def late_interaction(text: EncodedText, arrays: UserArrays, settings: Settings) -> Float32:
    """IDF-weighted MaxSim, float32 [n]; of a very long question the tokens that weigh most."""
    encoding = text.encoding
    weights = token_idf(encoding.token_ids, arrays.token_ids, arrays.token_offsets)
    kept = strongest(weights, settings.max_query_tokens)
    if not weights[kept].sum() > 0:
        return np.full(len(arrays.memories), np.nan, dtype=np.float32)
    return maxsim(encoding.tokens[kept], weights[kept], arrays.tokens, arrays.token_scales, arrays.token_offsets)


def lexical(terms: Int64, arrays: UserArrays, settings: Settings) -> Float32:
    """BM25, float32 [n]."""
    return bm25(terms, arrays.terms, arrays.term_offsets, k1=settings.bm25_k1, b=settings.bm25_b)


def among_images(sought: Sequence[EncodedPicture], arrays: UserArrays) -> Float32:
    """Deviations above chance of each memory's best image for the best of what is sought, float32 [n]; NaN without images."""
    best = np.full(len(arrays.image_vectors), -np.inf, dtype=np.float32)
    for picture in sought:
        above = (cosine(picture.vector, arrays.image_vectors) - picture.chance.mean) / picture.chance.deviation
        best = np.maximum(best, above)
    return best_of_owner(best, arrays.image_owners, len(arrays.memories))
