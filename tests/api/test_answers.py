"""What goes out: the caller's own bytes, in order, and never more than fits."""

import base64
import json
from dataclasses import replace

import pytest

from mmmem.api import contract
from mmmem.api.answers import add_answer, explain_answer, search_answer
from mmmem.types import (
    AddRequest,
    ChannelScore,
    Explanation,
    Hit,
    ImagePart,
    Memory,
    Part,
    PictureReading,
    Place,
    TextPart,
    TokenMatch,
)

MIB = 1024 * 1024


def hit(*parts: Part, score: float = 0.5, created_at: int = 1_704_067_200_000) -> Hit:
    memory = Memory("mem_1", "s", "user", parts, created_at, created_at, 0, 0)
    channels = {"maxsim": ChannelScore(1, 0.61, 1.0, 2.5), "lexical": ChannelScore(3, 7.5, 0.1, 0.2)}
    matches = (TokenMatch("cat", "kitten", 0.8, 0.75), TokenMatch("the", "a", 0.6, 0.25))
    return Hit(memory, score, Explanation(channels, Place(1, 2.7), None, matches))


def data(answer: bytes) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(answer)["data"]
    return found


def image(size: int) -> ImagePart:
    return ImagePart("data:image/png;base64", bytes(size))


def test_an_add_is_answered_with_exactly_four_keys() -> None:
    answer = json.loads(add_answer(AddRequest("r\ud800", 'u"\n', "s🦊", ())))
    assert answer == {"success": True, "request_id": "r\ud800", "user_id": 'u"\n', "session_id": "s🦊"}
    assert answer["success"] is True
    contract.AddAnswer.model_validate(answer)


def test_a_memory_of_text_is_a_string() -> None:
    (found,) = data(search_answer([hit(TextPart("first"), TextPart("second"))], MIB))
    assert found == {"id": "mem_1", "content": "first\nsecond", "score": 0.5, "created_at": "2024-01-01T00:00:00Z"}


def test_a_memory_with_an_image_is_its_parts_in_order() -> None:
    picture = ImagePart("data:image/jpg;x=1;base64", b"\xff\xd8\xff\xfb\xef")
    (found,) = data(search_answer([hit(TextPart("before"), picture, TextPart("after"))], MIB))
    url = "data:image/jpg;x=1;base64," + base64.b64encode(picture.data).decode()
    assert found["content"] == [
        {"type": "text", "text": "before"},
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "text", "text": "after"},
    ]
    contract.SearchAnswer.model_validate({"data": [found]})


def test_lone_surrogates_and_null_bytes_go_out_as_they_came_in() -> None:
    answer = search_answer([hit(TextPart("a\0b\ud800"))], MIB)
    assert answer.isascii()
    assert data(answer)[0]["content"] == "a\0b\ud800"


def test_nothing_found_is_an_empty_list() -> None:
    assert search_answer([], MIB) == b'{"data":[]}'


def test_explain_adds_how_a_memory_came_to_its_place() -> None:
    (found,) = data(explain_answer([hit(TextPart("x"))], MIB))
    assert found["channels"] == {
        "maxsim": {"rank": 1, "score": 0.61, "weight": 1.0, "added": 2.5},
        "lexical": {"rank": 3, "score": 7.5, "weight": 0.1, "added": 0.2},
    }
    assert found["fused"] == {"rank": 1, "score": 2.7}
    assert found["reranked"] is None
    assert found["tokens"] == [
        {"query": "cat", "memory": "kitten", "similarity": 0.8, "weight": 0.75},
        {"query": "the", "memory": "a", "similarity": 0.6, "weight": 0.25},
    ]
    contract.ExplainAnswer.model_validate({"data": [found]})


@pytest.mark.parametrize("lines", [10, 10_000])
def test_what_was_read_in_the_question_leaves_room_for_the_memories(lines: int) -> None:
    whole = hit(TextPart("a"), image(3_000))
    assert whole.explanation
    read = replace(whole.explanation, query_pictures=(PictureReading(("page",), "a line\n" * lines),))
    limit = len(explain_answer([whole], MIB)) + 1_000
    answer = explain_answer([replace(whole, explanation=read)], limit)
    assert len(answer) <= limit
    assert isinstance(data(answer)[0]["content"], list)
    pictures = contract.ExplainAnswer.model_validate_json(answer).query_pictures
    assert [picture.text.count("a line") for picture in pictures] == ([10] if lines == 10 else [])


def test_what_does_not_fit_loses_its_image_and_keeps_its_place() -> None:
    sizes = [400_000, 400_000, 400_000, 10_000]
    hits = [hit(TextPart(f"memory {place}"), image(size)) for place, size in enumerate(sizes)]
    answer = search_answer(hits, MIB)
    assert len(answer) <= MIB
    contents = [found["content"] for found in data(answer)]
    assert [isinstance(content, list) for content in contents] == [True, False, False, True]
    note = "(a picture that this answer has no room for)"
    assert contents[1:3] == [f"memory 1\n{note}", f"memory 2\n{note}"]


def test_of_a_memory_that_is_too_large_as_many_images_go_out_as_fit() -> None:
    parts = [TextPart("album"), *(image(size) for size in (500_000, 400_000, 20_000, 5))]
    for limit in (MIB, MIB - 100_001):
        answer = search_answer([hit(*parts), hit(TextPart("text stays"))], limit)
        assert len(answer) <= limit
        album, text = (found["content"] for found in data(answer))
        assert [part["type"] for part in album] == ["text", "image_url", "text", "image_url", "image_url"]
        assert album[2]["text"] == "(a picture that this answer has no room for)"
        assert text == "text stays"


def test_an_answer_of_exactly_the_limit_keeps_everything() -> None:
    hits = [hit(TextPart("a"), image(3_000)), hit(TextPart("b"), image(5_000))]
    whole = search_answer(hits, MIB)
    assert search_answer(hits, len(whole)) == whole
    assert len(search_answer(hits, len(whole) - 1)) < len(whole) - 1


def test_a_score_that_is_no_number_never_goes_out() -> None:
    with pytest.raises(ValueError, match="JSON"):
        search_answer([hit(TextPart("x"), score=float("nan"))], MIB)
