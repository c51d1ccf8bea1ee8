"""Memory is bounded, and what has left it is answered all the same."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from mmmem.store.cache import TableCache
from tests.store.content import OpenStore, request


@pytest.mark.parametrize("cache_bytes", [0, 100_000])
def test_answers_do_not_depend_on_the_cache(open_store: OpenStore, cache_bytes: int) -> None:
    store = open_store(cache_bytes=cache_bytes)
    users = [f"user {number}" for number in range(8)]
    for number in range(3):
        for user in users:
            store.add(request(user, f"r{number}", f"{user} {number} " + "text " * 2_000))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(store.arrays, users * 3))
    for user, arrays in zip(users * 3, found, strict=True):
        assert [memory.text.strip()[: len(user) + 2] for memory in arrays.memories] == [f"{user} {n}" for n in range(3)]


@pytest.mark.parametrize("cache_bytes", [0, 200_000])
def test_what_is_kept_of_many_users_files_is_bounded_too(open_store: OpenStore, cache_bytes: int) -> None:
    store = open_store()
    users = [f"user {number}" for number in range(30)]
    for user in users:
        store.add(request(user, "r", user))
    visiting = open_store(cache_bytes=cache_bytes)
    for user in users:
        assert len(visiting.arrays(user)) == 1
    assert visiting._location.tables.session.size_bytes <= cache_bytes / 4 + 1_000  # an empty one has some too
    assert store._location.tables.session.size_bytes > 50_000  # so there would have been more


class Sized:
    """Stands for a table: the cache asks it for nothing but its size."""

    def __init__(self, name: str) -> None:
        self.nbytes = len(name)


def test_the_least_recently_used_leave_first() -> None:
    made: list[str] = []
    cache = TableCache(10, lambda name: made.append(name) or Sized(name))  # type: ignore[arg-type, func-returns-value]
    for name in ("aaaa", "bbbb", "aaaa", "cccc"):  # 12 bytes: bbbb has to go
        cache.get(name)
        cache.settle(name)
    for name in ("aaaa", "cccc"):
        cache.get(name)
    assert made == ["aaaa", "bbbb", "cccc"]
    cache.get("bbbb")
    assert made[-1] == "bbbb"


def test_what_grows_is_counted_anew() -> None:
    made: list[str] = []
    cache = TableCache(10, lambda name: made.append(name) or Sized(name))  # type: ignore[arg-type, func-returns-value]
    cache.get("a")
    cache.settle("a")
    cache.get("b").nbytes = 10  # type: ignore[misc]
    cache.settle("b")
    cache.get("a")
    assert made == ["a", "b", "a"]
