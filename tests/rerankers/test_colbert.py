"""Any ColBERT checkpoint puts memories in the order that it was trained to; no memory or question brings it down."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sentence_transformers import MultiVectorEncoder

from mmmem.encoders.batching import EncoderThreads, Lane
from mmmem.encoders.device import Device
from mmmem.errors import ModelUnavailable
from mmmem.rerankers.colbert import ColbertReranker
from mmmem.rerankers.maxsim import MaxSimReranker
from tests.rerankers.conftest import MEMORIES, QUESTION


@pytest.fixture
def reranker(encoder, threads):
    return ColbertReranker(encoder, threads)


def order(scores):
    return np.argsort(-scores, kind="stable").tolist()


def test_scores_are_the_checkpoints_own(reranker, ask, stored, checkpoint):
    model = MultiVectorEncoder(str(checkpoint), device="cpu", local_files_only=True)
    question = model.encode_query(QUESTION)
    expected = [
        float((question @ memory.T).max(dim=1).values.sum()) for memory in model.encode_document(list(MEMORIES))
    ]
    np.testing.assert_allclose(reranker(ask(QUESTION), stored(MEMORIES)), expected, atol=1e-3)


def test_stored_tokens_give_the_same_order(reranker, ask, stored):
    question, memories = ask(QUESTION), stored(MEMORIES)
    by_colbert = reranker(question, memories)
    assert order(MaxSimReranker()(question, memories)) == order(by_colbert) != list(range(len(MEMORIES)))
    assert np.diff(np.sort(by_colbert)).min() > 0.5  # no two are so near that rounding could decide


def test_blank_memories_have_no_score_and_change_no_others(reranker, ask, stored):
    texts = ["", *MEMORIES[:3], " \n\t", *MEMORIES[3:]]
    scores = reranker(ask(QUESTION), stored(texts))
    assert [text for text, score in zip(texts, scores, strict=True) if np.isnan(score)] == ["", " \n\t"]
    np.testing.assert_array_equal(scores[~np.isnan(scores)], reranker(ask(QUESTION), stored(MEMORIES)))


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_blank_question_gives_no_scores(reranker, ask, stored, text):
    assert np.isnan(reranker(ask(text), stored(MEMORIES))).all()


def test_no_candidates_no_scores(reranker, ask, stored):
    assert reranker(ask(QUESTION), stored(["", ""])).shape == (2,)


@pytest.mark.parametrize("odd", ["\ud800 half a pair", "!!!", "\u200b", "☃☃☃", "\x00", "很久以前", "word " * 3000])
def test_odd_text_is_scored(reranker, ask, stored, odd):
    # What is stored may be any text; encoders were given it well-formed.
    candidates = stored(["a", MEMORIES[0]])
    candidates = type(candidates)(
        [odd, MEMORIES[0]], candidates.tokens, candidates.token_scales, candidates.token_offsets
    )
    scores = reranker(ask(QUESTION), candidates)
    assert np.isfinite(scores).all()


def test_the_same_memory_twice_gets_the_same_score(reranker, ask, stored):
    first, other, again = reranker(ask(QUESTION), stored([MEMORIES[0], MEMORIES[1], MEMORIES[0]]))
    assert first == again != other


def test_scores_are_the_same_bits_whatever_else_is_asked(reranker, ask, stored):
    alone = reranker(ask(QUESTION), stored(MEMORIES))
    results = []

    def once(question):
        results.append((question, reranker(ask(question), stored(MEMORIES))))

    callers = [threading.Thread(target=once, args=(QUESTION if n % 2 else f"question {n}?",)) for n in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    same = [scores for question, scores in results if question == QUESTION]
    assert len(same) == 4
    for scores in same:
        np.testing.assert_array_equal(scores, alone)


def test_memories_are_reranked_before_new_ones_are_encoded():
    assert Lane.IMAGE < Lane.RERANK < Lane.MEMORY


def test_a_checkpoint_that_fails_is_said_to(encoder, ask, stored):
    threads = EncoderThreads(Device("cpu", threads=1, cores=1), 4)
    threads.close()
    with pytest.raises(ModelUnavailable):
        ColbertReranker(encoder, threads)(ask(QUESTION), stored(MEMORIES))
