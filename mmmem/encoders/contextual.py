"""One pass of a sentence encoder gives a text's pooled vector and its token vectors (Reimers & Gurevych, 2019).

A memory is encoded together with the turn before it, as a sentence pair with the turn first; only the turn's own tokens
are kept. So a short answer ("Yes, last week!") carries what it answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from mmmem.encoders.background import Background
from mmmem.encoders.conventions import Conventions
from mmmem.encoders.network import TextNetwork
from mmmem.encoders.tokens import Projection, quantise, unit_rows
from mmmem.errors import WeightsError
from mmmem.types import SPECIAL, UNKNOWN, QueryEncoding, TextEncoding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mmmem.types import Float32, Int32

SETTING = "text_dir"
MINILM = Conventions(max_tokens=256)  # all-MiniLM-L6-v2


@dataclass(frozen=True, slots=True)
class _Window:
    """One forward pass: the model's prompt, some of a text's own tokens, and tokens of what came before them."""

    prompt: list[int]
    own: list[int]
    context: list[int]


@dataclass(frozen=True, slots=True)
class _States:
    """What a pass gave: ids and states, float32 [t, d], of the own tokens, and the states of all but the context."""

    ids: list[int]
    own: Float32
    whole: Float32


class ContextualEncoder:
    """A TextEncoder. Bit-identical for a text whatever it is batched with: see network.py.

    A window holds at most the tokens that the model was trained on, and half as many of context where it has positions
    for them; where it has not, the text takes two thirds of these.
    """

    def __init__(
        self,
        folder: Path,
        conventions: Conventions,
        projection: Projection | None,
        *,
        name: str,
        device: str,
        batch_size: int,
    ) -> None:
        self._network = TextNetwork(SETTING, folder / conventions.network, device=device)
        self._tokenizer, self._format = self._network.tokenizer, self._network.pair_format
        self._background = Background(self._tokenizer.get_vocab())
        self._conventions = conventions
        self._batch_size = batch_size
        self._own, self._context = self._lengths()
        self.dimensions = self._network.dimensions
        self._projection = projection or Projection.identity(self.dimensions)
        self.token_dimensions = int(self._projection.components.shape[1])
        self.name = f"{name}:{self.token_dimensions}"
        self._check()

    def encode_memories(self, texts: Sequence[str], previous: Sequence[str]) -> list[TextEncoding]:
        """Encode each text with its previous turn; a text longer than one window takes several, none of it is lost."""
        return [self._memory(passes) for passes in self._read(texts, previous, self._conventions.document_prompt)]

    def encode_queries(self, texts: Sequence[str]) -> list[QueryEncoding]:
        """Encode questions without context; a question longer than one window takes several, as a memory does."""
        before = [""] * len(texts)
        return [self._query(passes) for passes in self._read(texts, before, self._conventions.query_prompt)]

    def token_texts(self, ids: Int32) -> list[str]:
        """See TextEncoder."""
        return [self._tokenizer.id_to_token(token) or "" for token in ids.tolist()]

    def hidden_states(self, texts: Sequence[str]) -> list[Float32]:
        """Each text's own token vectors before any projection, float32 [t, d]."""
        read = self._read(texts, [""] * len(texts), self._conventions.document_prompt)
        return [np.concatenate([states.own for states in passes]) for passes in read]

    def _memory(self, passes: list[_States]) -> TextEncoding:
        own = np.concatenate([states.own for states in passes])
        ids = [token for states in passes for token in states.ids]
        dense = unit_rows(self._pooled(passes, own)) if ids else np.zeros(self.dimensions, np.float32)
        return TextEncoding(dense, quantise(self._projection(own)), np.asarray(ids, dtype=np.int32))

    def _query(self, passes: list[_States]) -> QueryEncoding:
        first, last = len(self._format.first), len(self._format.last)
        ids: list[int] = []
        scored, pooled = [], []
        for states in passes:
            known = [UNKNOWN if token == self._network.unknown_id else token for token in states.ids]
            ids += [SPECIAL] * first + known + [SPECIAL] * last
            # The prompt is the model's, not a word of the question: no memory is to match it.
            scored.append(np.concatenate([states.whole[:first], states.own, states.whole[-last:]]))
            pooled.append(states.whole if self._conventions.pool_prompt else scored[-1])
        token_ids = np.asarray(ids, dtype=np.int32)
        return QueryEncoding(
            dense=unit_rows(self._pooled(passes, np.concatenate(pooled))),
            tokens=unit_rows(self._projection(np.concatenate(scored))),
            token_ids=token_ids,
            background=self._background.of(token_ids),
        )

    def _pooled(self, passes: list[_States], tokens: Float32) -> Float32:
        """float32 [d]: the mean of `tokens`, or of each pass's [CLS] in a model that was trained so."""
        if self._conventions.pooling == "cls":
            tokens = np.stack([states.whole[0] for states in passes])
        mean: Float32 = tokens.mean(axis=0)
        return mean

    def _read(self, texts: Sequence[str], previous: Sequence[str], prompt: str) -> Iterator[list[_States]]:
        """The passes of each text."""
        windows = [self._windows(prompt, text, before) for text, before in zip(texts, previous, strict=True)]
        sequences = [self._sequence(window) for of_text in windows for window in of_text]
        hidden = iter(self._network.hidden_states(sequences, self._batch_size))
        for of_text in windows:
            yield [self._states(window, next(hidden)) for window in of_text]

    def _states(self, window: _Window, hidden: Float32) -> _States:
        start = len(self._format.first) + len(window.prompt)
        end = start + len(window.own)
        return _States(window.own, hidden[start:end], hidden[: end + len(self._format.last)])

    def _sequence(self, window: _Window) -> list[int]:
        text = [*self._format.first, *window.prompt, *window.own]
        if not window.context:
            return [*text, *self._format.last]
        return [*text, *self._format.between, *window.context, *self._format.last]

    def _windows(self, prompt: str, text: str, before: str) -> list[_Window]:
        """Cut a text into passes; the context of each is the tokens just before it: the previous turn, or the text itself."""
        marked, own = self._prompted(prompt, text)
        context = self._tokenizer.encode(before, add_special_tokens=False).ids[-self._context :] if before else []
        size = self._own - len(marked)
        later = range(size, len(own), size)
        return [
            _Window(marked, own[:size], context),
            *(
                _Window(marked, own[start : start + size], own[max(0, start - self._context // 2) : start])
                for start in later
            ),
        ]

    def _prompted(self, prompt: str, text: str) -> tuple[list[int], list[int]]:
        """The tokens of prompt and text as they are read together."""
        encoding = self._tokenizer.encode(prompt + text, add_special_tokens=False)
        ends = (end for _, end in encoding.offsets) if prompt else ()
        count = sum(1 for _ in takewhile(lambda end: end <= len(prompt), ends))
        return encoding.ids[:count], encoding.ids[count:]

    def _lengths(self) -> tuple[int, int]:
        """Most own tokens of a pass, prompt included, and most tokens of context."""
        around = len(self._format.first) + len(self._format.last)
        room = self._network.max_length - around - len(self._format.between)
        longest = self._network.max_length
        trained = min(self._conventions.max_tokens or longest, longest)
        own = min(trained - around, room * 2 // 3)
        return own, min(trained // 2 - around, room - own)

    def _check(self) -> None:
        prompts = (self._conventions.query_prompt, self._conventions.document_prompt)
        prompted = max(len(self._prompted(prompt, "")[0]) for prompt in prompts)
        if self._context < 1 or prompted > self._own // 2:
            raise WeightsError(
                f"{SETTING}: the model reads {self._own} tokens at a time, too few for its prompt and a text"
            )
        if self._projection.components.shape[0] != self.dimensions:
            width = self._projection.components.shape[0]
            raise WeightsError(
                f"text_projection: is for vectors of {width} numbers; the model's have {self.dimensions}"
            )
