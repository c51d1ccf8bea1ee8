"""What a memory's place says of it: after which turn it was said, by whom, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.channels.channel import Channel, switched_on, together
from mmmem.dates import asks_when, question_windows
from mmmem.retrieval.conversation import between, following, inherited, neighbouring, passed_on
from mmmem.retrieval.temporal import DAY, nearness, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mmmem.channels.query import EncodedText
    from mmmem.settings import Settings
    from mmmem.store import UserArrays
    from mmmem.types import Float32, Int64

EPOCH_YEAR, LAST_YEAR = 1970, 9999
YEAR = int(365.2425 * DAY)  # of the calendar on average, in ms: near enough to say which years a user's memories span
BETWEEN = 0.5  # of an answer's share, for a picture before the turn that answers in words


def turn_channels(
    words: Sequence[Channel], arrays: UserArrays, settings: Settings, *, pictured: bool = False
) -> list[Channel]:
    """What the channels of words say of one turn goes in part to the turns beside it, and to an answer above all.

    pictured: whether a picture is what answers.
    """
    if not words:
        return []
    said = together(words)
    total = sum(channel.weight for channel in words)
    before = arrays.said_before  # a picture between a question and its answer does not part them
    answers = inherited(said, before, arrays.asks)
    if not pictured:
        answers = np.where(between(before, arrays.says), BETWEEN * answers, answers)
    questions = -passed_on(said, before, arrays.asks)
    found = [
        Channel("answers", settings.answer_share * total, answers, answers),
        Channel("questions", settings.question_share * total, questions, questions, demotes=True),
    ]
    if settings.neighbour_share:
        beside = neighbouring(said, before, following(before))
        found.append(Channel("neighbours", settings.neighbour_share * total, beside, beside))
    return switched_on(found)


def speaker_channels(text: EncodedText, arrays: UserArrays, settings: Settings) -> list[Channel]:
    """Who is asked about, speaks."""
    spoken = by_speakers(text, arrays) if settings.weight_speaker else None
    return [] if spoken is None else [Channel("speaker", settings.weight_speaker, spoken, spoken)]


def by_speakers(text: EncodedText, arrays: UserArrays) -> Float32 | None:
    """1 for memories by a speaker whom the question names, else NaN, float32 [n]; None where it names none, or all."""
    named = arrays.called.named_in(text.terms)
    if not named.any() or named.all():
        return None
    return np.where(np.append(named, False)[arrays.speakers], np.float32(1), np.float32(np.nan))  # the last: nobody


def time_channels(question: str, arrays: UserArrays, settings: Settings) -> list[Channel]:
    """Memories of the times that the question names, and memories that speak of a time where it asks for one."""
    found = []
    windows = _windows(question, arrays) if settings.weight_date else []
    if windows:
        near = nearness(arrays.times, arrays.timed, windows)
        if settings.event_times and len(arrays.events):
            near = np.fmax(near, within(arrays.events, arrays.event_owners, len(arrays), windows))
        found.append(Channel("date", settings.weight_date, near, near))
    if settings.weight_when and len(arrays.events) and asks_when(question):
        speaks = np.full(len(arrays), np.nan, dtype=np.float32)
        speaks[arrays.event_owners] = 1
        found.append(Channel("when", settings.weight_when, speaks, speaks))
    return found


def _windows(question: str, arrays: UserArrays) -> list[tuple[int, int]]:
    """Last week is the one before the user's newest memory: the same for the same memories, whenever it is asked."""
    known = arrays.times[arrays.timed]
    if not len(known):
        return []
    return question_windows(question, int(known.max()), _years_around(known))


def _years_around(times: Int64) -> Iterator[int]:
    """The years of the times and those beside them, each once, the latest first: of too many these are read. times: Unix ms.

    Few questions name a month without a year, and only then this looks at all times.
    """
    told = EPOCH_YEAR + times // YEAR
    first = int(told.min())
    # There are ten thousand years at most, so that counting is faster than sorting.
    different = (first + np.flatnonzero(np.bincount(told - first))).tolist()
    years = {year + near for year in different for near in (-1, 0, 1) if 1 <= year + near < LAST_YEAR}
    yield from sorted(years, reverse=True)
