"""What scripts/bench_images.py tells and asks: four users' memories, and questions with the memories that answer them.

Photos come with scikit-image and scikit-learn, everything else is drawn or made up here; what is said about them is in
benchmark_images.json. Beside what is asked for, each user has the same 880 turns of talk and facts and, but for `texts`, 120 more
pictures. The users, by what is theirs alone:

    pictures   25 photos and 48 screenshots, each a message without text
    bland      the photos, each with a text that says nothing
    contexts   12 photos in two messages each, that say other things of it; 13 photos without text and a turn about each
    texts      what `pictures` holds, without the pictures
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from benchmark_alterations import ALTERATIONS, jpeg, opened, png
from benchmark_distractors import distractors
from benchmark_screens import render
from benchmark_talk import talk

SEED = 0
TALK = 840  # turns, beside the facts
SESSION_TURNS = 16
BEGIN_MS, TURN_MS, SESSION_MS = 1_704_182_400_000, 60_000, 8 * 3_600_000  # from 2 January 2024, 8:00
TEXTURES = ("skimage/brick.png", "skimage/grass.png", "skimage/gravel.png")
EVERY = 3  # a screenshot is asked for by every third alteration, or the run would take minutes more
USERS = ("pictures", "bland", "contexts", "texts")

MADE_UP: Mapping[str, Any] = json.loads(Path(__file__).with_name("benchmark_images.json").read_text(encoding="utf-8"))


class Said(NamedTuple):
    """A message before it has its place. `key` names it among the user's memories."""

    key: str
    text: str = ""
    image: bytes = b""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, told as the user `user`: text, a picture (the file's bytes), or both. `timestamp` is in Unix ms, its own."""

    user: str
    session: str
    role: str
    timestamp: int
    key: str
    text: str
    image: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """Text, a picture, or both, asked as `user`. `expected`: keys of the turns that answer it, any of them will do.

    `known`: keys that are not counted when it is ranked, the turns that show just what was asked with. `kind` is what
    --only chooses, `row` the line of the table, `name` says which one it is.
    """

    kind: str
    row: str
    name: str
    user: str
    expected: frozenset[str]
    text: str = ""
    image: bytes = field(default=b"", repr=False)
    known: frozenset[str] = frozenset()


@cache
def photo(name: str) -> bytes:
    """The file of "skimage/..." or "sklearn/..."."""
    package, _, file = name.partition("/")
    folder = files("skimage") / "data" if package == "skimage" else files("sklearn") / "datasets" / "images"
    return (folder / file).read_bytes()


@cache
def screens() -> dict[str, bytes]:
    """The screenshots that are asked for, as PNG files, by key: "chat 0", ..."""
    made = MADE_UP["screens"].items()
    return {f"{kind} {n}": png(render(kind, content, n)) for kind, some in made for n, content in enumerate(some)}


@cache
def others() -> dict[str, bytes]:
    """The pictures that nobody asks for, as PNG files, by key."""
    return {name: png(image) for name, image in distractors({name: opened(photo(name)) for name in TEXTURES}).items()}


@cache
def corpus(user: str) -> tuple[Turn, ...]:
    """All messages of a user, in the order in which they are told."""
    if user == "texts":
        return tuple(_without_picture(turn) for turn in corpus("pictures") if not turn.image)
    said = [[Said(f"talk {n}", text)] for n, text in enumerate(talk(TALK, SEED))]
    said += [[Said(f"fact {n}", fact)] for n, (fact, _) in enumerate(MADE_UP["facts"])]
    said += [[Said(key, image=image)] for key, image in others().items()]
    said += {"pictures": _pictures, "bland": _bland, "contexts": _contexts}[user]()
    random.Random(SEED).shuffle(said)
    return tuple(_placed(user, list(chain(*said))))


def _without_picture(turn: Turn) -> Turn:
    return Turn("texts", turn.session, turn.role, turn.timestamp, turn.key, turn.text, b"")


def _pictures() -> list[list[Said]]:
    photos = [[Said(name, image=photo(name))] for name in MADE_UP["photos"]]
    return photos + [[Said(key, image=image)] for key, image in screens().items()]


def _bland() -> list[list[Said]]:
    texts: Sequence[str] = MADE_UP["bland"]
    return [[Said(name, texts[n % len(texts)], photo(name))] for n, name in enumerate(MADE_UP["photos"])]


def _contexts() -> list[list[Said]]:
    told = [[Said(f"{name} in context {c}", text, photo(name))] for name, c, text, _ in _twice()]
    pairs = MADE_UP["beside"].items()
    return told + [[Said(name, image=photo(name)), Said(f"beside {name}", text)] for name, (text, _) in pairs]


def _twice() -> Iterator[tuple[str, int, str, str]]:
    """Photo, context, what is told with it, and the question that tells this message from the photo's other one.

    Each context is that of four photos, so that neither the photo nor the words are enough.
    """
    contexts = MADE_UP["contexts"]
    used = [0] * len(contexts)
    for n, name in enumerate(MADE_UP["twice"]):
        for c in (n % len(contexts), (n + 1 + n // len(contexts)) % len(contexts)):
            yield name, c, contexts[c]["told"][used[c]], contexts[c]["asked"]
            used[c] += 1


def _placed(user: str, said: Sequence[Said]) -> Iterator[Turn]:
    for n, (key, text, image) in enumerate(said):
        session, place = divmod(n, SESSION_TURNS)
        timestamp = BEGIN_MS + session * SESSION_MS + place * TURN_MS
        yield Turn(user, f"session {session}", ("user", "assistant")[n % 2], timestamp, key, text, image)


def questions() -> Iterator[Question]:
    """Everything that is asked, by kind and row."""
    yield from _text_to_image()
    yield from _image_to_image()
    yield from _written()
    yield from _joint()
    yield from _texts()


def _text_to_image() -> Iterator[Question]:
    rows = {"pictures": "photo without text", "bland": "photo with a bland text"}
    for user, row in rows.items():
        for name, asked in MADE_UP["photos"].items():
            for text in asked:
                yield Question("text-to-image", row, name, user, _showing(name), text)


def _showing(name: str) -> frozenset[str]:
    """A photo, and where it is of a texture the patches of it: words fit them as well."""
    return frozenset({name, *(key for key in others() if key.startswith(f"{name} patch "))})


def _image_to_image() -> Iterator[Question]:
    pictures = {name: (opened(photo(name)), jpeg) for name in MADE_UP["photos"]}
    pictures |= {key: (opened(file), png) for key, file in screens().items()}
    for a, (row, altered) in enumerate(ALTERATIONS.items()):
        for p, (key, (image, written)) in enumerate(pictures.items()):
            if key in MADE_UP["photos"] or (p + a) % EVERY == 0:
                copy = written(altered(image))
                yield Question("image-to-image", row, key, "pictures", frozenset({key}), image=copy)


def _written() -> Iterator[Question]:
    for kind, some in MADE_UP["screens"].items():
        for n, content in enumerate(some):
            for text in content["questions"]:
                yield Question("written", kind, f"{kind} {n}", "pictures", frozenset({f"{kind} {n}"}), text)


def _joint() -> Iterator[Question]:
    for n, (name, context, _, asked) in enumerate(_twice()):
        expected = frozenset({f"{name} in context {context}"})
        row = "picture and words: which of its two messages"
        yield Question("joint", row, name, "contexts", expected, asked, _copy(name, n))
    for row in ("picture and words: the turn after it", "picture alone: the turn after it"):
        for n, (name, (_, asked)) in enumerate(MADE_UP["beside"].items()):
            text = asked if "words" in row else ""
            expected, known = frozenset({f"beside {name}"}), frozenset({name})
            for copy in (_copy(name, n), _copy(name, n + 7)):
                yield Question("joint", row, name, "contexts", expected, text, copy, known)


def _copy(name: str, n: int) -> bytes:
    """The photo, altered in one of the ways."""
    return jpeg(list(ALTERATIONS.values())[n % len(ALTERATIONS)](opened(photo(name))))


def _texts() -> Iterator[Question]:
    rows = {"texts": "fact, without pictures in memory", "pictures": "fact, among pictures"}
    for user, row in rows.items():
        for n, (_, text) in enumerate(MADE_UP["facts"]):
            yield Question("texts", row, f"fact {n}", user, frozenset({f"fact {n}"}), text)
