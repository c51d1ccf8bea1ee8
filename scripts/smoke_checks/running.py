"""The checks in their order, each with a deadline, and what came of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from smoke_checks import access, cleaning, images, limits, memories, mistakes, retries, users, writing
from smoke_checks.target import Failed, Skipped, Target, require

Outcome = Literal["PASS", "FAIL", "SKIP"]
Check = Callable[[Target], str]

CHECKS: dict[str, Check] = {
    "health": partial(access.health, seconds=0),
    "key": access.key_is_accepted,
    "wrong-key": access.others_are_refused,
    "echo": memories.echo,
    "search": memories.found_at_once,
    "forms": memories.forms_of_content,
    "times": memories.times,
    "options": memories.options,
    "text-to-image": images.text_finds_a_picture,
    "image-to-image": images.picture_finds_itself,
    "image-bytes": images.bytes_come_back,
    "parts": images.order_of_parts,
    "isolation": users.isolation,
    "look-alikes": users.look_alikes,
    "unknown-user": users.strangers,
    "top-k": limits.top_k,
    "bad-top-k": limits.bad_top_k,
    "retry": retries.retry,
    "conflict": retries.conflict,
    "bad-json": mistakes.bad_json,
    "bad-fields": mistakes.bad_fields,
    "bad-images": mistakes.bad_images,
    "unicode": writing.torture,
    "large-body": limits.large_body,
    "too-large": limits.too_large,
    "concurrency": retries.concurrency,
    "answers": lambda target: shapes(target, "answers"),
    "errors": lambda target: shapes(target, "errors"),
    "clean-up": cleaning.clean_up,
}


@dataclass(frozen=True)
class Result:
    """What came of a check, why, and how long it took."""

    name: str
    outcome: Outcome
    seconds: float
    reason: str


def shapes(target: Target, kind: str) -> str:
    """Whether every answer of the run, or every refusal, had the contract's shape."""
    faults = target.shapes.faults[kind].most_common(3)
    require(not faults, "; ".join(f"{fault} ({count} times)" for fault, count in faults))
    return f"{target.shapes.seen[kind]:,} looked at"


def run(target: Target, names: list[str], deadline: float, patience: float) -> Iterator[Result]:
    """The results of these checks as they come; `patience`: seconds until it must be healthy.

    A service that is not healthy is asked nothing more.
    """
    checks = CHECKS | {"health": partial(access.health, seconds=patience)}
    healthy = True
    for name in names:
        if healthy:
            result = within(deadline, name, checks[name], target)
        else:
            result = Result(name, "SKIP", 0.0, "the service is not healthy")
        healthy = healthy and not (name == "health" and result.outcome == "FAIL")
        yield result


def within(deadline: float, name: str, check: Check, target: Target) -> Result:
    """The result of one check, which fails when it takes longer."""
    results: list[tuple[Outcome, str]] = []
    began = time.monotonic()
    # A daemon: a check that hangs does not keep the process from ending.
    thread = threading.Thread(target=lambda: results.append(outcome(check, target)), daemon=True)
    thread.start()
    thread.join(deadline)
    [(came_out, reason)] = results[:1] or [("FAIL", f"it was not done after {deadline:g} s")]
    return Result(name, came_out, time.monotonic() - began, reason)


def outcome(check: Check, target: Target) -> tuple[Outcome, str]:
    """What comes of a check, in words."""
    try:
        return "PASS", check(target)
    except Skipped as why:
        return "SKIP", str(why)
    except Failed as why:
        return "FAIL", str(why)
    except Exception as error:  # an answer of a shape that the check did not expect
        return "FAIL", f"an answer could not be understood: {type(error).__name__}: {error}"
