"""Whether it is up, and who is let in."""

from __future__ import annotations

import time
from functools import partial

from smoke_checks.target import SCHEMES, Failed, Skipped, Target, add_body, credentials, require


def health(target: Target, seconds: float) -> str:
    """/health answers 2xx, without a key, within so many seconds."""
    ends = time.monotonic() + seconds
    while True:
        try:
            answer = target.call("GET", "/health", headers={}, tries=1)
        except Failed as error:
            seen = str(error)
        else:
            if 200 <= answer.status < 300:
                said = answer.value if isinstance(answer.value, dict) else {}
                return ", ".join(f"{name} {said[name]}" for name in ("version", "profile") if name in said)
            seen = f"GET /health was answered {answer}"
        require(time.monotonic() < ends, seen)
        time.sleep(0.5)


def key_is_accepted(target: Target) -> str:
    """The right key by every scheme; without a key, everyone."""
    user, asked = target.user("key"), {"query": "anything", "user_id": target.user("key"), "top_k": 1}
    if not target.key:
        statuses = [
            target.post_add(add_body(user, "the door is open")).status,
            target.call("POST", "/search", asked).status,
        ]
        require(401 not in statuses, "it asks for a key: give --key or set MMMEM_API_KEY")
        require(statuses == [200, 200], f"Add and Search without a key were answered {statuses}")
        return "open: no key was given and none is asked for"
    target.remember(user)
    for scheme in target.schemes:
        headers = credentials(scheme, target.key)
        for path, body in (("/add", add_body(user, "the door is open", request=scheme)), ("/search", asked)):
            answer = target.call("POST", path, body, headers)
            require(answer.status == 200, f"the right key by {scheme} was answered {answer} on {path}")
    return ", ".join(target.schemes)


def others_are_refused(target: Target) -> str:
    """A wrong key by every scheme, and none: 401, and nothing is kept."""
    if not target.key:
        raise Skipped("no key was given")
    user, key = target.user("no-key"), target.key
    wrong = {"another": "wrong", "longer": key + "x", "shorter": key[:-1], "in another case": key.swapcase()}
    tries = {"no key": {}, "Basic": {"Authorization": f"Basic {key}"}, "the bare key": {"Authorization": key}}
    for scheme in SCHEMES:
        tries |= {
            f"a key that is {how}, {scheme}": credentials(scheme, bad) for how, bad in wrong.items() if bad != key
        }
        if scheme not in target.schemes:
            tries[f"the right key by {scheme}"] = credentials(scheme, key)
    send = partial(target.call, "POST")
    target.add(user, "may be kept")
    for name, headers in tries.items():
        for path, body in (
            ("/add", add_body(user, "must not be kept", request=name)),
            ("/search", {"query": "anything", "user_id": user, "top_k": 1}),
        ):
            answer = send(path, body, headers)
            require(answer.status == 401, f"{name}: {path} was answered {answer.status}, not 401")
    found = target.search(user, "what was kept?")
    require(len(found) == 1, f"after Adds without the key {len(found)} memories are there, not the 1 that was")
    return f"{len(tries)} ways"
