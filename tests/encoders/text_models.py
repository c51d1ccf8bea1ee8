"""Small sentence encoders with random weights in the formats of real ones, for MMMEM_TEXT_DIR.

`wordpiece` is what bge-small-zh is, `unigram_bert` paraphrase-multilingual-MiniLM and multilingual-e5-small, `roberta` XLM-R.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertModel, XLMRobertaConfig, XLMRobertaModel

from tests.encoders.tiny import write_json

if TYPE_CHECKING:
    from pathlib import Path

MEMORIES = [
    "我上周领养了一只叫米糕的猫，它很怕打雷。",
    "明天下午三点我要去牙医那里补牙。",
    "我的护照明年三月过期，要提前换新的。",
    "张伟把我的雨伞借走了，还没有还。",
    "The espresso machine is broken again, so we drink tea.",
    "I parked the car on the second floor below ground.",
]
CORPUS = [
    *MEMORIES,
    "雨伞在谁那里？",
    "护照什么时候过期？",
    "猫叫什么名字？",
    "query: passage: coffee cat dog car photo word",
]
SHAPE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def wordpiece(folder: Path, **said: object) -> None:
    """A BERT with a vocabulary of Chinese characters and English words, pooled by [CLS]."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    torch.manual_seed(3)
    config = BertConfig(**SHAPE, vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=64, pad_token_id=0)
    _write(
        folder, tokenizer, BertModel(config, add_pooling_layer=False), **{"pooling": "cls", "max_tokens": 64, **said}
    )


def unigram_bert(folder: Path, **said: object) -> None:
    """A BERT that reads XLM-R's kind of SentencePiece, with E5's prompts, pooled by the mean."""
    tokenizer = _unigram()
    torch.manual_seed(4)
    config = BertConfig(**SHAPE, vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=64, pad_token_id=0)
    prompts = {"query": "query: ", "passage": "passage: "}
    _write(folder, tokenizer, BertModel(config, add_pooling_layer=False), **{"prompts": prompts, **said})


def roberta(folder: Path, **said: object) -> None:
    """An XLM-R: no token types, and positions that begin behind the padding token's id."""
    tokenizer = _unigram()
    torch.manual_seed(5)
    shape = {**SHAPE, "vocab_size": tokenizer.get_vocab_size(), "type_vocab_size": 1}
    config = XLMRobertaConfig(**shape, max_position_embeddings=66, pad_token_id=1, bos_token_id=0, eos_token_id=2)
    _write(folder, tokenizer, XLMRobertaModel(config, add_pooling_layer=False), **{"max_tokens": 64, **said})


def _unigram() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(CORPUS * 4, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def _write(
    folder: Path,
    tokenizer: Tokenizer,
    network: torch.nn.Module,
    *,
    pooling: str = "mean",
    max_tokens: int = 32,
    prompts: dict[str, str] | None = None,
) -> None:
    """A folder as older releases of sentence-transformers wrote it, which most published models still are."""
    network.save_pretrained(folder)
    # Many published tokenizers cut and pad by themselves.
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16)
    tokenizer.save(str(folder / "tokenizer.json"))
    roles = {"[PAD]": "pad", "[UNK]": "unk", "[CLS]": "cls", "[SEP]": "sep", "[MASK]": "mask"}
    roles |= {"<s>": "cls", "</s>": "sep", "<pad>": "pad", "<unk>": "unk"}
    special = {f"{role}_token": token for token, role in roles.items() if tokenizer.token_to_id(token) is not None}
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", **special})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": max_tokens, "do_lower_case": False})
    write_json(folder / "config_sentence_transformers.json", {"prompts": prompts or {}})
    modules = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    write_json(
        folder / "modules.json",
        [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, (path, kind) in enumerate(modules)
        ],
    )
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    ways = {f"pooling_mode_{way}": False for way in ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens")}
    chosen = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens", "max": "pooling_mode_max_tokens"}
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 32, **ways, chosen[pooling]: True})
