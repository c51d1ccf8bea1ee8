"""Memories never cross users, however alike their ids."""

from __future__ import annotations

import unicodedata
from functools import partial

from smoke_checks.crowd import at_once
from smoke_checks.reading import copies_of, first_line
from smoke_checks.target import Target, require

CALLERS = 6


def isolation(target: Target) -> str:
    """Two users with the same session and request ids; each finds only what is their own."""
    secrets = {
        name: f"the safe of {name} opens with {number}" for number, name in enumerate(("ann", "bob", "cem"), 4711)
    }
    for name, secret in secrets.items():
        target.add(target.user(name), secret)
    for name in secrets:
        found = target.search(target.user(name), "What opens the safe?")
        for other, secret in secrets.items():
            copies, wanted = copies_of(secret, found), int(other == name)
            require(copies == wanted, f"{name} finds {copies} memories of {other}, not {wanted}")
        require(len(found) == 1, f"{name} has 1 memory and finds {len(found)}")
    return f"{len(secrets)} users"


def look_alikes(target: Target) -> str:
    """User ids that a careless comparison, file name or filter takes for the same."""
    users = [target.user(name) for name in dict.fromkeys(relatives("Ädá ﬁne"))]

    def tell(number: int) -> None:
        target.add(users[number], f"the number of the safe is {number}.", request=f"r{number}")

    def ask(number: int) -> list[str]:
        return [first_line(item) for item in target.search(users[number], "What is the number of the safe?")]

    places = range(len(users))
    at_once([partial(tell, number) for number in places], CALLERS)
    for number, found in zip(places, at_once([partial(ask, number) for number in places], CALLERS), strict=True):
        others = [line for line in found if f"the safe is {number}." not in line]
        which = ascii(users[number][len(target.prefix) :][:30])
        require(not others, f"user {which} finds {len(others)} memories of others")
        require(len(found) == 1, f"user {which} has 1 memory and finds {len(found)}")
    return f"{len(users)} look-alikes"


def relatives(name: str) -> list[str]:
    """The id, and those that are nearly it."""
    long = name + "x" * 10_000
    return [
        *(name, name.lower(), name.upper(), name.swapcase(), name[:-1], f"{name}{name}"),
        *(unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC", "NFKD")),
        *(
            name + end
            for end in (" ", "\0", "\n", "\r\n", "'", '"', "/", "/..", "\\", "%", "%20", "*", "_", ".", "?", "#")
        ),
        *(
            name + end
            for end in ("\ufeff", "\u200d", "\u202e", "🦊", "🦊\ufe0f", "\ud800", "' OR '1'='1", "; DROP TABLE x")
        ),
        *(start + name for start in (" ", "./", "../", "/", "\0", "'")),
        *(name.replace(" ", "%20"), name.replace(" ", "+"), name.replace(" ", "\u00a0"), name.replace(" ", "")),
        *(long, long + "x", long[:-1] + "y"),
    ]


def strangers(target: Target) -> str:
    """A user who was never told anything has an empty list."""
    for name in ("nobody", "nobody/../else", "никто"):
        found = target.search(target.user(name), "anything at all", top_k=100)
        require(found == [], f"an unknown user finds {len(found)} memories")
    return "[]"
