"""The default reranker compares stored token vectors; no model runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mmmem.rerankers import Candidates, Question
from mmmem.rerankers.maxsim import MaxSimReranker
from tests.rerankers.conftest import MEMORIES, QUESTION


@pytest.fixture(scope="module")
def light():
    """The text encoder of the light profile."""
    from mmmem import wiring
    from mmmem.encoders.device import Device
    from mmmem.settings import Settings

    return wiring.light.load(Settings(), Device("cpu", threads=1, cores=1))[0]


def as_stored(encoder, texts):
    tokens = [encoded.tokens for encoded in encoder.encode_memories(texts, [""] * len(texts))]
    rows = np.concatenate(tokens)
    scales = 1 / np.linalg.norm(rows.astype(np.float32), axis=1)
    return Candidates(texts, rows, scales, np.cumsum([0, *map(len, tokens)]))


def test_the_memory_that_answers_comes_first(light):
    texts = ["The harbour is closed on Mondays.", "I adopted a grey cat in May.", "My sister plays the cello."]
    for text, best in (("When did you get your kitten?", 1), ("Which instrument does she play?", 2)):
        [encoding] = light.encode_queries([text])
        question = Question(text, encoding, np.ones(len(encoding.token_ids), np.float32))
        assert MaxSimReranker()(question, as_stored(light, texts)).argmax() == best


def test_a_token_without_weight_does_not_count(light):
    texts = ["a grey cat", "a long cello"]
    [encoding] = light.encode_queries(["cat cello"])  # [CLS] cat cello [SEP]
    for weights, best in (([0, 1, 0, 0], 0), ([0, 0, 1, 0], 1)):
        question = Question("cat cello", encoding, np.array(weights, np.float32))
        assert MaxSimReranker()(question, as_stored(light, texts)).argmax() == best


def test_a_memory_without_tokens_has_no_score(ask, stored):
    scores = MaxSimReranker()(ask(QUESTION), stored(["", *MEMORIES, ""]))
    assert np.isnan(scores).tolist() == [True, *[False] * len(MEMORIES), True]


def test_a_question_that_says_nothing_gives_no_scores(ask, stored):
    blank, weightless = ask("  "), replace(ask(QUESTION), token_weights=np.zeros(32, np.float32))
    for question in (blank, weightless):
        assert np.isnan(MaxSimReranker()(question, stored(MEMORIES))).all()


def test_no_candidates_no_scores(ask):
    nothing = Candidates([], np.zeros((0, 8), np.int8), np.zeros(0, np.float32), np.zeros(1, np.int64))
    assert MaxSimReranker()(ask(QUESTION), nothing).shape == (0,)
