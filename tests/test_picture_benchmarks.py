"""The benchmarks of conversations among pictures, and of many photos, measure what they say they do."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from mmmem.types import ImagePart, TextPart
from tests.test_benchmarks import run

SCRIPTS = Path(__file__).parents[1] / "scripts"
CONVERSATIONS = Path(__file__).parent / "conversations.json"


@pytest.fixture
def mixed(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("bench_mixed")


@pytest.fixture
def photos(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("bench_photos")


def parts(conversation, kind):
    return [
        part
        for add in conversation.adds
        for message in add.messages
        for part in message.parts
        if isinstance(part, kind)
    ]


def test_every_picture_is_mixed_in_once_and_nothing_that_was_said_changes(mixed):
    shown = mixed.pictures(9)
    assert len({part.data for part in shown}) == 9
    for conversation in mixed.read(CONVERSATIONS):
        plain, beside, between = (mixed.mixed(conversation, shown, mix) for mix in mixed.MIXES)
        assert plain == conversation
        for one in (beside, between):
            assert parts(one, TextPart) == parts(conversation, TextPart)
            assert sorted(part.data for part in parts(one, ImagePart)) == sorted(part.data for part in shown)
            requests = [add.request_id for add in one.adds]
            assert len(requests) == len(set(requests))
        assert {add.session_id for add in between.adds} == {add.session_id for add in conversation.adds}
        alone = [add for add in beside.adds if add.session_id.endswith(" pictures")]
        assert sum(len(add.messages) for add in alone) == 9


def test_the_conversations_are_measured_with_and_without_pictures(tmp_path):
    file = tmp_path / "table.md"
    done = run("bench_mixed.py", "--data", str(CONVERSATIONS), "--pictures", "3", "--markdown", str(file))
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in file.read_text().strip().splitlines()[2:]]
    assert [row[0].strip() for row in rows] == ["as it is", "pictures beside", "pictures between"]
    assert all(0 < float(row[-1]) <= 1 for row in rows)
    assert len({row[1] for row in rows}) == 1


def test_photos_are_large_and_no_two_alike(photos):
    files = list(photos.photos(6))
    assert len(set(files)) == 6
    assert files == list(photos.photos(6))
    for file in files:
        image = photos.opened(file)
        assert 0.95 * photos.LEAST <= image.width * image.height <= 1.05 * photos.MOST


def test_growth_is_what_comes_after_everything_was_loaded(photos):
    def rows(*resident):
        return [photos.Row(100 * number, mib * photos.MIB, 1.0) for number, mib in enumerate(resident, 1)]

    assert not photos.grown(rows(900, 1_500, 1_530, 1_500, 1_550), growth=64)
    [fault] = photos.grown(rows(900, 1_500, 1_530, 1_600, 1_610), growth=64)
    assert "400" in fault


def test_a_broken_photo_among_others_fails_alone():
    done = run("bench_photos.py", "--photos", "3", "--broken", "2")
    assert (done.returncode, done.stderr) == (0, "")
