"""How a sentence encoder wants to be read, as its sentence-transformers folder says: pooling, prompts, length."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from mmmem.errors import WeightsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Task = Literal["document", "query"]
Pooling = Literal["mean", "cls"]
PROMPTS: dict[Task, tuple[str, ...]] = {"query": ("query",), "document": ("document", "passage", "corpus")}


@dataclass(frozen=True, slots=True)
class Conventions:
    """What a model was trained with.

    max_tokens: the longest text, special tokens and prompt included; None: as long as its positions reach. pool_prompt:
    whether the prompt's tokens count in a mean. network: the folder of weights and tokenizer inside the model's.
    """

    max_tokens: int | None
    pooling: Pooling = "mean"
    query_prompt: str = ""
    document_prompt: str = ""
    pool_prompt: bool = True
    network: str = ""

    @classmethod
    def read(cls, setting: str, folder: Path) -> Conventions:
        """What the folder says. Raises WeightsError, naming `setting`, where it does not say, or asks for what is not done."""
        modules = {module["type"].rpartition(".")[2]: module["path"] for module in read_modules(setting, folder)}
        if not {"Transformer", "Pooling"} <= modules.keys() <= {"Transformer", "Pooling", "Normalize"}:
            raise WeightsError(f"{setting}: modules.json lists {', '.join(modules)}, not Transformer and Pooling")
        pooling = read_json(folder / modules["Pooling"] / "config.json", {})
        prompts = read_json(folder / "config_sentence_transformers.json", {}).get("prompts") or {}
        return cls(
            max_tokens=_max_tokens(folder / modules["Transformer"]),
            pooling=_pooling(setting, pooling),
            query_prompt=prompt_for("query", prompts),
            document_prompt=prompt_for("document", prompts),
            pool_prompt=pooling.get("include_prompt", True),
            network=modules["Transformer"],
        )


def prompt_for(task: Task, prompts: Mapping[str, str | None]) -> str:
    """The prompt of a task under any of the names that models have for it; "" for none."""
    return next(filter(None, (prompts.get(name) for name in PROMPTS[task])), "")


def read_modules(setting: str, folder: Path) -> list[dict[str, str]]:
    """The steps of a sentence encoder. A folder without them could only be guessed to take the mean of its tokens."""
    if not (folder / "modules.json").is_file():
        raise WeightsError(f"{setting}: has no modules.json, so it does not say how its tokens are pooled")
    modules: list[dict[str, str]] = read_json(folder / "modules.json", [])
    return modules


def read_json(file: Path, default: Any) -> Any:
    """A JSON file's value, or the default when there is no such file. Raises WeightsError when it is not JSON."""
    try:
        return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else default
    except ValueError as error:
        raise WeightsError(f"{file.name}: is not JSON") from error


def _max_tokens(folder: Path) -> int | None:
    older: int | None = read_json(folder / "sentence_bert_config.json", {}).get("max_seq_length")
    return older or read_json(folder / "tokenizer_config.json", {}).get("model_max_length")


def _pooling(setting: str, config: dict[str, Any]) -> Pooling:
    """The one way in which tokens become a vector, from sentence-transformers' older or newer way to write it."""
    old = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    ways = [old.get(key, key) for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
    said = config.get("pooling_mode", ways)
    ways = [said] if isinstance(said, str) else list(said)
    for known in get_args(Pooling):
        if ways == [known]:
            return known  # type: ignore[no-any-return]
    raise WeightsError(
        f"{setting}: pools its tokens by {', '.join(map(str, ways)) or 'nothing'}; mean and cls are known"
    )
