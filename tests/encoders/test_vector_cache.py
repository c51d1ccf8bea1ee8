"""A cache of vectors stays within its size, is shared, and is never a reason to fail."""

from __future__ import annotations

import multiprocessing
import sqlite3

import numpy as np
import pytest

from mmmem.encoders.vector_cache import FILE, VectorCache

WIDTH = 1024


@pytest.fixture
def cache(tmp_path):
    """Makes caches in one folder."""
    made = []

    def make(limit=10 << 20):
        made.append(VectorCache(tmp_path / "cache", limit))
        return made[-1]

    yield make
    for each in made:
        each.close()


def key(number):
    return number.to_bytes(32, "big")


def vector(number):
    return np.random.default_rng(number).standard_normal(WIDTH).astype(np.float32)


def fill(cache, numbers):
    for number in numbers:
        cache.put({key(number): vector(number)})


def held(cache, numbers):
    return {number for number in numbers if cache.get([key(number)])}


def same(cache, number):
    return np.array_equal(cache.get([key(number)])[key(number)], vector(number))


def test_vectors_come_back_as_they_were_also_in_another_process(cache):
    first = cache()
    first.put({key(i): vector(i) for i in range(3)})
    second = cache()
    found = second.get([key(i) for i in range(5)])
    assert set(found) == {key(0), key(1), key(2)}
    assert all(same(second, i) for i in range(3))
    assert found[key(0)].dtype == np.float32


def test_the_least_recently_used_leave_and_the_file_stays_within_its_size(cache, tmp_path):
    limit = 512 << 10  # about a hundred vectors
    small = cache(limit)
    fill(small, range(60))
    assert held(small, range(20)) == set(range(20))  # used: now younger than 20 to 59
    fill(small, range(100, 160))
    kept = held(small, range(160))
    assert set(range(20)) <= kept
    assert set(range(100, 160)) <= kept
    assert len(kept) < 120
    fill(small, range(1000, 1400))
    small.close()
    assert sum(file.stat().st_size for file in (tmp_path / "cache").iterdir()) <= limit + (64 << 10)


def test_a_smaller_limit_holds_at_once(cache):
    fill(cache(), range(50))
    smaller = cache(128 << 10)
    fill(smaller, [50])
    kept = held(smaller, range(51))
    assert 50 in kept
    assert len(kept) < 30
    assert kept == set(range(min(kept), 51))


def test_no_room_for_anything_keeps_nothing(cache):
    tiny = cache(1)
    fill(tiny, range(3))
    assert held(tiny, range(3)) == set()


DAMAGE = {
    "no database": lambda file: file.write_bytes(b"this is no database" * 1000),
    "zeros in the middle": lambda file: overwrite(file, 2 * 4096, bytes(6 * 4096)),
    "noise in the middle": lambda file: overwrite(file, 4096, np.random.default_rng(0).bytes(8 * 4096)),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[: 3 * 4096 + 100]),
    "empty": lambda file: file.write_bytes(b""),
}


def overwrite(file, place, content):
    with file.open("r+b") as opened:
        opened.seek(place)
        opened.write(content)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_thrown_away_and_used_again(cache, tmp_path, damage):
    before = cache()
    fill(before, range(50))
    before.close()
    DAMAGE[damage](tmp_path / "cache" / FILE)
    after = cache()
    for number in held(after, range(50)):
        assert same(after, number), "what is found is right"
    for _ in range(2):  # the first may be what finds the damage
        fill(after, range(50))
    assert held(after, range(50)) == set(range(50))
    assert same(after, 7)


def test_an_entry_that_was_altered_is_not_found(cache, tmp_path):
    fill(cache(), [1, 2, 3])
    with sqlite3.connect(tmp_path / "cache" / FILE) as file:
        (blob,) = file.execute("SELECT vector FROM vectors WHERE key = ?", (key(1),)).fetchone()
        altered = bytes([blob[0] ^ 1]) + blob[1:]
        file.execute("UPDATE vectors SET vector = ? WHERE key = ?", (altered, key(1)))
        file.execute("UPDATE vectors SET vector = 'words' WHERE key = ?", (key(2),))
    file.close()
    again = cache()
    assert held(again, [1, 2, 3]) == {3}
    fill(again, [1])
    assert same(again, 1)


def test_a_folder_that_cannot_be_used_is_no_reason_to_fail(tmp_path, cache, caplog):
    (tmp_path / "cache").write_text("a file where the folder should be")
    useless = cache()
    fill(useless, range(3))
    assert useless.get([key(1)]) == {}
    assert len(caplog.records) == 1, "it is said once"
    assert str(tmp_path) not in caplog.text


def test_a_writer_that_holds_the_file_does_not_hold_up_readers(cache, tmp_path):
    used = cache()
    fill(used, [1])
    other = sqlite3.connect(tmp_path / "cache" / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert same(used, 1)
    fill(used, [2])  # left out
    other.execute("ROLLBACK")
    other.close()
    assert held(used, [1, 2]) == {1}
    fill(used, [2])
    assert same(used, 2)


def test_after_the_end_nothing_is_found(cache):
    ended = cache()
    fill(ended, [1])
    ended.close()
    fill(ended, [2])
    assert ended.get([key(1)]) == {}
    assert held(cache(), [1, 2]) == {1}


def work(folder, first):
    shared = VectorCache(folder, 1 << 20)
    for number in range(first, first + 150):
        shared.put({key(number): vector(number)})
        for other in (number, number - 75, number + 75):
            for found in shared.get([key(other)]).values():
                assert np.array_equal(found, vector(other))
    shared.close()


def test_several_processes_share_it(tmp_path):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=work, args=(tmp_path / "cache", 100 + 50 * i)) for i in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    last = VectorCache(tmp_path / "cache", 1 << 20)
    assert held(last, range(100, 350))
    fill(last, [1])
    assert same(last, 1)
    last.close()
