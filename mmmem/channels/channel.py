"""What one channel says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mmmem.retrieval.fusion import Scores, weighted_mean, weighted_sum


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel's opinion: `scores` float [n] as measured, NaN where it has none; `standard` what is added up.

    One that only `demotes` is left out of rank fusion, which cannot subtract.
    """

    name: str
    weight: float
    scores: Scores = field(repr=False)
    standard: Scores = field(repr=False)
    demotes: bool = False


def added_up(channels: Sequence[Channel]) -> Scores:
    """The weighted sum of their standard scores, float64 [n]. At least one."""
    return weighted_sum([channel.standard for channel in channels], [channel.weight for channel in channels])


def together(channels: Sequence[Channel]) -> Scores:
    """Their weighted mean of standard scores, float64 [n]."""
    return weighted_mean([channel.standard for channel in channels], [channel.weight for channel in channels])


def switched_on(channels: Sequence[Channel]) -> list[Channel]:
    """Those that weigh anything."""
    return [channel for channel in channels if channel.weight > 0]


def heavier(channel: Channel, by: float) -> Channel:
    """The same with more weight."""
    return replace(channel, weight=channel.weight + by)
