"""Every file of the zoo is seen as a person would see it, or is refused with its reason."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmmem.errors import InvalidImage, TooLarge
from mmmem.media.data_urls import parse_data_url
from mmmem.media.images import decode_image
from mmmem.settings import Settings
from mmmem.types import ImagePart
from tests.media.zoo import bad, good, moving, photos, refused, zoo
from tests.media.zoo.specimen import QUARTERS, Colour, Refused, Shows, Specimen, picture
from tests.media.zoo.urls import DATA, URLS

FIELD = "messages.0.content.1.image_url.url"
SETTINGS = Settings()
MIB = 1024 * 1024

# Pillow warns of what is odd in a file; the service keeps that out of its log.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::PIL.Image.DecompressionBombWarning")


def decode(data: bytes, **settings: int) -> Image.Image:
    return decode_image(ImagePart("data:image/png;base64", data), FIELD, Settings(**settings) if settings else SETTINGS)


def quarters(image: Image.Image) -> list[Colour]:
    """The colours in the middle of the four quarters."""
    width, height = image.size
    return [image.getpixel((width * x // 4, height * y // 4)) for y in (1, 3) for x in (1, 3)]  # type: ignore[misc]


@pytest.mark.parametrize("specimen", good(), ids=str)
def test_a_file_shows_its_picture(specimen: Specimen) -> None:
    expected = specimen.expected
    assert isinstance(expected, Shows)
    before = bytes(specimen.data)
    image = decode(specimen.data)
    assert (image.mode, image.size) == ("RGB", expected.size)
    seen = quarters(image)
    assert np.abs(np.subtract(seen, expected.quarters)).max() <= expected.tolerance, seen
    assert specimen.data == before


@pytest.mark.parametrize("specimen", refused(), ids=str)
def test_a_file_is_refused_with_its_reason(specimen: Specimen) -> None:
    expected = specimen.expected
    assert isinstance(expected, Refused)
    with pytest.raises(InvalidImage if expected.status == 422 else TooLarge) as caught:
        decode(specimen.data)
    assert expected.problem in caught.value.problem
    assert caught.value.field == FIELD


@pytest.mark.parametrize("name", URLS)
def test_a_data_url_is_read_and_its_header_and_bytes_are_kept(name: str) -> None:
    part = parse_data_url(URLS[name], FIELD, SETTINGS)
    assert part.data == DATA
    assert part.header == URLS[name].lstrip().partition(",")[0]
    assert np.abs(np.subtract(quarters(decode(part.data)), QUARTERS)).max() <= 40


def test_the_zoo_is_large_and_each_name_is_said_once() -> None:
    names = [specimen.name for specimen in zoo()]
    assert len(names) == len(set(names)) >= 60


# Decodes each file it is given and prints by how many bytes the largest memory that the process ever took has grown.
MEASURE = """
import json, pathlib, re, sys, warnings
from mmmem.errors import MmmemError
from mmmem.media.images import decode_image
from mmmem.settings import Settings
from mmmem.types import ImagePart
warnings.simplefilter("ignore")
def most_memory():  # getrusage would begin with the parent's
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
grown = {}
for file in map(pathlib.Path, sys.argv[1:]):
    data = file.read_bytes()
    before = most_memory()
    try:
        decode_image(ImagePart("data:;base64", data), "image", Settings())
    except MmmemError:
        pass
    grown[file.name] = most_memory() - before
print(json.dumps(grown))
"""


def test_no_bomb_takes_memory(tmp_path: Path) -> None:
    """Each is a small file, and takes no more than a common photo does; the first one's share is the libraries' own."""
    family = [*bad.too_large(), *bad.bombs(), *moving.animations()]
    ordinary, *others = [photos.heic(picture()), *(specimen.data for specimen in family)]
    files = [tmp_path / f"{place:03}" for place in range(len(family) + 1)]
    for file, data in zip(files, (ordinary, *others), strict=True):
        file.write_bytes(data)
    command = [sys.executable, "-c", MEASURE, *map(str, files)]
    grown = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for file, specimen in zip(files[1:], family, strict=True):
        assert grown[file.name] < 32 * MIB, specimen.name
