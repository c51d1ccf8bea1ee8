"""Concurrent requests share the encoder threads fairly, and one's bad luck is its own."""

from __future__ import annotations

import logging
import threading
from contextvars import ContextVar

import pytest

from mmmem.encoders.batching import BATCH_COST, EncoderThreads, Lane
from mmmem.encoders.device import Device
from mmmem.errors import ModelUnavailable
from mmmem.meter import Meter


@pytest.fixture
def threads():
    pool = EncoderThreads(Device("cpu", 2, 2), batch_size=8)
    yield pool
    pool.close()


def upper(texts):
    if "poison" in texts:
        raise RuntimeError(f"cannot encode {texts}")
    return [text.upper() for text in texts]


def test_results_come_back_in_the_order_of_the_items(threads):
    items = [f"text {i}" for i in range(100)]
    assert threads.run(Lane.MEMORY, upper, items) == [item.upper() for item in items]


def test_nothing_to_encode_is_answered_at_once(threads):
    assert threads.run(Lane.QUERY, upper, []) == []


def test_each_of_many_callers_gets_its_own_results(threads):
    results = {}
    callers = [
        threading.Thread(target=lambda n=n: results.update({n: threads.run(Lane.QUERY, upper, [f"q{n}", f"r{n}"])}))
        for n in range(50)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert results == {n: [f"Q{n}", f"R{n}"] for n in range(50)}


def test_a_text_that_the_model_fails_on_fails_only_its_own_request(threads):
    """The poison and its neighbours are made to wait together behind a slow pass, so that they share the next one."""
    started, go = threading.Barrier(3), threading.Event()

    def slow(texts):
        started.wait()
        go.wait()
        return texts

    outcomes = {}

    def call(name, lane, encode, items):
        try:
            outcomes[name] = threads.run(lane, encode, items)
        except ModelUnavailable:
            outcomes[name] = "unavailable"

    calls = [("slow", Lane.IMAGE, slow, ["a", "b"])]  # one item a thread
    calls += [(f"good {n}", Lane.MEMORY, upper, ["fine"]) for n in range(4)] + [("bad", Lane.MEMORY, upper, ["poison"])]
    callers = [threading.Thread(target=call, args=args) for args in calls]
    callers[0].start()
    started.wait()
    for caller in callers[1:]:
        caller.start()
    go.set()
    for caller in callers:
        caller.join()
    assert outcomes.pop("slow") == ["a", "b"]
    assert outcomes.pop("bad") == "unavailable"
    assert outcomes == {f"good {n}": ["FINE"] for n in range(4)}


def order_of(waiting, batch_size):
    """The order in which items are encoded by one thread, once all of these (lane, items) wait behind a slow pass."""
    pool = EncoderThreads(Device("cpu", 1, 1), batch_size)
    order, started, go = [], threading.Event(), threading.Event()

    def slow(texts):
        started.set()
        go.wait()
        return texts

    def note(texts):
        order.extend(texts)
        return texts

    callers = [threading.Thread(target=pool.run, args=(Lane.IMAGE, slow, ["picture"]))]
    callers[0].start()
    started.wait()
    for lane, items in waiting:
        before = len(pool._lanes[lane])
        callers.append(threading.Thread(target=pool.run, args=(lane, note, items)))
        callers[-1].start()
        while len(pool._lanes[lane]) == before:
            pass
    go.set()
    for caller in callers:
        caller.join()
    pool.close()
    return order


def test_pictures_overtake_memories_that_wait():
    waiting = [(Lane.MEMORY, ["memory 1", "memory 2"]), (Lane.IMAGE, ["photo"])]
    assert order_of(waiting, batch_size=1) == ["photo", "memory 1", "memory 2"]


def held(pool, run):
    """Let `run` go on and hold its thread; gives what ends that."""
    started, go = threading.Event(), threading.Event()

    def slow(items=()):
        started.set()
        go.wait()
        return items

    threading.Thread(target=run, args=(slow,)).start()
    started.wait()
    return go


def test_questions_wait_for_no_memory():
    pool = EncoderThreads(Device("cpu", 1, 1), batch_size=1)
    go = held(pool, lambda slow: pool.run(Lane.MEMORY, slow, ["an hour of talk"]))
    assert pool.run(Lane.QUERY, upper, ["question"]) == ["QUESTION"]
    go.set()
    pool.close()


def test_questions_that_wait_while_searches_compute_share_a_pass():
    pool = EncoderThreads(Device("cpu", 1, 1), batch_size=8)
    go = held(pool, pool.compute)
    passes = []

    def note(texts):
        passes.append(list(texts))
        return texts

    callers = [threading.Thread(target=pool.run, args=(Lane.QUERY, note, [f"q{n}"])) for n in range(5)]
    for number, caller in enumerate(callers):
        caller.start()
        while len(pool._lanes[Lane.QUERY]) <= number:
            pass
    go.set()
    for caller in callers:
        caller.join()
    pool.close()
    assert passes == [["q0", "q1", "q2", "q3", "q4"]]


def test_what_fails_in_a_search_reaches_its_caller_alone(threads):
    with pytest.raises(ZeroDivisionError):
        threads.compute(lambda: 1 / 0)
    assert threads.compute(lambda: "next") == "next"


def test_callers_take_turns_so_a_small_request_is_not_behind_all_of_a_large_one():
    waiting = [(Lane.MEMORY, ["large"] * 9), (Lane.MEMORY, ["small"])]
    assert order_of(waiting, batch_size=2).index("small") < 2


def test_a_pass_holds_no_more_text_than_it_can_take_at_once():
    pool = EncoderThreads(Device("cpu", 1, 1), batch_size=32)
    sizes = []

    def note(texts):
        sizes.append(sum(map(len, texts)))
        return texts

    pool.run(Lane.MEMORY, note, ["x" * 1_200] * 40 + ["y" * 50_000], cost=len)
    pool.close()
    assert sum(sizes) == 40 * 1_200 + 50_000
    assert all(size <= BATCH_COST for size in sizes[:-1])
    assert sizes[-1] == 50_000  # alone: what is longer than a pass is still encoded


def test_after_closing_it_says_so():
    pool = EncoderThreads(Device("cpu", 1, 1), batch_size=1)
    pool.close()
    with pytest.raises(ModelUnavailable):
        pool.run(Lane.QUERY, upper, ["too late"])
    with pytest.raises(ModelUnavailable):
        pool.compute(upper, ["too late"])


class Noted(Meter):
    """Keeps what it is told."""

    def __init__(self):
        self.passes = []
        self.waiting = 0
        self.running = 0

    def queued(self, lane, *, waiting=0, running=0):
        assert lane == "encode_query"
        self.waiting += waiting
        self.running += running

    def encoded(self, encoder, kind, items, seconds):
        self.passes.append((encoder, kind, items))


def test_a_meter_is_told_what_waits_and_what_shares_a_pass():
    meter = Noted()
    pool = EncoderThreads(Device("cpu", 1, 1), batch_size=8, meter=meter)
    go = held(pool, lambda slow: pool.run(Lane.QUERY, slow, ["first"]))
    callers = [threading.Thread(target=pool.run, args=(Lane.QUERY, upper, [f"{i}", "x"])) for i in range(3)]
    for caller in callers:
        caller.start()
    while meter.waiting < 6:
        pass
    assert meter.running == 1
    go.set()
    for caller in callers:
        caller.join()
    pool.close()
    assert meter.passes == [("text", "query", 1), ("text", "query", 6)]
    assert (meter.waiting, meter.running) == (0, 0)


def test_an_encoder_that_fails_is_logged_of_the_request_that_asked(caplog):
    request = ContextVar("request", default="none")
    seen = []
    handler = logging.Handler()
    handler.emit = lambda record: seen.append((record.getMessage(), request.get()))
    logging.getLogger("mmmem").addHandler(handler)
    pool = EncoderThreads(Device("cpu", 2, 2), batch_size=1)
    request.set("mine")
    with pytest.raises(ModelUnavailable):
        pool.run(Lane.MEMORY, upper, ["poison"] * 8)
    assert pool.compute(request.get) == "mine"
    pool.close()
    logging.getLogger("mmmem").removeHandler(handler)
    assert set(seen) == {("an encoder failed: RuntimeError", "mine")}
