"""What a contact sheet shows of an explanation: what came, of each channel the best, and why an expected memory did not. No layout in here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from contact_sheet_cards import Card, Picture, shown
from PIL import Image

from mmmem.api.contract import ChannelAnswer, ExplainAnswer, PictureAnswer
from mmmem.settings import Settings

MOST_LOSSES = 3  # channels that are named where it is said why a memory did not come
PLUS, MINUS = "#2b6cb0", "#c05621"  # of a bar to the right, to the left
FIGURES = ("added", "sd", "score", "rank")
LEGEND = (
    "added: to the fused score; bars show it, blue to the right, orange where it took away. "
    "sd: standard deviations above the user's other memories. score: as the channel measures it. rank: among all of the user's memories."
)


class Line(NamedTuple):
    """A line of a card's table. share: of the longest bar, -1 to 1, None for no bar. figures: those of FIGURES, or none."""

    name: str
    share: float | None
    figures: tuple[str, ...]


class Best(NamedTuple):
    """What a channel put first: cards by its rank, at most as many as asked for, and what of them is not here."""

    channel: str
    weight: float
    cards: tuple[Card, ...]
    note: str

    @property
    def title(self) -> str:
        """The channel, and what there is to know of the list."""
        return f"{shown(self.channel)}: weight {self.weight:.2f}" + (f"; {self.note}" if self.note else "")

    def said(self, card: Card) -> ChannelAnswer:
        """What the channel said of one of them."""
        return card.memory.channels[self.channel]

    def caption(self, card: Card) -> str:
        """What the channel said of one of them, and what came of it."""
        said = self.said(card)
        return f"rank {said.rank}, {said.score:.2f}\n{deviations(said):+.1f} sd\ncame at {card.place}"


@dataclass(frozen=True)
class Sheet:
    """A question and everything that came back. `top`: how many hits are shown. `expected`: ids, or beginnings of ids, of memories
    that ought to come."""

    user: str
    question: str
    pictures: tuple[Picture, ...]
    cards: tuple[Card, ...]
    top: int
    expected: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        answer: ExplainAnswer,
        settings: Settings,
        *,
        user: str,
        question: str,
        images: Sequence[Image.Image],
        top: int,
        expected: Sequence[str] = (),
    ) -> Sheet:
        """From what POST /explain answers, and the question's decoded images."""
        readings: list[PictureAnswer | None] = [*answer.query_pictures]
        readings += [None] * (len(images) - len(readings))
        pictures = tuple(Picture.of(image, read) for image, read in zip(images, readings, strict=False))
        cards = tuple(Card(place, memory, settings) for place, memory in enumerate(answer.data, start=1))
        return cls(shown(user), shown(question), pictures, cards, top, tuple(expected))

    @property
    def hits(self) -> tuple[Card, ...]:
        """What came, as far as it is shown."""
        return self.cards[: self.top]

    @cached_property
    def awaited(self) -> tuple[tuple[str, Card | None], ...]:
        """The expected ids as given, each with its card; None where it is not among what came back."""
        return tuple(
            (shown(one), next((card for card in self.cards if card.memory.id.startswith(one)), None))
            for one in self.expected
        )

    def awaits(self, card: Card) -> bool:
        """Whether it is one of the expected."""
        return any(card is one for _, one in self.awaited)

    @cached_property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels that had a say, the one that moved the hits most first."""
        names = {name for card in self.cards for name in card.memory.channels}

        def moved(name: str) -> float:
            return sum(abs(card.memory.channels[name].added) for card in self.hits if name in card.memory.channels)

        return tuple(sorted(names, key=lambda name: (-moved(name), name)))

    @cached_property
    def most(self) -> float:
        """What a bar of full length stands for: the most that a channel added to, or took from, a card that is shown."""
        cards = [*self.hits, *(card for _, card in self.awaited if card)]
        return max([abs(said.added) for card in cards for said in card.memory.channels.values()] + [0.5])

    def lines(self, card: Card) -> list[Line]:
        """What the channels, the fusion and the reranker said of a card; channels that had no say have no figures."""
        lines = []
        for name in self.channels:
            said = card.memory.channels.get(name)
            if said:
                figures = f"{said.added:+.2f}", f"{deviations(said):+.2f}", f"{said.score:.3f}", str(said.rank)
                lines.append(Line(shown(name), said.added / self.most, figures))
            else:
                lines.append(Line(shown(name), None, ()))
        fused, looked = card.memory.fused, card.memory.reranked
        lines.append(Line("fused", None, (f"{fused.score:+.2f}", "", "", str(fused.rank))))
        if looked:
            lines.append(Line("reranked", None, ("", "", f"{looked.score:.3f}", str(looked.rank))))
        return lines

    def best(self, channel: str) -> Best:
        """The first `top` by a channel. Where many share a rank behind them, only the better ones."""
        cards = sorted(
            (card for card in self.cards if channel in card.memory.channels),
            key=lambda card: (card.memory.channels[channel].rank, card.place),
        )
        ranks = [card.memory.channels[channel].rank for card in cards]
        first, note = cards[: self.top], ""
        if len(cards) > self.top and (sharing := ranks.count(ranks[self.top])) > 1:
            rank = ranks[self.top]
            kept = [card for card, of in zip(first, ranks, strict=False) if of < rank]
            first, note = kept or first, f"{sharing} share rank {rank}"
        last = ranks[len(first) - 1]
        missing = last - 1 - sum(rank < last for rank in ranks)
        if missing:
            note = f"{missing} better ones are not among the {len(self.cards)} memories that came back"
        return Best(channel, cards[0].memory.channels[channel].weight, tuple(first), note)

    def why(self, card: Card | None) -> str:
        """Why an expected memory came, or did not."""
        if card is None:
            return f"not among the {len(self.cards)} memories that came back: of another user, or too far down"
        fused = card.memory.fused
        here = f"at place {card.place}, by fusion at {fused.rank} with {fused.score:+.2f}"
        if card.place <= self.top:
            return f"came {here}"
        ahead = [hit for hit in self.hits if hit.memory.fused.score > fused.score]
        if not ahead or fused.rank <= self.top:
            return f"{here}: what follows fusion moved it (reranker, places for needs and pictures, recency, repeats)"
        rival = min(ahead, key=lambda hit: hit.memory.fused.score)
        lacks = rival.memory.fused.score - fused.score
        return f"{here}: {lacks:.2f} less than place {rival.place}. {_losses(card, rival)}"


def _losses(card: Card, rival: Card) -> str:
    own, others = ({name: said.added for name, said in one.memory.channels.items()} for one in (card, rival))
    lost = {name: others.get(name, 0.0) - own.get(name, 0.0) for name in own.keys() | others.keys()}
    worst = sorted((name for name in lost if lost[name] > 0), key=lambda name: (-lost[name], name))[:MOST_LOSSES]
    parts = (f"{shown(name)} ({own.get(name, 0.0):+.2f}, there {others.get(name, 0.0):+.2f})" for name in worst)
    return f"Most is lost in {', '.join(parts)}"


def deviations(said: ChannelAnswer) -> float:
    """How far a channel put a memory above the others, in standard deviations."""
    return said.added / said.weight if said.weight else 0.0
