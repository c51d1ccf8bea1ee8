"""A BERT-like network and its tokenizer from a local folder: token ids in, hidden states out, always the same bits."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BertModel, RobertaModel, XLMRobertaModel
from transformers.utils import logging as transformers_logging

from mmmem.encoders.conventions import read_json
from mmmem.encoders.tracing import States, traced
from mmmem.encoders.windows import PAD_TO
from mmmem.errors import WeightsError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mmmem.types import Float32

NETWORKS: dict[str, Any] = {"bert": BertModel, "roberta": RobertaModel, "xlm-roberta": XLMRobertaModel}


@dataclass(frozen=True, slots=True)
class PairFormat:
    """The special tokens before, between and after two texts: ``[CLS] a [SEP] b [SEP]``, ``<s> a </s></s> b </s>``.

    A text alone has `first` before and `last` after it.
    """

    first: list[int]
    between: list[int]
    last: list[int]

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> PairFormat:
        """Read off what the tokenizer makes of a pair."""
        pair = tokenizer.encode("a", "b")
        own, other = ([i for i, text in enumerate(pair.sequence_ids) if text == number] for number in (0, 1))
        return cls(pair.ids[: own[0]], pair.ids[own[-1] + 1 : other[0]], pair.ids[other[-1] + 1 :])


class TextNetwork:
    """`max_length` is the longest sequence that the network has positions for once it is padded.

    Raises WeightsError, naming `setting`, when the folder does not hold every weight of a network of a known kind (the
    library would fill in random numbers and only log it), in safetensors, and a tokenizer that goes with it.
    """

    def __init__(self, setting: str, folder: Path, *, device: str) -> None:
        network = _load(setting, folder).to(device)
        config: Any = network.config
        self._device = device
        self._network = traced(network) if device == "cpu" else States(network)
        self.tokenizer = _load_tokenizer(setting, folder)
        self.pair_format = PairFormat.of(self.tokenizer)
        self.unknown_id = _unknown_id(folder, self.tokenizer)
        self.dimensions = int(config.hidden_size)
        self._pad_id = config.pad_token_id or 0
        # RoBERTa counts positions from the one after its padding token's id.
        skipped = 0 if config.model_type == "bert" else self._pad_id + 1
        self.max_length = (config.max_position_embeddings - skipped) // PAD_TO * PAD_TO
        if not (self.pair_format.first and self.pair_format.last):
            raise WeightsError(f"{setting}: tokenizer.json puts no special tokens around a text")
        if max(self.tokenizer.get_vocab().values()) >= config.vocab_size:
            raise WeightsError(f"{setting}: tokenizer.json has tokens that the network has no vectors for")

    def hidden_states(self, sequences: Sequence[list[int]], batch_size: int) -> list[Float32]:
        """The last layer's states of each sequence of token ids, float32 [l, d]; those of like length run together."""
        hidden: list[Float32] = [np.empty((0, 0), np.float32)] * len(sequences)
        by_length: dict[int, list[int]] = {}
        for index, sequence in enumerate(sequences):
            by_length.setdefault(-(-len(sequence) // PAD_TO) * PAD_TO, []).append(index)
        for length, members in by_length.items():
            for start in range(0, len(members), batch_size):
                batch = members[start : start + batch_size]
                states = self._forward([sequences[i] for i in batch], length)
                for i, state in zip(batch, states, strict=True):
                    hidden[i] = state[: len(sequences[i])]
        return hidden

    @torch.inference_mode()
    def _forward(self, sequences: list[list[int]], length: int) -> Float32:
        """float32 [b, length, d]. Token types are left to the network: all of the first kind.

        Lengths are rounded up to multiples of 16 and torch runs on one thread (batching.py): then every product keeps
        its order of summation whatever the batch holds, and a text's vectors are the same bits in any company.
        """
        ids = torch.full((len(sequences), length), self._pad_id, dtype=torch.long)
        mask = torch.zeros((len(sequences), length), dtype=torch.long)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = torch.tensor(sequence, dtype=torch.long)
            mask[row, : len(sequence)] = 1
        states: Float32 = self._network(ids.to(self._device), mask.to(self._device)).float().cpu().numpy()
        return states


def _load(setting: str, folder: Path) -> torch.nn.Module:
    kind = str(read_json(folder / "config.json", {}).get("model_type"))
    if kind not in NETWORKS:
        raise WeightsError(f"{setting}: config.json says model_type {kind}; known are {', '.join(NETWORKS)}")
    if not any(folder.glob("*.safetensors")):
        raise WeightsError(f"{setting}: has no .safetensors file; pickled weights (.bin, .pt) are not loaded")
    # Its report of missing weights is checked below, and has paths in it; the pooler is not used.
    logging.getLogger("transformers").setLevel(logging.ERROR)
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        network, report = NETWORKS[kind].from_pretrained(
            folder,
            add_pooling_layer=False,
            dtype=torch.float32,
            local_files_only=True,
            use_safetensors=True,
            output_loading_info=True,
        )
    except Exception as error:  # the library raises whatever its parts raise, with paths in the message
        raise WeightsError(f"{setting}: cannot be loaded as {kind} ({type(error).__name__})") from error
    missing = sorted(report["missing_keys"])
    if missing:
        raise WeightsError(f"{setting}: lacks {len(missing)} weights of the network, for example {missing[0]}")
    evaluated: torch.nn.Module = network.train(False)
    return evaluated


def _load_tokenizer(setting: str, folder: Path) -> Tokenizer:
    if not (folder / "tokenizer.json").is_file():
        raise WeightsError(f"{setting}: has no tokenizer.json")
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the library raises bare Exceptions
        raise WeightsError(f"{setting}: tokenizer.json cannot be read") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _unknown_id(folder: Path, tokenizer: Tokenizer) -> int | None:
    """The id of what the vocabulary does not hold; None where any text can be spelled."""
    model = read_json(folder / "tokenizer.json", {})["model"]
    unknown: int | None = model.get("unk_id")  # SentencePiece's unigrams give the id, others the token
    return tokenizer.token_to_id(model["unk_token"]) if unknown is None and model.get("unk_token") else unknown
