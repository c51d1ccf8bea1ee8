"""Whatever others say, and whatever they are called, a user is answered as if alone: memories, scores, errors, to the bit."""

from __future__ import annotations

import base64
import io
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from mmmem import wiring
from mmmem.errors import MmmemError
from mmmem.listing import PageQuery
from mmmem.memory import MemoryService
from mmmem.settings import Settings
from mmmem.types import AddRequest, ImagePart, Message, Part, Query, TextPart
from tests.running import RunningService

TIME = 1_704_067_200_000
BASES = (
    "ada", "Ädä", "x' OR '1'='1'; DROP TABLE u; --", "../../etc/passwd", "a/b\\c", "line\nbreak\r\n", "nul\0nul", "\ud800lone",
    "🦊👩‍👩‍👧", "ﬁne ①", "长" * 300, "user_id = 'ada'", "%", "u_" + "0" * 64, "_store", "{}", " ",
)  # fmt: skip


def relatives(name: str) -> list[str]:
    """Ids that a careless comparison, file name or filter would take for the same."""
    found = [
        name, name.upper(), name.swapcase(), name.casefold(), name[:-1], name[: len(name) // 2], name + name[:1],
        *(unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC", "NFKD")),
        *(name + end for end in (" ", "\0", "\n", "'", "/", "/..", "%", "*", "\ufeff", "\u200d", "\udc00", "' OR '1'='1", "x" * 9_000)),
        *(start + name for start in (" ", "./", "../", "\0", "'")),
    ]  # fmt: skip
    return [each for each in dict.fromkeys(found) if each]


class Tell(NamedTuple):
    """An Add. The same request_id twice with other texts is a conflict."""

    request_id: str
    contents: tuple[tuple[Part, ...], ...]


class Ask(NamedTuple):
    """A Search."""

    parts: tuple[Part, ...]


class Forget(NamedTuple):
    """The end of all that the user has."""


class List(NamedTuple):
    """The first page of all."""

    limit: int


Step = Tell | Ask | Forget | List


def drawn(colour: str) -> ImagePart:
    file = io.BytesIO()
    Image.new("RGB", (48, 48), colour).save(file, "PNG")
    return ImagePart("data:image/png;base64", file.getvalue())


# Few words, so that users share them: how rare a word is, is a statistic that must not be shared.
WORDS = st.lists(st.sampled_from(["cat", "Miso", "piano", "Lisbon", "on Friday?", "ERR_42", "2 May", "猫", "ok"]), min_size=1, max_size=5)  # fmt: skip
TEXTS = WORDS.map(" ".join).map(TextPart)
PICTURES = st.sampled_from([drawn("red"), drawn("navy"), ImagePart("data:image/png;base64", b"broken")])
CONTENTS = TEXTS.map(lambda text: (text,)) | st.tuples(TEXTS, PICTURES)
TELLS = st.builds(
    Tell, st.sampled_from(["r1", "r2", "'; --"]), st.lists(CONTENTS, min_size=1, max_size=3).map(tuple)
)  # fmt: skip
STEPS = st.lists(TELLS | TELLS | CONTENTS.map(Ask) | st.just(Forget()) | st.just(List(2)), min_size=1, max_size=5)


@st.composite
def crowds(draw: st.DrawFn) -> dict[str, list[Step]]:
    """Two to four users with look-alike ids, and what each does."""
    kin = relatives(draw(st.sampled_from(BASES)))
    ids = draw(st.lists(st.sampled_from(kin) | st.text(min_size=1, max_size=9), min_size=2, max_size=4, unique=True))
    last: list[Step] = [Ask((TextPart("cat in Lisbon"),)), Ask((drawn("red"),)), List(100)]
    return {name: draw(STEPS) + last for name in ids}


@dataclass(frozen=True)
class Services:
    """The same service twice: one with everybody, and one that only ever holds one user."""

    crowd: MemoryService
    alone: MemoryService


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("isolation")
    # In the crowd users push each other out of memory.
    running = Services(
        wiring.build_service(Settings(data_dir=str(folder / "crowd"), ocr="off", cache_bytes=50_000)),
        wiring.build_service(Settings(data_dir=str(folder / "alone"), ocr="off")),
    )
    yield running
    running.crowd.close()
    running.alone.close()


def act(service: MemoryService, user_id: str, step: Step) -> Any:
    """All that the user is told."""
    try:
        match step:
            case Tell(request_id, contents):
                messages = tuple(Message("user", parts, TIME + 1_000 * place) for place, parts in enumerate(contents))
                return service.add(AddRequest(request_id, user_id, "s", messages))
            case Ask(parts):
                return service.explain(Query(user_id, parts, 100))
            case List(limit):
                return service.page(PageQuery(user_id, limit)), service.usage(user_id).memories
            case Forget():
                return service._store.delete_user(user_id)
    except MmmemError as error:
        return type(error), str(error)


def acts(service: MemoryService, user_id: str, steps: list[Step]) -> list[Any]:
    return [act(service, user_id, step) for step in steps]


@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(crowd=crowds())
def test_a_user_in_a_crowd_is_told_what_one_alone_is_told(pair: Services, crowd: dict[str, list[Step]]) -> None:
    with ThreadPoolExecutor(len(crowd)) as everybody:  # each user's steps in their order, all users at once
        told = dict(zip(crowd, everybody.map(lambda name: acts(pair.crowd, name, crowd[name]), crowd), strict=True))
    for name, steps in crowd.items():
        pair.crowd._store.delete_user(name)
        alone = acts(pair.alone, name, steps)
        pair.alone._store.delete_user(name)
        assert told[name] == alone


def test_look_alikes_are_users_of_their_own(pair: Services) -> None:
    """Every relative of one id at once, each with one memory."""
    names = relatives(BASES[1])
    for number, name in enumerate(names):
        act(pair.crowd, name, Tell("r", ((TextPart(f"the number of the safe is {number}"),),)))
    for number, name in enumerate(names):
        (hit,) = act(pair.crowd, name, Ask((TextPart("What is the number of the safe?"),)))
        assert hit.memory.text.endswith(f" {number}")


PLAIN = {"x-request-id", "date", "content-type", "content-length"}
EXTRA = {401: {"www-authenticate"}, 405: {"allow"}, 429: {"retry-after"}, 503: {"retry-after"}}


def test_an_answer_s_headers_and_errors_tell_nothing_of_others(service: RunningService) -> None:
    """No Server-Timing, no cache hit, no count: a stranger's answer is the same whoever else is there."""
    stranger, kin = (
        "isolated stranger",
        [each for each in relatives("isolated stranger") if each != "isolated stranger"],
    )
    message = {"role": "user", "content": "x"}
    picture = {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{base64.b64encode(b'broken').decode()}"},
    }
    asked = [
        ("/search", {"user_id": stranger, "query": "the safe", "top_k": 100}),
        ("/explain", {"user_id": stranger, "query": "the safe", "top_k": 100}),
        ("/search", {"user_id": stranger, "query": [picture], "top_k": 1}),
        ("/search", {"user_id": stranger, "query": "", "top_k": 1}),
        ("/add", {"user_id": stranger, "request_id": "r", "session_id": "s", "messages": [message | {"content": [picture]}]}),
        ("/add", {"user_id": stranger}),
        ("/nowhere", {}),
    ]  # fmt: skip
    listed = f"/memories?{urlencode({'user_id': stranger})}"

    def answers() -> list[tuple[int, bytes]]:
        found = []
        for path, body in asked:
            answer = service.post(path, body)
            assert set(answer.headers) <= PLAIN | EXTRA.get(answer.status_code, set())
            found.append((answer.status_code, answer.content))
        return [*found, (200, service.client.get(listed).content)]

    before = answers()
    for name in kin[:12]:
        service.add(name, "the safe opens with 1234", request="r", session="s")
        assert len(service.search(name, "the safe")) == 1
    assert answers() == before
    assert [status for status, _ in before] == [200, 200, 422, 422, 422, 422, 404, 200]
