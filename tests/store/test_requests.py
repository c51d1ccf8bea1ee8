"""A request is kept once, however often and in whatever way it is sent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from mmmem.errors import RequestConflict, StoreUnavailable
from mmmem.store.users import LanceStore, table_name
from tests.store.content import ANYWHERE, OpenStore, outcome, request, texts

pytestmark = ANYWHERE


def test_a_request_is_searchable_as_soon_as_add_returns(open_store: OpenStore) -> None:
    writing, reading = open_store(), open_store()
    for number in range(5):
        writing.add(request("ada", f"r{number}", f"text {number}"))
        assert texts(writing)[-1] == texts(reading)[-1] == f"text {number}"


def test_the_same_request_again_is_kept_once(open_store: OpenStore) -> None:
    store = open_store()
    stored = request("ada", "r1", "one", "two")
    store.add(stored)
    store.add(stored)
    assert texts(store) == ["one", "two"]
    reopened = open_store()
    reopened.add(stored)
    assert texts(reopened) == texts(store) == ["one", "two"]


def test_the_first_time_counts(store: LanceStore) -> None:
    store.add(request("ada", "r1", "one", created_at=1_000))
    store.add(request("ada", "r1", "one", created_at=2_000))
    assert [memory.created_at for memory in store.arrays("ada").memories] == [1_000]


def test_the_same_request_at_the_same_time_is_kept_once(store: LanceStore) -> None:
    stored = request("ada", "r1", "one", "two")
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda _: outcome(store, stored), range(16))) == [None] * 16
    assert texts(store) == ["one", "two"]


def test_another_body_under_a_known_request_id_is_refused_and_changes_nothing(open_store: OpenStore) -> None:
    store = open_store()
    store.add(request("ada", "r1", "one"))
    for each in (store, open_store()):
        with pytest.raises(RequestConflict):
            each.add(request("ada", "r1", "other"))
        assert texts(each) == ["one"]


def test_of_two_bodies_sent_at_the_same_time_one_is_kept(store: LanceStore) -> None:
    bodies = [request("ada", "r1", f"body {number}") for number in range(16)]
    with ThreadPoolExecutor(16) as pool:
        outcomes = list(pool.map(lambda body: outcome(store, body), bodies))
    assert sorted(outcomes, key=repr) == [RequestConflict] * 15 + [None]
    assert texts(store) == [f"body {outcomes.index(None)}"]


def test_many_requests_at_the_same_time_are_all_kept_whole(open_store: OpenStore) -> None:
    store = open_store(commit_requests=7)
    requests = [request(f"user {n % 5}", f"r{n}", *(f"{n} {m}" for m in range(3))) for n in range(100)]
    store.add(request("user 0", "taken", "first"))
    conflicts = [request("user 0", "taken", f"other {n}") for n in range(10)]
    with ThreadPoolExecutor(32) as pool:
        outcomes = list(pool.map(lambda stored: outcome(store, stored), requests + conflicts))
    assert outcomes == [None] * 100 + [RequestConflict] * 10
    for user in range(5):
        kept = [text for text in texts(store, f"user {user}") if text != "first"]
        assert sorted(kept) == sorted(f"{n} {m}" for n in range(user, 100, 5) for m in range(3))
        assert all(kept[n : n + 3] == [f"{kept[n].split()[0]} {m}" for m in range(3)] for n in range(0, len(kept), 3))
        assert texts(open_store(), f"user {user}") == texts(store, f"user {user}")


def test_a_request_is_known_after_hours(open_store: OpenStore) -> None:
    """When its table has been compacted again and again, old versions are gone, and its arrays have left memory."""
    store = open_store(compact_fragments=2, version_minutes=0.0001, cache_bytes=0)
    first = request("ada", "r1", "one", "two")
    store.add(first)
    for number in range(20):
        store.add(request("ada", f"later {number}", f"text {number}"))
        store.add(request("bob", f"later {number}", f"of bob {number}"))
    table = store._location.open(table_name("ada"))
    assert table is not None
    assert table.fragments <= 3
    for each in (store, open_store()):
        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(lambda _, known=each: outcome(known, first), range(16))) == [None] * 16
        assert outcome(each, request("ada", "r1", "one", "other")) is RequestConflict
        assert texts(each) == ["one", "two", *(f"text {number}" for number in range(20))]


def test_a_retry_may_leave_out_what_is_stored(store: LanceStore) -> None:
    stored = request("ada", "r1", "one")
    retry = replace(stored, memories=())
    with pytest.raises(StoreUnavailable, match="send it again"):
        store.add(retry)
    store.add(stored)
    store.add(retry)
    with pytest.raises(RequestConflict):
        store.add(replace(retry, body_hash=b"other"))
    assert texts(store) == ["one"]


def test_the_same_request_id_of_two_users_is_two_requests(store: LanceStore) -> None:
    store.add(request("ada", "r1", "of ada"))
    store.add(request("bob", "r1", "of bob"))
    assert (texts(store, "ada"), texts(store, "bob")) == (["of ada"], ["of bob"])


def test_closing_finishes_what_was_accepted_and_takes_no_more(open_store: OpenStore) -> None:
    store = open_store(commit_requests=1)
    stored = [request("ada", f"r{number}", f"text {number}") for number in range(20)]
    with ThreadPoolExecutor(20) as pool:
        outcomes = [pool.submit(outcome, store, each) for each in stored]
        store.close()
        kept = [number for number, each in enumerate(outcomes) if each.result() is None]
    assert sorted(texts(open_store())) == sorted(f"text {number}" for number in kept)
    with pytest.raises(StoreUnavailable, match="closed"):
        store.add(request("ada", "late", "late"))
