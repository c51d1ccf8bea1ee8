"""The benchmarks run, measure what they say they do, and ask about a conversation that is like one in its numbers."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from importlib import import_module
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest

from mmmem.terms import terms
from mmmem.texts import asks
from mmmem.types import TextEncoding

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture
def bench_add(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("bench_add")


@pytest.fixture
def bench_search(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("bench_search")


def run(script, *arguments):
    command = [sys.executable, str(SCRIPTS / script), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)


def test_adding_is_split_into_the_encoders_time_and_everything_else(tmp_path):
    file = tmp_path / "figures.json"
    size = ("--requests", "2", "--messages", "3", "--callers", "2")
    done = run("bench_add.py", *size, "--check", "--json", str(file))
    figures = json.loads(file.read_text())
    assert (figures["messages"], figures["callers"]) == (6, 2)
    assert figures["encoder"] > 0 < figures["concurrent_seconds"]
    assert figures["encoder"] + figures["everything_else"] == pytest.approx(figures["seconds"])
    assert sum(figures["stages"].values()) == pytest.approx(figures["everything_else"])
    assert all(seconds > 0 for seconds in figures["stages"].values()), figures["stages"]
    assert figures["share"] == pytest.approx(figures["everything_else"] / figures["encoder"])
    assert done.returncode == (figures["share"] > 1 / 3), done.stderr
    assert f"everything else is {figures['share']:.1%} of the encoder's time" in done.stdout


def test_searching_is_measured_at_each_size_in_a_process_of_its_own(tmp_path):
    file = tmp_path / "figures.json"
    done = run("bench_search.py", "--sizes", "150", "15", "--questions", "3", "--profile", "--json", str(file))
    assert done.returncode == 0, done.stderr
    small, large = json.loads(file.read_text())
    assert (small["memories"], large["memories"]) == (15, 150)
    for row in (small, large):
        assert 0 < row["median_ms"] <= row["p95_ms"]
        assert row["encoding_ms"] > 0 < row["cold_ms"]
        assert 0 < row["rss"] <= row["peak"]
        assert row["disk"] > row["memories"] * 1_000  # nothing near to an encoded memory is smaller
    assert large["arrays"] > 5 * small["arrays"]
    assert large["disk"] > 5 * small["disk"]
    assert "cumulative" in large["profile"]
    assert "cumulative" in done.stdout
    assert not small["profile"]


def test_time_in_a_watched_function_is_counted_also_when_it_fails(bench_add):
    class Work:
        def do(self, n):
            return n // len(range(n))

    watch = bench_add.Stopwatch(Work, "do")
    began = time.perf_counter()
    assert Work().do(7) == 1
    once = watch.seconds
    with pytest.raises(ZeroDivisionError):
        Work().do(0)
    assert 0 < once < watch.seconds < time.perf_counter() - began


def test_the_conversation_has_sessions_speakers_and_questions(bench_add):
    turns = list(islice(bench_add.Conversation(0).turns(), 1_000))
    assert turns == list(islice(bench_add.Conversation(0).turns(), 1_000))
    assert turns != list(islice(bench_add.Conversation(1).turns(), 1_000))
    assert set(Counter(turn.session_id for turn in turns).values()) == {20}
    assert {(turn.role, turn.text.split(":")[0]) for turn in turns} == set(bench_add.SPEAKERS)
    assert all(before.timestamp < after.timestamp for before, after in pairwise(turns))
    assert 200 < sum(asks(turn.text) for turn in turns) < 400


def test_the_words_of_the_conversation_are_as_frequent_as_a_languages(bench_add):
    turns = [terms(turn.text) for turn in islice(bench_add.Conversation(0).turns(), 5_000)]
    found_in = Counter(term for turn in turns for term in set(turn)).most_common()
    assert len(found_in) > 8_000
    assert found_in[0][1] > 0.3 * len(turns)  # the commonest are in a good part of the memories
    assert found_in[len(found_in) // 2][1] < 10  # most are in a handful
    postings = sum(count for _, count in found_in)
    assert 0.3 < sum(count for _, count in found_in[: len(found_in) // 100]) / postings < 0.8


def test_memories_that_are_not_encoded_get_vectors_near_to_encoded_ones(bench_search):
    random = np.random.default_rng(0)
    tokens = random.normal(0, 40, (5, 12, 128)).clip(-127, 127).astype(np.int8)
    dense = random.normal(size=(5, 384)).astype(np.float32)
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    encodings = [TextEncoding(dense[i], tokens[i], np.arange(12, dtype=np.int32) + i) for i in range(5)]
    made = bench_search.Reused(encodings).encode_memories([""] * 15, [""] * 15)
    for number, one in enumerate(made):
        source = encodings[number % 5]
        assert (one.token_ids == source.token_ids).all()
        assert (one.tokens == source.tokens).all() == (number < 5)
        assert one.tokens.dtype == np.int8
        assert abs(one.tokens.astype(int) - source.tokens).max() <= 8
        assert np.linalg.norm(one.dense) == pytest.approx(1, abs=1e-5)
        assert one.dense @ source.dense > 0.98
    again = bench_search.Reused(encodings).encode_memories([""] * 15, [""] * 15)
    assert all((a.tokens == b.tokens).all() for a, b in zip(made, again, strict=True))


def test_many_searchers_are_measured_beside_the_encoder_alone(tmp_path):
    file = tmp_path / "figures.json"
    done = run("bench_searchers.py", "--memories", "120", "--searchers", "4", "--searches", "12", "--json", str(file))
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    assert (found["memories"], found["searchers"], found["workers"], found["failed"]) == (120, 4, 1, 0)
    assert found["searches"] > 0 < found["encoder_limit"]
    assert 0 < found["p50_ms"] <= found["p95_ms"] <= found["max_ms"]
    assert found["encoder_share"] > 0
    assert f"{found['encoder_share']:.0%}" in done.stdout
