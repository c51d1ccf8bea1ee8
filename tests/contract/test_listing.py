"""What is stored of a user can be read from the first memory to the last, a page at a time."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.contract.pictures import data_url, draw, image_part, text_part
from tests.contract.test_observability import WORDS_ONLY
from tests.contract.test_stored import IDS
from tests.running import RunningService, text_of, urls_of

DAY = 86_400_000
FIRST = 1_704_067_200_000


def written(**parameters: Any) -> str:
    return urlencode({name: str(value).encode("utf-8", "surrogatepass") for name, value in parameters.items()})


def page(service: RunningService, user: str, **parameters: Any) -> dict[str, Any]:
    answer = service.client.get(f"/memories?{written(user_id=user, **parameters)}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert set(found) == {"data", "next", "total"}
    return found


def pages(service: RunningService, user: str, **parameters: Any) -> list[dict[str, Any]]:
    """All memories, by turning pages."""
    found, following = [], {}
    while True:
        one = page(service, user, **parameters, **following)
        found += one["data"]
        if one["next"] is None:
            return found
        following = {"after": one["next"]}


def tell(service: RunningService, user: str, count: int, *, same_time: bool = False) -> None:
    """The newest first: listing is by time, not by when it was told. Two sessions in turn."""
    for place in reversed(range(count)):
        at = FIRST if same_time else FIRST + place * DAY
        service.add(user, f"memory {place}", request=f"r{place}", session=f"s{place % 2}", timestamp=at)


@pytest.mark.parametrize("limit", [1, 2, 7, 100])
def test_every_memory_comes_once_by_time_whatever_the_page(service: RunningService, limit: int) -> None:
    user = f"listed {limit}"
    tell(service, user, 7)
    expected = [f"memory {place}" for place in range(7)]
    assert [text_of(each) for each in pages(service, user, limit=limit)] == expected
    assert [text_of(each) for each in pages(service, user, limit=limit, order="newest")] == expected[::-1]
    first = page(service, user, limit=limit)
    assert first["total"] == 7
    assert (first["next"] is None) == (limit >= 7)


@pytest.mark.parametrize("order", ["oldest", "newest"])
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_those_of_one_moment_come_in_the_order_in_which_they_were_added(
    service: RunningService, limit: int, order: str
) -> None:
    user = f"listed at once {limit} {order}"
    messages = [{"role": "user", "content": f"memory {place}", "timestamp": FIRST} for place in range(6)]
    service.add_messages(user, messages)
    expected = [f"memory {place}" for place in range(6)]
    found = [text_of(each) for each in pages(service, user, limit=limit, order=order)]
    assert found == (expected if order == "oldest" else expected[::-1])


def test_one_session_is_listed_alone(service: RunningService) -> None:
    tell(service, "listed by session", 6)
    found = pages(service, "listed by session", session_id="s1", limit=2)
    assert [text_of(each) for each in found] == ["memory 1", "memory 3", "memory 5"]
    assert {each["session_id"] for each in found} == {"s1"}
    assert page(service, "listed by session", session_id="s1")["total"] == 3
    assert page(service, "listed by session", session_id="another") == {"data": [], "next": None, "total": 0}


def test_a_memory_is_shown_as_it_was_told(service: RunningService) -> None:
    picture = data_url(draw("purple"), "JPEG")
    content = [text_part("before"), image_part(picture), text_part("after\n")]
    service.add_messages(
        "listed as told",
        [{"role": "assistant", "content": content, "timestamp": FIRST + 5}, {"role": "user", "content": "  plain "}],
    )
    told, plain = page(service, "listed as told")["data"]
    assert told.pop("id").startswith("mem_")
    assert told == {
        "session_id": "s",
        "role": "assistant",
        "content": content,
        "images": 1,
        "timestamp": FIRST + 5,
        "created_at": "2024-01-01T00:00:00.005Z",
        "position": 0,
        "piece": 0,
    }
    assert (plain["content"], plain["timestamp"], plain["position"], plain["images"]) == ("  plain ", None, 1, 0)


def test_without_images_their_number_is_told_and_one_memory_has_them(service: RunningService) -> None:
    picture = data_url(draw("orange"), "PNG")
    service.add("listed without", [text_part("my balloon"), image_part(picture)], [image_part(picture)])
    both = page(service, "listed without", images="false")["data"]
    assert [(each["content"], each["images"]) for each in both] == [("my balloon", 1), ("", 1)]
    whole = service.client.get(f"/memories/{both[1]['id']}", params={"user_id": "listed without"}).json()
    assert urls_of(whole) == [picture]
    assert whole == page(service, "listed without")["data"][1]


@pytest.mark.parametrize("user", IDS, ids=range(len(IDS)))
def test_a_user_sees_only_what_is_his_whatever_his_id(service: RunningService, user: str) -> None:
    mine, near = f"lister {user}", f"lister {user} "
    service.add(mine, "mine", request=user, session=user)
    service.add(near, "theirs")
    [found] = page(service, mine)["data"]
    assert (text_of(found), found["session_id"]) == ("mine", user)
    assert page(service, mine, session_id=user)["total"] == 1
    answer = service.client.get(f"/memories/{found['id']}?{written(user_id=near)}")
    assert answer.status_code == 404
    assert answer.json() == {"detail": {"reason": "id: the user has no such memory"}, "code": "not_found"}


def test_nobody_has_no_memories(service: RunningService) -> None:
    assert page(service, "listed nobody") == {"data": [], "next": None, "total": 0}


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_pages_go_on_when_the_last_memory_of_one_was_removed_or_others_came(
    service: RunningService, order: str
) -> None:
    user = f"listed and removed {order}"
    tell(service, user, 6)
    first = page(service, user, limit=3, order=order)
    for each in first["data"]:
        service.client.delete(f"/memories/{each['id']}", params={"user_id": user})
    service.add(user, "much earlier", request="early", timestamp=FIRST - DAY)
    service.add(user, "much later", request="late", timestamp=FIRST + 100 * DAY)
    rest = page(service, user, limit=10, order=order, after=first["next"])
    names = [text_of(each) for each in rest["data"]]
    assert names == (
        ["memory 3", "memory 4", "memory 5", "much later"]
        if order == "oldest"
        else ["memory 2", "memory 1", "memory 0", "much earlier"]
    )


@pytest.mark.parametrize(
    ("parameters", "field", "problem"),
    [
        ("", "user_id", "is required"),
        ("?user_id=a&limit=0", "limit", "must be an integer from 1 to 1,000"),
        ("?user_id=a&limit=1001", "limit", "must be an integer from 1 to 1,000"),
        ("?user_id=a&limit=-1", "limit", "must be an integer from 1 to 1,000"),
        ("?user_id=a&limit=1.0", "limit", "must be an integer from 1 to 1,000"),
        ("?user_id=a&limit=%C2%B2", "limit", "must be an integer from 1 to 1,000"),
        ("?user_id=a&limit=" + "9" * 5_000, "limit", "is longer than 20 characters"),
        ("?user_id=a&limit=", "limit", "must not be empty"),
        ("?user_id=a&limit=1&limit=2", "limit", "must be given once"),
        ("?user_id=a&order=random", "order", "must be 'oldest' or 'newest'"),
        ("?user_id=a&images=no", "images", "must be 'true' or 'false'"),
        ("?user_id=a&session_id=%FF", "session_id", "must be percent-encoded UTF-8"),
        ("?user_id=a&after=x", "after", "is no place that a page gave as `next`"),
        ("?user_id=a&after=1e3.mem_1", "after", "is no place that a page gave as `next`"),
        ("?user_id=a&after=99999999999999999999.x", "after", "is no place that a page gave as `next`"),
    ],
)
def test_what_is_asked_wrongly_is_named(service: RunningService, parameters: str, field: str, problem: str) -> None:
    answer = service.client.get(f"/memories{parameters}")
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"] == {"reason": f"{field}: {problem}", "field": field, "problem": problem}


def test_a_page_holds_no_more_than_an_answer_may(start_service: Any) -> None:
    small = start_service(response_max_bytes="20000", **WORDS_ONLY)
    small.ready()
    picture = data_url(draw("red"), "BMP")  # 36 KB in Base64
    service_texts = [f"{place} " + "ü" * 300 for place in range(20)]  # 6 bytes of JSON each
    small.add("ann", *service_texts, [text_part("a picture"), image_part(picture)])
    first = small.client.get("/memories", params={"user_id": "ann"})
    assert len(first.content) <= 20_000
    assert 5 < len(first.json()["data"]) < 20
    found = pages(small, "ann")
    assert [text_of(each) for each in found[:-1]] == service_texts
    assert (found[-1]["content"], found[-1]["images"]) == (
        "a picture\n(a picture that this answer has no room for)",
        1,
    )


def test_it_asks_for_the_key(keyed_service: RunningService) -> None:
    for path in ("/memories?user_id=a", "/memories/m?user_id=a"):
        assert keyed_service.client.get(path).status_code == 401
