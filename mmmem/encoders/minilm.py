"""all-MiniLM-L6-v2: one pass gives a text's pooled vector and its token vectors (Reimers & Gurevych, 2019).

A memory is encoded together with the turn before it, as a sentence pair with the turn first; only the turn's own tokens
are kept. So a short answer ("Yes, last week!") carries what it answers.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BertModel
from transformers.utils import logging as transformers_logging

from mmmem.encoders.tokens import Projection, quantise, unit_rows
from mmmem.types import SPECIAL, UNKNOWN, QueryEncoding, TextEncoding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mmmem.types import Float32

WINDOW = 254  # own tokens of one pass: the model was trained on up to 256, [CLS] and [SEP] included
CONTEXT = 126  # tokens of the previous turn beside them
PAD_TO = 16  # sequence lengths are rounded up to this: see `_forward`


@dataclass(frozen=True, slots=True)
class _Window:
    """One forward pass: some of a text's own tokens, and tokens of what came before them."""

    own: list[int]
    context: list[int]


class MiniLMEncoder:
    """A TextEncoder. Bit-identical for a text whatever it is batched with: see `_forward`."""

    def __init__(
        self, folder: Path, projection: Projection | None, *, revision: str, device: str, batch_size: int
    ) -> None:
        logging.getLogger("transformers").setLevel(logging.ERROR)  # it reports the pooler, which we do not use
        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        model = BertModel.from_pretrained(folder, add_pooling_layer=False, local_files_only=True)
        self._model: torch.nn.Module = model.train(False)
        self._model.to(device)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        vocabulary = self._tokenizer.get_vocab()
        self._cls, self._sep, self._unknown = vocabulary["[CLS]"], vocabulary["[SEP]"], vocabulary["[UNK]"]
        self._projection = projection or Projection.identity(model.config.hidden_size)
        self._device = device
        self._batch_size = batch_size
        self.dimensions = int(model.config.hidden_size)
        self.token_dimensions = int(self._projection.components.shape[1])
        self.name = f"all-MiniLM-L6-v2@{revision}:{self.token_dimensions}"

    def encode_memories(self, texts: Sequence[str], previous: Sequence[str]) -> list[TextEncoding]:
        """Encode each text with its previous turn; a text longer than one window takes several, none of it is lost."""
        return [
            TextEncoding(
                dense=unit_rows(hidden.mean(axis=0)) if ids else np.zeros(self.dimensions, np.float32),
                tokens=quantise(self._projection(hidden)),
                token_ids=np.asarray(ids, dtype=np.int32),
            )
            for hidden, ids in self._read(texts, previous, special=False)
        ]

    def encode_queries(self, texts: Sequence[str]) -> list[QueryEncoding]:
        """Encode questions without context; a question longer than one window takes several, as a memory does."""
        return [
            QueryEncoding(
                dense=unit_rows(hidden.mean(axis=0)),
                tokens=unit_rows(self._projection(hidden)),
                token_ids=np.asarray([UNKNOWN if token == self._unknown else token for token in ids], dtype=np.int32),
            )
            for hidden, ids in self._read(texts, [""] * len(texts), special=True)
        ]

    def hidden_states(self, texts: Sequence[str]) -> list[Float32]:
        """Each text's own token vectors before any projection, float32 [t, d]."""
        return [hidden for hidden, _ in self._read(texts, [""] * len(texts), special=False)]

    def _read(
        self, texts: Sequence[str], previous: Sequence[str], *, special: bool
    ) -> Iterator[tuple[Float32, list[int]]]:
        """Of each text the hidden states, float32 [t, d], and ids of its own tokens, with [CLS] and [SEP] if `special`."""
        windows = [self._windows(text, before) for text, before in zip(texts, previous, strict=True)]
        hidden = iter(self._run([self._pair(window) for of_text in windows for window in of_text]))
        for of_text in windows:
            states, ids = [], []
            for window in of_text:
                state = next(hidden)
                states.append(state[: len(window.own) + 2] if special else state[1 : len(window.own) + 1])
                ids.extend([SPECIAL, *window.own, SPECIAL] if special else window.own)
            yield np.concatenate(states), ids

    def _pair(self, window: _Window) -> list[int]:
        pair = [self._cls, *window.own, self._sep]
        return [*pair, *window.context, self._sep] if window.context else pair

    def _windows(self, text: str, before: str) -> list[_Window]:
        """Cut a text into passes; the context of each is the tokens just before it: the previous turn, or the text itself."""
        own = self._tokenizer.encode(text, add_special_tokens=False).ids
        context = self._tokenizer.encode(before, add_special_tokens=False).ids[-CONTEXT:] if before else []
        later = range(WINDOW, len(own), WINDOW)
        return [
            _Window(own[:WINDOW], context),
            *(_Window(own[start : start + WINDOW], own[start - CONTEXT // 2 : start]) for start in later),
        ]

    def _run(self, sequences: list[list[int]]) -> list[Float32]:
        """Hidden states float32 [l, d] of each sequence, those of like length batched together."""
        hidden: list[Float32] = [np.empty((0, 0), np.float32)] * len(sequences)
        by_length: dict[int, list[int]] = {}
        for index, sequence in enumerate(sequences):
            by_length.setdefault(-(-len(sequence) // PAD_TO) * PAD_TO, []).append(index)
        for length, members in by_length.items():
            for start in range(0, len(members), self._batch_size):
                batch = members[start : start + self._batch_size]
                states = self._forward([sequences[i] for i in batch], length)
                for i, state in zip(batch, states, strict=True):
                    hidden[i] = state[: len(sequences[i])]
        return hidden

    @torch.inference_mode()
    def _forward(self, sequences: list[list[int]], length: int) -> Float32:
        """float32 [b, length, d].

        Lengths are rounded up to multiples of 16 and torch runs on one thread (batching.py): then every product keeps
        its order of summation whatever the batch holds, and a text's vectors are the same bits in any company.
        """
        ids = torch.zeros((len(sequences), length), dtype=torch.long)
        mask = torch.zeros((len(sequences), length), dtype=torch.long)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = torch.tensor(sequence, dtype=torch.long)
            mask[row, : len(sequence)] = 1
        output = self._model(input_ids=ids.to(self._device), attention_mask=mask.to(self._device))
        states: Float32 = output.last_hidden_state.float().cpu().numpy()
        return states
