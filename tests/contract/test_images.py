"""Images come back with the bytes and in the order in which they came."""

from typing import Any

import pytest

from tests.contract.pictures import data_url, draw, image_part, text_part
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
