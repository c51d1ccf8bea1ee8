"""Odd but valid input works, and comes back as it was sent."""

import json

import pytest

from tests.running import RunningService, text_of

ODD_IDS = {
    "quotes": 'O\'Brien "the" `user`',
    "SQL": "x' OR '1'='1'; DROP TABLE memories; --",
    "slashes": "../../etc/passwd\\..\\x",
    "a URL": "https://example.com/?a=b#c",
    "emoji": "🦊👩‍👩‍👧🔑",
    "newlines": "first\nsecond\r\nthird",
    "a null byte": "a\0b",
    "a lone surrogate": "a\ud800b",
    "a blank": " ",
    "another case": "ODD-CASE",
    "the same in lower case": "odd-case",
    "4,000 characters": "长" * 4_000,
    "the longest": "x" * 16_384,
}


@pytest.mark.parametrize("odd", ODD_IDS)
def test_ids_are_echoed_and_compared_exactly(service: RunningService, odd: str) -> None:
    """`add` holds the answer to the very ids that were sent."""
    name = ODD_IDS[odd]
    service.add(name, f"a memory of the user with {odd}", request=name, session=name)
    (memory,) = service.search(name, "whose memory is this?")
    assert f"the user with {odd}" in text_of(memory)
    assert service.search(name[:-1] + "_", "whose memory is this?") == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("null bytes", "before\0after"),
        ("a lone surrogate", "before \ud83d after"),
        ("a surrogate pair", "before \U0001f98a after"),
        ("control characters", "before \x01\x1b[31m\x7f after"),
        ("right to left", "שלום \u202e olleh"),
    ],
)
def test_odd_text_is_kept_as_it_is(service: RunningService, name: str, text: str) -> None:
    service.add(f"odd-text-{name}", text)
    (memory,) = service.search(f"odd-text-{name}", "before and after")
    assert text in text_of(memory)


def test_a_lone_surrogate_may_be_asked_for(service: RunningService) -> None:
    service.add("odd-query", "a fox in the garden")
    assert len(service.search("odd-query", "\ud800 fox \0")) == 1
    assert len(service.search("odd-query", "fox", options=["\ud800", "", "A. a fox"])) == 1


TIMESTAMPS = {
    "milliseconds": (1_704_067_200_000, "2024-01-01T00:00:00Z"),
    "with a fraction": (1_704_067_200_123, "2024-01-01T00:00:00.123Z"),
    "seconds": (1_704_067_200, "2024-01-01T00:00:00Z"),
    "zero": (0, "1970-01-01T00:00:00Z"),
    "negative": (-86_400_000, "1969-12-31T00:00:00Z"),
    "the first year": (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
    "the last year": (253_402_300_799_000, "9999-12-31T23:59:59Z"),
}


@pytest.mark.parametrize("name", TIMESTAMPS)
def test_a_memory_carries_its_message_s_own_time(service: RunningService, name: str) -> None:
    timestamp, created_at = TIMESTAMPS[name]
    service.add(f"time-{name}", "the meeting was moved", timestamp=timestamp)
    (memory,) = service.search(f"time-{name}", "meeting")
    assert memory["created_at"] == created_at


def test_times_may_be_missing_repeated_and_out_of_order(service: RunningService) -> None:
    times = [1_704_067_200_000, None, 1_600_000_000_000, 1_704_067_200_000]
    texts = ["we planted an apple tree", "then a pear tree", "there was a cherry tree", "and a plum tree"]
    messages = [{"role": "user", "content": text, "timestamp": time} for text, time in zip(texts, times, strict=True)]
    del messages[1]["timestamp"]
    service.add_messages("times", messages)
    found = service.search("times", "trees")
    assert len(found) == 4
    by_tree = {tree: m["created_at"] for m in found for tree in ("apple", "cherry", "plum") if _own(m, tree)}
    assert by_tree == {
        "apple": "2024-01-01T00:00:00Z",
        "cherry": "2020-09-13T12:26:40Z",
        "plum": "2024-01-01T00:00:00Z",
    }


def _own(memory: dict[str, object], word: str) -> bool:
    """Whether the memory's own line, not its context, holds the word."""
    return word in text_of(memory).splitlines()[0]


def test_the_end_of_a_message_of_200_000_characters_is_found(service: RunningService) -> None:
    filler = "The committee met again and nothing of note was decided that day. "
    text = (filler * 3_100)[:200_000] + " The password of the old boathouse is marzipan."
    service.add("long", text)
    found = service.search("long", "What is the password of the boathouse?", top_k=3)
    assert "marzipan" in text_of(found[0])
    assert all(len(text_of(memory)) < 20_000 for memory in found)


def test_a_thousand_messages_in_one_add(service: RunningService) -> None:
    messages = [{"role": "user", "content": f"parcel {n} went to shelf {n * 7}"} for n in range(1_000)]
    service.add_messages("thousand", messages)
    found = service.search("thousand", "to which shelf did parcel 617 go?", top_k=1_000)
    assert len(found) == 1_000
    assert len({memory["id"] for memory in found}) == 1_000
    assert any("shelf 4319" in text_of(memory) for memory in found[:10])


def test_chinese_text_is_found_by_a_chinese_query(service: RunningService) -> None:
    texts = ["我的猫叫小白,今年三岁了。", "明天下午三点在图书馆开会。", "妈妈最喜欢吃红烧肉。", "自行车停在地下室。"]
    service.add("chinese", *texts)
    for query, expected in (("猫叫什么名字?", 0), ("会议在哪里开?", 1), ("妈妈爱吃什么?", 2), ("自行车在哪里?", 3)):
        best = text_of(service.search("chinese", query)[0]).splitlines()[0]
        assert texts[expected] in best, query


def test_a_query_of_stop_words_only(service: RunningService) -> None:
    service.add("stop-words", "to be or not to be, that is the question", "the cat sat on the mat")
    found = service.search("stop-words", "to be or not to be")
    assert "that is the question" in text_of(found[0])


def test_a_query_of_punctuation_only(service: RunningService) -> None:
    service.add("punctuation", "hello")
    assert len(service.search("punctuation", "?!…")) == 1


def test_an_unknown_user_has_no_memories(service: RunningService) -> None:
    assert service.search("nobody knows me", "anything") == []


def test_top_k_is_never_exceeded(service: RunningService) -> None:
    service.add("top-k", *(f"note number {n}" for n in range(5)))
    for top_k in (1, 4, 5, 6, 1_000):
        assert len(service.search("top-k", "note", top_k=top_k)) == min(top_k, 5)


def test_the_content_type_does_not_matter(service: RunningService) -> None:
    body = json.dumps({"query": "x", "user_id": "nobody knows me", "top_k": 1})
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", ""):
        answer = service.client.post("/search", content=body, headers={"Content-Type": content_type})
        assert answer.status_code == 200


def test_memories_never_cross_users(service: RunningService) -> None:
    service.add("alice", "the safe opens with 1234", session="shared")
    service.add("bob", "the safe opens with 9876", session="shared")
    (memory,) = service.search("alice", "what opens the safe?")
    assert "1234" in text_of(memory)
    assert "9876" not in text_of(memory)
