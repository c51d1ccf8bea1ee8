"""The image benchmark asks what its memories answer, tells it to a real service, and counts what came back correctly."""

from __future__ import annotations

from contextlib import closing
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture
def made(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("benchmark_pictures")


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("bench_images")


def test_every_question_has_its_answer_among_a_thousand_other_memories(made):
    keys = {user: {turn.key for turn in made.corpus(user)} for user in made.USERS}
    asked = list(made.questions())
    assert all(question.expected | question.known <= keys[question.user] for question in asked)
    assert all(question.text or question.image for question in asked)
    wanted = {key for question in asked if question.kind != "texts" for key in question.expected}
    assert len(keys["pictures"] - {key for key in wanted if "patch" not in key}) == 1_000
    assert {name for question in asked if question.kind == "written" for name in question.expected} == set(
        made.screens()
    )


def test_only_the_picture_can_answer_where_it_is_told_without_text(made):
    for turn in made.corpus("pictures"):
        assert bool(turn.image) != bool(turn.text)
    assert {turn.text for turn in made.corpus("bland") if turn.image} <= {"", *made.MADE_UP["bland"]}


def test_neither_the_photo_nor_the_words_alone_say_which_message_is_meant(made):
    asked = [question for question in made.questions() if question.row.endswith("which of its two messages")]
    contexts = [(key.rpartition(" in context ")) for question in asked for key in question.expected]
    photos, numbers = [photo for photo, _, _ in contexts], [number for _, _, number in contexts]
    assert len(set(contexts)) == len(contexts)
    assert {photos.count(photo) for photo in photos} == {2}
    assert {numbers.count(number) for number in numbers} == {4}


def test_memories_are_told_apart_by_their_times_and_are_the_same_every_time(made):
    for user in made.USERS:
        turns = made.corpus(user)
        assert len({turn.timestamp for turn in turns}) == len({turn.key for turn in turns}) == len(turns)
    said = made.corpus("pictures")
    for function in (made.corpus, made.screens, made.others):
        function.cache_clear()
    assert made.corpus("pictures") == said
    assert [turn.key for turn in made.corpus("texts")] == [turn.key for turn in said if turn.text]


def test_no_two_pictures_are_the_same_and_every_altered_copy_differs_from_its_original(made):
    images = [turn.image for turn in made.corpus("pictures") if turn.image]
    assert len(set(images)) == len(images)
    for name in ("skimage/astronaut.png", "sklearn/china.jpg"):
        original = made.opened(made.photo(name))
        copies = {row: altered(original) for row, altered in made.ALTERATIONS.items()}
        assert all(copy.mode == "RGB" for copy in copies.values())
        files = {made.png(copy) for copy in [original, *copies.values()]}
        assert len(files) == 1 + len(copies)


def test_the_picture_that_was_asked_with_is_not_counted_but_is_what_came_first(bench):
    photo = bench.Turn("u", "s", "user", 1, "photo", "", b"file")
    beside, other = (
        bench.Turn("u", "s", "user", time, key, "text", b"") for time, key in ((2, "beside"), (3, "other"))
    )
    keys = {turn.timestamp: turn for turn in (photo, beside, other)}

    def judged(*times, known=("photo",)):
        question = bench.Question("joint", "row", "n", "u", frozenset({"beside"}), "what?", known=frozenset(known))
        return bench.answered(question, times, keys)

    assert (judged(1, 2, 3).rank, judged(1, 2, 3).first, judged(1, 2, 3).picture_first) == (1, "photo", True)
    assert judged(1, 2, known=()).rank == 2
    assert (judged(3, 1, 2).rank, judged(3, 1, 2).picture_first) == (2, False)
    assert (judged(3).rank, judged().rank, judged().first) == (None, None, "")
    row = bench.summed("joint", "row", [judged(1, 2), judged(3, 1, 2), judged(3), judged()])
    assert (row.questions, row.r_at_1, row.r_at_5, row.mrr, row.picture_first) == (4, 0.25, 0.5, 0.375, 0.25)
    assert [miss["rank"] for miss in bench.misses([judged(1, 2), judged(3, 1, 2), judged(3)])] == [2, None]


def test_a_running_service_is_told_and_asked_over_http(bench, made, service):
    turns = [turn for turn in made.corpus("pictures") if turn.session in {"session 0", "session 1"}]
    keys = {turn.timestamp: turn for turn in turns}
    with closing(bench.Memory(service.url, key=None)) as memory:
        told = []
        for _ in range(2):  # the second time it knows them
            memory.tell(turns, told.append)
        assert sum(told) == 2 * len(turns)
        for turn in (next(turn for turn in turns if turn.image), next(turn for turn in turns if turn.text)):
            question = bench.Question("texts", "row", "n", "pictures", frozenset({turn.key}), turn.text, turn.image)
            answer = bench.answered(question, memory.times(bench.named(turns), question), keys)
            assert (answer.rank, answer.picture_first) == (1, bool(turn.image))
