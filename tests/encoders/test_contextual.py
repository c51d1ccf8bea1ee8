"""The real all-MiniLM-L6-v2: nothing cut off, nothing changed by company, a turn read with the one before it."""

from __future__ import annotations

import numpy as np
import pytest

from mmmem.encoders.batched import BatchedTextEncoder
from mmmem.encoders.batching import EncoderThreads
from mmmem.encoders.device import Device
from mmmem.types import SPECIAL, UNKNOWN

TEXTS = [
    "I adopted a cat called Miso last week.",
    "The train to Lisbon leaves at seven.",
    "Yes!",
    "She repaired the bicycle in the garden shed because the chain kept slipping on every hill we climbed.",
    "def read_file(path: str) -> bytes: return open(path, 'rb').read()",
]


def same(a, b):
    return np.array_equal(a.dense, b.dense) and np.array_equal(a.tokens, b.tokens)


def test_a_text_means_what_the_published_model_says(minilm):
    # Cosines of sentence-transformers' own example for this model, from its documentation.
    a, b, c = (
        q.dense
        for q in minilm.encode_queries(["That is a happy person", "That is a happy dog", "Today is a sunny day"])
    )
    assert float(a @ b) == pytest.approx(0.6945, abs=2e-3)
    assert float(a @ c) == pytest.approx(0.2569, abs=2e-3)


def test_the_same_bits_alone_and_in_any_company(minilm):
    alone = [minilm.encode_memories([text], [""])[0] for text in TEXTS]
    together = minilm.encode_memories(TEXTS * 3, [""] * 15)
    assert all(same(alone[i % 5], encoding) for i, encoding in enumerate(together))


def test_the_same_bits_on_the_encoder_threads(minilm):
    threads = EncoderThreads(Device("cpu", 2, 2), batch_size=4)
    try:
        batched = BatchedTextEncoder(minilm, threads)
        spread = batched.encode_memories(TEXTS * 4, [""] * 20)
        alone = [minilm.encode_memories([text], [""])[0] for text in TEXTS]
        assert all(same(alone[i % 5], encoding) for i, encoding in enumerate(spread))
    finally:
        threads.close()


def test_every_word_of_a_long_text_has_its_vector(minilm):
    words = " ".join(f"word{i}" for i in range(700))
    [encoding] = minilm.encode_memories([words], ["before"])
    expected = minilm._tokenizer.encode(words, add_special_tokens=False).ids
    assert encoding.token_ids.tolist() == expected
    assert len(encoding.tokens) == len(expected)
    assert (np.abs(encoding.tokens).max(axis=1) == 127).all()


def test_a_long_question_is_read_to_its_end(minilm):
    short, long = minilm.encode_queries(["cat", "word " * 300 + "cat"])
    assert long.token_ids[-2] == short.token_ids[1]
    assert (long.token_ids == SPECIAL).sum() == 4


def test_the_turn_before_colours_an_answer_but_adds_no_tokens(minilm):
    plain, answer = minilm.encode_memories(["Yes, last week!", "Yes, last week!"], ["", "Did you adopt a cat?"])
    [question] = minilm.encode_queries(["adopting a cat"])
    assert answer.token_ids.tolist() == plain.token_ids.tolist()
    assert float(answer.dense @ question.dense) > float(plain.dense @ question.dense)


def test_words_outside_the_vocabulary_are_marked_in_a_question(minilm):
    [question] = minilm.encode_queries(["张伟 said hello"])
    assert UNKNOWN in question.token_ids


@pytest.mark.parametrize("text", ["", "   ", "\x00\x01"])
def test_a_text_of_nothing_has_no_tokens(minilm, text):
    [encoding] = minilm.encode_memories([text], [""])
    assert encoding.tokens.shape == (0, 128)
    assert not encoding.dense.any()
