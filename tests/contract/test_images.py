"""Images come back with the bytes and in the order in which they came."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract.pictures import data_url, draw, image_part, text_part, url_of
from tests.media.zoo import good, refused
from tests.media.zoo.specimen import Refused, Specimen
from tests.media.zoo.urls import DATA, URLS
from tests.running import RunningService, text_of, urls_of

FORMATS = ["JPEG", "PNG", "WEBP", "GIF"]


def kinds(memory: dict[str, Any]) -> list[str]:
    return [part["type"] for part in memory["content"]]


@pytest.mark.parametrize("image_format", FORMATS)
def test_an_image_comes_back_equal(service: RunningService, image_format: str) -> None:
    url = data_url(draw(), image_format)
    service.add(f"image-{image_format}", [text_part("a red ball"), image_part(url)])
    (memory,) = service.search(f"image-{image_format}", "a red ball")
    assert urls_of(memory) == [url]


def test_a_declared_type_comes_back_though_it_is_not_the_real_one(service: RunningService) -> None:
    url = data_url(draw(), "PNG", mime="image/jpg")
    service.add("declared", [image_part(url)])
    (memory,) = service.search("declared", "a ball")
    assert urls_of(memory) == [url]


def test_text_and_images_keep_their_order(service: RunningService) -> None:
    urls = [
        data_url(draw(colour), image_format)
        for colour, image_format in zip(["red", "green", "blue", "gold"], FORMATS, strict=True)
    ]
    parts = [
        text_part("first the red one"),
        image_part(urls[0]),
        image_part(urls[1]),
        text_part("then the blue one"),
        image_part(urls[2]),
        image_part(urls[3]),
        text_part("that was all"),
    ]
    service.add("order", parts)
    (memory,) = service.search("order", "which came first?")
    assert kinds(memory) == [part["type"] for part in parts]
    assert urls_of(memory) == urls
    texts = [part["text"] for part in memory["content"] if part["type"] == "text"]
    assert texts[0].splitlines()[0].endswith("first the red one")
    assert texts[1:] == ["then the blue one", "that was all"]


def test_a_message_of_an_image_alone_is_found_by_that_image(service: RunningService) -> None:
    urls = {
        colour: data_url(draw(colour, shape), "PNG") for colour, shape in (("red", "ellipse"), ("blue", "rectangle"))
    }
    service.add("image-only", *([image_part(url)] for url in urls.values()))
    for url in urls.values():
        found = service.search("image-only", [image_part(url)])
        assert urls_of(found[0]) == [url]
        assert len(found) == 2


def test_an_image_and_a_text_may_ask_together(service: RunningService) -> None:
    url = data_url(draw("green"), "WEBP")
    service.add("joint", [text_part("the new logo"), image_part(url)], "the old logo was a square")
    found = service.search("joint", [text_part("which memory matches this?"), image_part(url)])
    assert urls_of(found[0]) == [url]
    assert "the new logo" in text_of(found[0])


@pytest.mark.parametrize("mode", ["RGBA", "P", "L", "LA", "1", "CMYK"])
def test_every_colour_mode_is_accepted(service: RunningService, mode: str) -> None:
    image_format = "TIFF" if mode == "CMYK" else "PNG"
    image = draw().convert("L").convert(mode) if mode == "LA" else draw().convert(mode)
    url = data_url(image, image_format)
    service.add(f"mode-{mode}", [image_part(url)])
    (memory,) = service.search(f"mode-{mode}", [image_part(url)])
    assert urls_of(memory) == [url]


def test_every_file_that_is_read_comes_back_with_its_bytes(start_service: Callable[..., RunningService]) -> None:
    """Without OCR, which would look for text in each of them."""
    service = start_service(ocr="off").ready()
    for number, specimens in enumerate(batches(good(), 30)):
        urls = {specimen.name: url_of(specimen.data) for specimen in specimens}
        service.add(f"zoo-{number}", *([text_part(name), image_part(url)] for name, url in urls.items()))
        found = service.search(f"zoo-{number}", "the files", top_k=30)
        returned = {url for memory in found for url in urls_of(memory)}
        assert [name for name, url in urls.items() if url not in returned] == []
    ways = [image_part(url) for url in URLS.values()]
    service.add("ways to write a data URL", ways)
    (memory,) = service.search("ways to write a data URL", "a picture")
    payload = url_of(DATA).partition(",")[2]
    assert urls_of(memory) == [f"{url.lstrip().partition(',')[0]},{payload}" for url in URLS.values()]


def batches(specimens: list[Specimen], size: int) -> Iterator[list[Specimen]]:
    for start in range(0, len(specimens), size):
        yield specimens[start : start + size]


@pytest.fixture(scope="module")
def refusing(service: RunningService) -> str:
    """A user with one memory."""
    service.add("refusing", "the garden gate squeaks")
    return "refusing"


@pytest.mark.parametrize("specimen", refused(), ids=str)
def test_a_file_that_is_not_read_is_refused_with_all_of_its_request(
    service: RunningService, refusing: str, specimen: Specimen
) -> None:
    assert isinstance(specimen.expected, Refused)
    bad_part = image_part(url_of(specimen.data))
    good_part = image_part(data_url(draw()))
    messages = [
        {"role": "user", "content": "this must not be kept"},
        {"role": "user", "content": [text_part("nor this"), good_part, bad_part]},
    ]
    ids = {"request_id": specimen.name, "user_id": refusing, "session_id": "s"}
    answer = service.post("/add", {**ids, "messages": messages})
    assert answer.status_code == specimen.expected.status, answer.text
    detail = answer.json()["detail"]
    assert detail["field"] == "messages.1.content.2.image_url.url"
    assert specimen.expected.problem in detail["problem"]
    (memory,) = service.search(refusing, "what must not be kept?")
    assert text_of(memory).endswith("the garden gate squeaks")


def test_more_images_than_a_request_may_hold_are_refused(service: RunningService) -> None:
    messages = [{"role": "user", "content": [image_part(data_url(draw()))] * 51} for _ in range(2)]
    ids = {"request_id": "many", "user_id": "many-images", "session_id": "s"}
    answer = service.post("/add", {**ids, "messages": messages})
    assert answer.status_code == 413
    assert answer.json()["detail"] == {
        "reason": "messages.1.content.49.image_url.url: is one image more than the limit of a request, 100",
        "field": "messages.1.content.49.image_url.url",
        "problem": "is one image more than the limit of a request, 100",
    }
    assert service.search("many-images", "anything") == []
