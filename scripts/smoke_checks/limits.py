"""Bounds: of top_k, and of what one request may carry. The figures are those of docs/api.md."""

from __future__ import annotations

from typing import Any

from demo_sample import data_url, image_part

from smoke_checks.pictures import large
from smoke_checks.reading import place_of, urls_of
from smoke_checks.target import Answer, Target, add_body, require

MANY = 105
BEYOND = 1_000_000_000
SIDE = 1_850  # pixels: 9.8 MiB as a PNG that is not compressed, and three of them 29.4
TOO_LONG_SIDE = 1_900  # 10.3 MiB, where an image may have 10
BODY_BYTES = 64 * 1024 * 1024


def top_k(target: Target) -> str:
    """Never more than top_k, and as many as that where there are."""
    user = target.user("top-k")
    target.add(user, *(f"parcel {number} is on shelf {number * 7}" for number in range(MANY)))
    for asked in (1, 10, 100, 1_000):
        found = len(target.search(user, "Which shelf?", top_k=asked))
        require(found <= asked, f"top_k {asked} was answered with {found} memories")
        require(found >= min(asked, 100), f"top_k {asked} of {MANY} memories was answered with {found}")
    return f"1, 10, 100 and 1,000 of {MANY} memories"


def bad_top_k(target: Target) -> str:
    """What is no top_k is refused, and the field is named."""
    user = target.user("top-k")
    values: tuple[Any, ...] = (0, -1, BEYOND, 1.5, "5", True, None, [5])
    for value in values:
        answer = target.call("POST", "/search", {"query": "x", "user_id": user, "top_k": value})
        refused(f"top_k {value!r}", answer, {400, 422}, "top_k")
    return f"{len(values)} values"


def large_body(target: Target) -> str:
    """An Add with nearly 30 MiB of images is kept, and its memories are found."""
    user = target.user("large")
    files = [large(SIDE, number) for number in range(3)]
    contents = [
        [{"type": "text", "text": f"large picture number {number}"}, image_part(data_url(file, "png"))]
        for number, file in enumerate(files)
    ]
    target.add(user, *contents)
    found = target.search(user, "large picture")
    missing = [number for number in range(len(files)) if not place_of(f"large picture number {number}", found)]
    require(not missing, f"{len(missing)} of {len(files)} memories with a large picture were not found")
    shown = sum(bool(urls_of(item)) for item in found)
    require(shown, "none of the large pictures came back")
    return f"{sum(map(len, files)) / 2**20:.1f} MiB of images; {shown} of {len(files)} came back in one answer"


def too_large(target: Target) -> str:
    """More than the documented limits is a 413, and nothing is kept."""
    user = target.user("too-large")
    target.add(user, "may be kept")
    within, beyond = (image_part(data_url(large(side), "png")) for side in (SIDE, TOO_LONG_SIDE))
    one = target.post_add(add_body(user, "must not be kept", [beyond], request="an image"))
    refused("an image of 10.3 MiB", one, {413}, "messages.1.content.0.image_url.url")
    all_of_them = target.post_add(add_body(user, *[[within]] * 4, request="images"))
    refused("images of 39 MiB", all_of_them, {413}, "messages.3.content.0.image_url.url")
    body = target.call("POST", "/add", b'{"filler": "' + b"x" * BODY_BYTES + b'"}')
    require(body.status == 413, f"a body of more than 64 MiB was answered {body}, not 413")
    found = target.search(user, "what was kept?")
    require(len(found) == 1, f"after refused Adds {len(found)} memories are there, not the 1 that was")
    return "an image of 10.3 MiB, images of 39 MiB, a body of 64 MiB"


def refused(what: str, answer: Answer, statuses: set[int], field: str) -> None:
    """Raises Failed unless the answer has one of these statuses and names the field."""
    wanted = " or ".join(map(str, sorted(statuses)))
    require(answer.status in statuses, f"{what} was answered {answer}, not {wanted}")
    detail = answer.value.get("detail") if isinstance(answer.value, dict) else None
    named = detail.get("field") or detail.get("reason") if isinstance(detail, dict) else None
    require(str(named).startswith(field), f"{what}: the answer {answer} does not name the field {field}")
