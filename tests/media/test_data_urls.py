"""Images come as data URLs, in every shape that clients send them in."""

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmmem.errors import InvalidImage, TooLarge
from mmmem.media.data_urls import parse_data_url
from mmmem.settings import Settings

FIELD = "messages.3.content.1.image_url.url"
# Bytes whose Base64 holds both special characters and needs padding: "iVBO++++////IQ=="
DATA = b"\x89PN\xfb\xef\xbe\xff\xff\xff!"
ENCODED = base64.b64encode(DATA).decode()


def read(url: str, **settings: int) -> tuple[str, bytes]:
    part = parse_data_url(url, FIELD, Settings(**settings))
    return part.header, part.data


@pytest.mark.parametrize(
    "header",
    [
        "data:image/png;base64",
        "data:image/jpg;base64",
        "DATA:IMAGE/PNG;BASE64",
        "data:image/png;charset=utf-8;base64",
        "data:image/webp; base64",
        "data:;base64",
        "data:application/octet-stream;base64",
        'data:image/png;name="holiday.png";base64',
    ],
)
def test_the_header_is_kept_as_it_was_sent(header: str) -> None:
    assert read(f"{header},{ENCODED}") == (header, DATA)


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(ENCODED.rstrip("="), id="missing padding"),
        pytest.param(ENCODED.replace("+", " "), id="spaces for plus signs"),
        pytest.param(ENCODED.replace("+", "-").replace("/", "_"), id="URL-safe alphabet"),
        pytest.param(quote(ENCODED, safe=""), id="percent-encoded"),
        pytest.param(ENCODED.replace("+", "%2b").replace("/", "%2f"), id="percent-encoded in lower case"),
        pytest.param(f" {ENCODED} ", id="white space around"),
        pytest.param(f"{ENCODED[:4]}\r\n{ENCODED[4:]}\r\n", id="line breaks"),
        pytest.param(f"\n  {ENCODED[:4]}  \n  {ENCODED[4:]}\n", id="indented lines"),
        pytest.param(f"{ENCODED[:4]}%0D%0A{ENCODED[4:]}", id="percent-encoded line breaks"),
    ],
)
def test_base64_that_was_mangled_on_its_way_gives_the_same_bytes(payload: str) -> None:
    assert read(f"data:image/png;base64,{payload}")[1] == DATA


def test_plus_signs_that_became_spaces_are_found_at_the_end_too() -> None:
    data = b"GIF8a>"
    encoded = base64.b64encode(data).decode()
    assert encoded.endswith("+")
    assert read("data:image/gif;base64," + encoded.replace("+", " "))[1] == data


@given(st.binary(min_size=1, max_size=400))
def test_any_bytes_come_through_unchanged(data: bytes) -> None:
    url = "data:image/gif;base64," + base64.b64encode(data).decode()
    header, read_data = read(url)
    assert read_data == data
    assert f"{header},{base64.b64encode(read_data).decode()}" == url


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/cat.png",
        "https://example.com/cat.png",
        "ftp://example.com/cat.png",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "cat.png",
        ENCODED,
    ],
)
def test_anything_but_a_data_url_is_refused_and_never_fetched(url: str) -> None:
    with pytest.raises(InvalidImage, match="must be a data: URL; remote images are never fetched") as caught:
        read(url)
    assert caught.value.field == FIELD


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("data:image/png;base64", "no comma"),
        ("data:image/svg+xml,%3Csvg/%3E", "must be Base64"),
        ("data:image/png;base64,", "holds no data"),
        ("data:image/png;base64,====", "holds no data"),
        ("data:image/png;base64,A", "not valid Base64"),
        ("data:image/png;base64,AAAA!AAA", "not valid Base64"),
        ("data:image/png;base64,AA==AAAA", "not valid Base64"),
        ("data:image/png;base64,AAA\ud800", "not valid Base64"),
        ("data:image/png;base64,猫猫猫猫", "not valid Base64"),
        ("data:image/猫;base64,AAAA", "header"),
        (f"data:image/{'x' * 2_000};base64,AAAA", "header"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(url: str, problem: str) -> None:
    with pytest.raises(InvalidImage, match=problem) as caught:
        read(url)
    assert caught.value.field == FIELD


@given(st.text(max_size=60))
def test_no_text_at_all_makes_it_fail_in_another_way(text: str) -> None:
    for url in (text, f"data:{text}", f"data:image/png;base64,{text}"):
        try:
            read(url)
        except InvalidImage as error:
            assert text not in str(error) or len(text) < 20


def test_an_image_at_the_limit_is_read_and_one_byte_more_is_not() -> None:
    at_limit, over = (base64.b64encode(bytes(size)).decode() for size in (3_000, 3_001))
    assert len(read(f"data:image/png;base64,{at_limit}", max_image_bytes=3_000)[1]) == 3_000
    with pytest.raises(TooLarge) as caught:
        read(f"data:image/png;base64,{over}", max_image_bytes=3_000)
    assert caught.value.field == FIELD
    assert "3,000 bytes" in caught.value.problem


def test_an_oversized_image_is_refused_before_it_is_decoded() -> None:
    # Not Base64 at all, so had it been decoded, the answer would be another one.
    with pytest.raises(TooLarge):
        read("data:image/png;base64," + "!" * 100_000, max_image_bytes=1_000)
