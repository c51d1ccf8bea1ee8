"""Answers as JSON bytes. ASCII only, so that any text can go out, lone surrogates included, as it came in."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mmmem.api.times import write_timestamp
from mmmem.listing import place_of
from mmmem.presentation import NOTE, with_images_that_fit, without_images
from mmmem.types import ImagePart

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mmmem.listing import Listed, Page
    from mmmem.store import Roster, Usage
    from mmmem.types import AddRequest, Explanation, Hit, Memory, Part

    Content = str | list[dict[str, Any]]

JSON = "application/json"
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def add_answer(request: AddRequest) -> bytes:
    """The three ids, echoed."""
    ids = {"request_id": request.request_id, "user_id": request.user_id, "session_id": request.session_id}
    return to_json({"success": True, **ids})


def user_answer(user_id: str, usage: Usage) -> bytes:
    """What is held of a user."""
    times = {
        name: None if at is None else write_timestamp(at) for name, at in (("first", usage.first), ("last", usage.last))
    }
    counts = {"memories": usage.memories, "images": usage.images, "sessions": usage.sessions, "bytes": usage.nbytes}
    return to_json({"user_id": user_id, **counts, **times})


def roster_answer(roster: Roster) -> bytes:
    """Some of a store's users."""
    return to_json({"data": [user._asdict() for user in roster.users], "next": roster.next, "total": roster.total})


def search_answer(hits: Sequence[Hit], max_bytes: int) -> bytes:
    """The hits, in order. Where they would take more than `max_bytes`, a note is in place of the images of the later ones,
    and the last are left out where text alone is too much."""
    return _joined(_fitting(hits, _hit, max_bytes))


def explain_answer(hits: Sequence[Hit], max_bytes: int) -> bytes:
    """The same with how each channel saw every hit, and what the question's pictures were taken for."""
    asked = hits[0].explanation.query_pictures if hits and hits[0].explanation else ()
    read = to_json([picture._asdict() for picture in asked])
    if len(read) > max_bytes // 2:  # pages of text: the memories are what was asked for
        read = b"[]"
    end = b',"query_pictures":' + read + b"}"
    return _joined(_fitting(hits, _explained_hit, max_bytes - len(end) + 1), end)


def page_answer(page: Page, max_bytes: int) -> bytes:
    """Memories as they were stored; `next` is the place at which the following page begins, null after the last.

    Those whose text is too much for `max_bytes` are on the following page.
    """
    room = max_bytes - 2 * max((len(to_json(place_of(listed.memory))) for listed in page.memories), default=0) - 100
    items = _fitting(page.memories, _listed, max(room, 0), least=1)
    more = page.more or len(items) < len(page.memories)
    following = place_of(page.memories[len(items) - 1].memory) if more and items else None
    return _joined(items, b',"next":' + to_json(following) + b',"total":' + to_json(page.total) + b"}")


def memory_answer(listed: Listed, max_bytes: int) -> bytes:
    """One memory as it was stored, with a note in place of images that are too much."""
    return _fitting([listed], _listed, max_bytes, least=1)[0]


def to_json(value: Any) -> bytes:
    """Serialise; raises ValueError for a number that JSON has no word for."""
    return _ENCODER.encode(value).encode("ascii")


class _Shown(Protocol):
    @property
    def memory(self) -> Memory: ...


_S = TypeVar("_S", bound=_Shown)


def _fitting(
    shown: Sequence[_S], describe: Callable[[_S, Content], dict[str, Any]], max_bytes: int, least: int = 0
) -> list[bytes]:
    """Each as JSON, as many as fit, `least` whatever they take; images only where there is room after all text."""
    items = [to_json(describe(each, without_images(each.memory).text)) for each in shown]
    room = max_bytes - len(_joined(items))
    while room < 0 and len(items) > least:  # text alone: only a very large top_k can do that
        room += len(items.pop()) + bool(items)  # and the comma before it
    for place, each in enumerate(shown[: len(items)]):
        item = _with_images(each, describe, room + len(items[place])) if each.memory.has_images else None
        if item:
            room -= len(item) - len(items[place])
            items[place] = item
    return items


def _with_images(each: _S, describe: Callable[[_S, Content], dict[str, Any]], most: int) -> bytes | None:
    """It in at most `most` bytes of JSON, with those of its images that fit, the first ones first; None where none does."""

    def written(memory: Memory) -> bytes:
        return to_json(describe(each, [_part(part) for part in memory.parts]))

    room = most - len(written(without_images(each.memory)))

    def fits(image: ImagePart) -> bool:
        nonlocal room
        more = len(to_json(_part(replace(image, data=b"")))) + 4 * -(-len(image.data) // 3) - _NOTE_BYTES
        if more > room:
            return False
        room -= more
        return True

    images = (part for part in each.memory.parts if isinstance(part, ImagePart))
    fitting = with_images_that_fit(each.memory, map(fits, images))
    return written(fitting) if fitting.has_images else None


def _joined(items: Sequence[bytes], end: bytes = b"}") -> bytes:
    return b'{"data":[' + b",".join(items) + b"]" + end


def _hit(hit: Hit, content: Content) -> dict[str, Any]:
    created_at = write_timestamp(hit.memory.created_at)
    return {"id": hit.memory.id, "content": content, "score": hit.score, "created_at": created_at}


def _listed(listed: Listed, content: Content) -> dict[str, Any]:
    memory = listed.memory
    return {
        "id": memory.id,
        "session_id": memory.session_id,
        "role": memory.role,
        "content": content,
        "images": listed.images,
        "timestamp": memory.timestamp,
        "created_at": write_timestamp(memory.created_at),
        "position": memory.position,
        "piece": memory.piece,
    }


def _explained_hit(hit: Hit, content: Content) -> dict[str, Any]:
    found = _hit(hit, content)
    if hit.explanation is None:
        return found
    said = {"role": hit.memory.role, "session_id": hit.memory.session_id}
    return {**found, **said, **explanation_fields(hit.explanation)}


def explanation_fields(explanation: Explanation) -> dict[str, Any]:
    """How a memory came to its place, as JSON has it."""
    return {
        "channels": {name: said._asdict() for name, said in explanation.channels.items()},
        "fused": explanation.fused._asdict(),
        "reranked": explanation.reranked._asdict() if explanation.reranked else None,
        "tokens": [match._asdict() for match in explanation.tokens],
        "pictures": [picture._asdict() for picture in explanation.pictures],
    }


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        url = f"{part.header},{base64.b64encode(part.data).decode('ascii')}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": part.text}


_NOTE_BYTES = len(to_json(_part(NOTE)))
