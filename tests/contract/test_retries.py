"""Callers retry; a memory is kept once all the same."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.running import RunningService, text_of


def body(user: str, text: str = "the train leaves at 7:45", **fields: Any) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"request_id": "r1", "user_id": user, "session_id": "s", "messages": [message], **fields}


def test_the_same_request_again_is_kept_once(service: RunningService) -> None:
    first, *again = [service.client.post("/add", json=body("retry")) for _ in range(3)]
    assert first.status_code == 200
    assert all(answer.status_code == 200 and answer.json() == first.json() for answer in again)
    assert len(service.search("retry", "train")) == 1


def test_the_same_request_many_times_at_once_is_kept_once(service: RunningService) -> None:
    with ThreadPoolExecutor(8) as callers:
        answers = list(callers.map(lambda _: service.client.post("/add", json=body("storm")), range(16)))
    assert [answer.status_code for answer in answers] == [200] * 16
    assert len(service.search("storm", "train")) == 1


def test_another_body_under_the_same_id_is_refused_and_changes_nothing(service: RunningService) -> None:
    service.client.post("/add", json=body("conflict"))
    before = service.search("conflict", "train")
    for other in (body("conflict", text="the train leaves at 8:00"), body("conflict", session_id="other")):
        answer = service.client.post("/add", json=other)
        assert answer.status_code == 422, "409 would be retried"
        assert answer.json()["code"] == "request_conflict"
        assert answer.json()["detail"]["field"] == "request_id"
    assert service.search("conflict", "train") == before
    assert len(before) == 1


def test_a_request_id_belongs_to_its_user(service: RunningService) -> None:
    for user, text in (("retry-a", "the tea is in the tin"), ("retry-b", "the coffee is in the jar")):
        assert service.client.post("/add", json=body(user, text=text)).status_code == 200
        (memory,) = service.search(user, "tin or jar?")
        assert text in text_of(memory)


def test_a_refused_request_may_be_sent_again_corrected(service: RunningService) -> None:
    assert service.client.post("/add", json=body("corrected", text=" ")).status_code == 422
    assert service.client.post("/add", json=body("corrected")).status_code == 200
    assert len(service.search("corrected", "train")) == 1
