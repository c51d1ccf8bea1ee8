"""What a body must hold: every fault is named by its field, and everything the contract allows is taken as it is."""

import base64
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmmem.api.translate import read_add, read_query
from mmmem.errors import InvalidInput, MmmemError, TooLarge
from mmmem.settings import Settings
from mmmem.types import ImagePart, TextPart
from tests.api.controlled import add_body, search_body

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/gif;base64,R0lGODlhAQ=="}}
TEXT = {"type": "text", "text": "a red bicycle"}


def fault_of(read: Callable[[bytes, Settings], object], body: object, **settings: int) -> tuple[str, str]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises((InvalidInput, TooLarge)) as caught:
        read(raw, Settings(**settings))
    return caught.value.field, caught.value.problem


@pytest.mark.parametrize("read", [read_add, read_query])
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b'{"a": 1,}', "is not JSON"),
        (b"{'a': 1}", "is not JSON"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": -Infinity}', "is not a JSON number"),
        (b'{"a": "\xff"}', "is not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "is not UTF-8"),
        ("{}".encode("utf-16"), "is not UTF-8"),
        (b"\xef\xbb\xbf{}", "is not JSON"),
        (b'{"a": "\x00"}', "is not JSON"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "is nested too deeply"),
        (b"1" * 5_000, "too many digits"),
        (b"[]", "must be an object"),
        (b"null", "must be an object"),
        (b'"text"', "must be an object"),
        (b"7", "must be an object"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused(
    read: Callable[[bytes, Settings], object], body: bytes, problem: str
) -> None:
    field, found = fault_of(read, body)
    assert field == "body"
    assert problem in found


def message(**fields: object) -> dict[str, object]:
    return {"role": "user", "content": "text", **fields}


def with_content(content: object) -> dict[str, object]:
    """An Add whose fourth message has this content."""
    return add_body(messages=[message(), message(), message(), message(content=content)])


def without(body: dict[str, object], field: str) -> dict[str, object]:
    return {name: value for name, value in body.items() if name != field}


@pytest.mark.parametrize(
    ("body", "field", "problem"),
    [
        *((without(add_body(), name), name, "is required") for name in add_body()),
        *((add_body(**{name: ""}), name, "must not be empty") for name in ("request_id", "user_id", "session_id")),
        *((add_body(**{name: 7}), name, "must be a string") for name in ("request_id", "user_id", "session_id")),
        *((add_body(**{name: None}), name, "must be a string") for name in ("request_id", "user_id", "session_id")),
        (add_body(messages=[]), "messages", "must not be empty"),
        (add_body(messages={}), "messages", "must be an array"),
        (add_body(messages="text"), "messages", "must be an array"),
        (add_body(messages=None), "messages", "must be an array"),
        (add_body(messages=["text"]), "messages.0", "must be an object"),
        (add_body(messages=[message(), None]), "messages.1", "must be an object"),
        (add_body(messages=[{"content": "text"}]), "messages.0.role", "is required"),
        (add_body(messages=[message(role="")]), "messages.0.role", "must not be empty"),
        (add_body(messages=[message(role=1)]), "messages.0.role", "must be a string"),
        (add_body(messages=[message(role="x" * 257)]), "messages.0.role", "longer than 256"),
        (add_body(messages=[{"role": "user"}]), "messages.0.content", "is required"),
        *(
            (add_body(messages=[message(), message(timestamp=t)]), "messages.1.timestamp", "must be an integer")
            for t in ("1704067200000", 1704067200000.0, 1.5, True, [], {})
        ),
        (add_body(messages=[message(timestamp=10**18)]), "messages.0.timestamp", "years 1 to 9999"),
        (with_content(None), "messages.3.content", "must be a string or an array of content parts"),
        (with_content(7), "messages.3.content", "must be a string or an array of content parts"),
        (with_content(TEXT), "messages.3.content", "must be a string or an array of content parts"),
        (with_content([]), "messages.3.content", "must not be empty"),
        (with_content(""), "messages.3.content", "must not be blank"),
        (with_content(" \n\t　"), "messages.3.content", "must not be blank"),
        (with_content([{**TEXT, "text": " "}]), "messages.3.content.0.text", "must not be blank"),
        (with_content([{**TEXT, "text": ""}] * 2), "messages.3.content.0.text", "must not be blank"),
        (with_content(["text"]), "messages.3.content.0", "must be an object"),
        (with_content([TEXT, {"type": "text"}]), "messages.3.content.1.text", "is required"),
        (with_content([{"type": "text", "text": 7}]), "messages.3.content.0.text", "must be a string"),
        (with_content([TEXT, {"text": "text"}]), "messages.3.content.1.type", "is required"),
        (with_content([{"type": "audio", "text": "x"}]), "messages.3.content.0.type", "'text' or 'image_url'"),
        (with_content([{"type": None, "text": "x"}]), "messages.3.content.0.type", "'text' or 'image_url'"),
        (with_content([{"type": "image_url"}]), "messages.3.content.0.image_url", "is required"),
        (
            with_content([{"type": "image_url", "image_url": "data:"}]),
            "messages.3.content.0.image_url",
            "must be an object",
        ),
        (with_content([{"type": "image_url", "image_url": {}}]), "messages.3.content.0.image_url.url", "is required"),
        (
            with_content([{"type": "image_url", "image_url": {"url": ""}}]),
            "messages.3.content.0.image_url.url",
            "must not be empty",
        ),
        (
            with_content([TEXT, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]),
            "messages.3.content.1.image_url.url",
            "never fetched",
        ),
    ],
)
def test_a_bad_add_is_refused_by_its_field(body: dict[str, object], field: str, problem: str) -> None:
    found_field, found_problem = fault_of(read_add, body)
    assert found_field == field
    assert problem in found_problem


@pytest.mark.parametrize(
    ("body", "field", "problem"),
    [
        (without(search_body(), "query"), "query", "is required"),
        (without(search_body(), "user_id"), "user_id", "is required"),
        (without(search_body(), "top_k"), "top_k", "is required"),
        (search_body(query=""), "query", "must not be blank"),
        (search_body(query="  \n"), "query", "must not be blank"),
        (search_body(query=None), "query", "must be a string or an array of content parts"),
        (search_body(query=[]), "query", "must not be empty"),
        (search_body(query=[{"type": "text", "text": " "}]), "query.0.text", "must not be blank"),
        (search_body(query=[TEXT, {"type": "video"}]), "query.1.type", "'text' or 'image_url'"),
        (search_body(user_id=""), "user_id", "must not be empty"),
        (search_body(user_id=["u"]), "user_id", "must be a string"),
        (search_body(top_k=0), "top_k", "at least 1"),
        (search_body(top_k=-3), "top_k", "at least 1"),
        (search_body(top_k=1_001), "top_k", "at most 1,000"),
        (search_body(top_k=10**30), "top_k", "at most 1,000"),
        *((search_body(top_k=value), "top_k", "must be an integer") for value in (5.0, 1.5, "5", True, None, [5])),
        (search_body(options="A"), "options", "must be an array"),
        (search_body(options=["A", 2]), "options.1", "must be a string"),
    ],
)
def test_a_bad_search_is_refused_by_its_field(body: dict[str, object], field: str, problem: str) -> None:
    found_field, found_problem = fault_of(read_query, body)
    assert found_field == field
    assert problem in found_problem


@pytest.mark.parametrize(
    ("body", "settings", "field"),
    [
        (add_body(messages=[message()] * 4), {"max_messages": 3}, "messages"),
        (with_content([TEXT] * 4), {"max_parts": 3}, "messages.3.content"),
        (add_body(messages=[message(content="x" * 60)] * 2), {"max_text_chars": 100}, "messages"),
        (with_content([IMAGE]), {"max_image_bytes": 6}, "messages.3.content.0.image_url.url"),
        (with_content([IMAGE] * 3), {"max_images_bytes": 20}, "messages.3.content.2.image_url.url"),
        (
            add_body(messages=[message(content=[IMAGE])] * 3),
            {"max_images_bytes": 20},
            "messages.2.content.0.image_url.url",
        ),
    ],
)
def test_an_add_over_a_limit_is_too_large(body: dict[str, object], settings: dict[str, int], field: str) -> None:
    raw = json.dumps(body).encode()
    with pytest.raises(TooLarge) as caught:
        read_add(raw, Settings(**settings))
    assert caught.value.field == field
    (limit,) = settings.values()
    read_add(raw, Settings(**dict.fromkeys(settings, limit * 10)))


@pytest.mark.parametrize(
    ("body", "settings", "field"),
    [
        (search_body(query="x" * 101), {"max_query_chars": 100}, "query"),
        (search_body(query=[{"type": "text", "text": "x" * 60}] * 2), {"max_query_chars": 100}, "query"),
        (search_body(options=["x" * 60] * 2), {"max_query_chars": 100}, "options"),
        (search_body(options=["x"] * 4), {"max_options": 3}, "options"),
        (search_body(query=[IMAGE] * 3), {"max_images_bytes": 20}, "query.2.image_url.url"),
    ],
)
def test_a_search_over_a_limit_is_too_large(body: dict[str, object], settings: dict[str, int], field: str) -> None:
    with pytest.raises(TooLarge) as caught:
        read_query(json.dumps(body).encode(), Settings(**settings))
    assert caught.value.field == field


@pytest.mark.parametrize("name", ["request_id", "user_id", "session_id"])
def test_an_id_of_ten_megabytes_is_refused_without_being_repeated(name: str) -> None:
    field, problem = fault_of(read_add, add_body(**{name: "x" * 10_000_000}))
    assert field == name
    assert problem == "is longer than 16,384 characters"


def test_a_body_of_a_million_faults_is_answered_with_the_first() -> None:
    """Collecting all of them would take gigabytes."""
    many = b"[" + b"0," * 1_000_000 + b"0]"
    body = b'{"request_id":"r","user_id":"u","session_id":"s","messages":[{"role":"user","content":' + many + b"}]}"
    assert fault_of(read_add, body) == ("messages.0.content.0", "must be an object")
    assert fault_of(read_add, b'{"messages":' + many + b"}")[0] == "messages"


ODD_IDS = [
    "'; DROP TABLE x; --",
    "a/../b",
    'with "quotes"',
    "🦊🔑",
    "two\nlines",
    "nul\0byte",
    "\ud800",
    " ",
    "x" * 16_384,
    "猫",
]


@pytest.mark.parametrize("odd", ODD_IDS)
def test_ids_are_taken_as_they_are(odd: str) -> None:
    request = read_add(json.dumps(add_body(request_id=odd, user_id=odd, session_id=odd)).encode(), Settings())
    assert (request.request_id, request.user_id, request.session_id) == (odd, odd, odd)
    assert read_query(json.dumps(search_body(user_id=odd)).encode(), Settings()).user_id == odd


def test_content_keeps_its_parts_and_their_order() -> None:
    blank = {"type": "text", "text": " "}
    request = read_add(
        json.dumps(add_body(messages=[message(content=[blank, IMAGE, TEXT, IMAGE])])).encode(), Settings()
    )
    image = ImagePart("data:image/gif;base64", base64.b64decode("R0lGODlhAQ=="))
    assert request.messages[0].parts == (TextPart(" "), image, TextPart("a red bicycle"), image)
    query = read_query(json.dumps(search_body(query=[IMAGE, TEXT])).encode(), Settings())
    assert query.parts == (image, TextPart("a red bicycle"))


def test_text_keeps_null_bytes_and_lone_surrogates() -> None:
    text = "a\0b\ud800c\udfffd"
    request = read_add(json.dumps(add_body(messages=[message(content=text)])).encode(), Settings())
    assert request.messages[0].parts == (TextPart(text),)


def test_unknown_fields_are_ignored_and_optional_ones_may_be_null() -> None:
    body = add_body(messages=[message(timestamp=None, name="Ann", extra={"deep": [1]})], priority=3)
    assert read_add(json.dumps(body).encode(), Settings()).messages[0].timestamp is None
    query = read_query(json.dumps(search_body(options=None, session_id=7, rerank=True)).encode(), Settings())
    assert query.options == ()


def test_any_role_is_a_role() -> None:
    for role in ("user", "assistant", "tool", "Ann", "第三者", "a\nb"):
        request = read_add(json.dumps(add_body(messages=[message(role=role)])).encode(), Settings())
        assert request.messages[0].role == role


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
MARK = "kept-secret"


@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: json_values | st.just([{"role": "user", "content": [{"type": MARK}]}]) | st.just(MARK)
            for name in ("request_id", "user_id", "session_id", "messages", "query", "top_k", "options")
        },
    )
)
def test_any_json_is_taken_or_refused_by_name_without_repeating_it(body: dict[str, object]) -> None:
    for read in (read_add, read_query):
        try:
            read(json.dumps(body).encode(), Settings())
        except MmmemError as error:
            assert isinstance(error, InvalidInput | TooLarge)
            assert error.field
            assert MARK not in str(error)
