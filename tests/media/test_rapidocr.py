"""What is written in a picture is read, within bounds; what is not writing is not."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from base64 import b64decode
from io import BytesIO

import pytest
from PIL import Image, ImageDraw, ImageFont
from skimage import data

from mmmem.encoders.weights import verified_folder
from mmmem.media.ocr import NoTextReader
from mmmem.media.rapidocr import LARGEST_SIDE, MOST_PIECES, NARROWEST, RapidTextReader, _pieces

# "The meeting is moved to Thursday, half past three in the afternoon", in Noto Sans SC: most machines have no Chinese font
CHINESE = (
    "iVBORw0KGgoAAAANSUhEUgAAASIAAAAkAQAAAAAF6wqyAAABxElEQVR42u2UMWsUQRzFf7N7mEGCt2CToLBbWGh3paLoevaKYGEZ/AQKFoLn7uxVFhbWEkzQ"
    "JpWQDxCzgpUfQCxEZuHCpRCyFy5mvOzuWFz2skmj1vqameLHe2/+M4yw/F4fHP5E/y6VA1jF9oyyqpiAhjxxCn0MnrBaU1VareZOmrn4hlIKkQmpGQkPWkeJ"
    "xVLrljacL4CtS/rpa2DkACT2yOtnByBTmkye+wL4O+Zb1LY5sUNYUz8WnF2Pa89yfHPyFPEsce00ApSzAGADgDpIJOqQso/OPghSxF4AlDc1MLYhQL8/WvQO"
    "KREfLMOcFt/JpJsClAIA37SHeZ2owARR78wLbkeAgXmlKEXY6NcC8NSNEPAow0+Au5JQnrghIShCsQu86bubwXgAD8G16THKWObAjJ7zPqLUugd3q1hBJrNF"
    "OfPKqRQX2k9syNZFJDAdR1w1vCaGj1SA6PZ9Q6cR5A9NTY3n6anBV/a4Hk26DWb5VcNrW9qr6bvP5UvAWSKZvrhMyMBtUOunint3Om8HBWAuN9pE3eYkDtz7"
    "Vza6K/hO8pi1upLdD3M1w6y1dnO/sg3t2Cqe7obTJRX//4m/on4BrxbDz0wTRHAAAAAASUVORK5CYII="
)


def reader(**bounds) -> RapidTextReader:
    bounds = {"max_lines": 200, "max_seconds": 600.0} | bounds
    return RapidTextReader(verified_folder("PP-OCRv4"), version="1", threads=2, **bounds)


def test_the_library_that_reads_keeps_no_id_of_the_machine_and_reports_to_nobody(tmp_path):
    """It makes both where it is loaded, in the cache of the user, unless it is told not to; on machines of a CI it does not."""
    code = """
from mmmem.media.rapidocr import RapidTextReader
from mmmem.encoders.weights import verified_folder
RapidTextReader(verified_folder("PP-OCRv4"), version="1", threads=1, max_lines=1, max_seconds=1.0)
"""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    environment |= {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.fixture(scope="module")
def ocr() -> RapidTextReader:
    return reader()


def page(*lines: str, size: int = 24, ink: str = "black", paper: str = "white", width: int = 700) -> Image.Image:
    image = Image.new("RGB", (width, 20 + len(lines) * size * 2), paper)
    for place, line in enumerate(lines):
        ImageDraw.Draw(image).text((20, 10 + place * size * 2), line, ink, ImageFont.load_default(size))
    return image


@pytest.mark.parametrize(
    ("ink", "paper", "size"), [("black", "white", 24), ("#c9d1d9", "#0d1117", 20), ("black", "#dcf8c6", 14)]
)
def test_words_are_read_in_order_light_on_dark_and_small_too(ocr, ink, paper, size):
    said = ocr.read(page("Taxi to the airport 48.50", "Total paid by card", ink=ink, paper=paper, size=size)).lower()
    found = [said.find(word) for word in ("taxi", "airport", "48.50", "total", "card")]
    assert found == sorted(found)
    assert found[0] >= 0, said


def test_a_long_screenshot_is_read_to_its_end(ocr):
    said = ocr.read(page(*(f"message number {n}" for n in range(60)), size=22, width=360))
    assert all(f"number {n}" in said for n in range(0, 60, 7)), said


@pytest.mark.parametrize(
    ("ink", "paper", "size"), [("#111111", "#dcf8c6", 13), ("white", "#1f6feb", 18), ("black", "white", 30)]
)
def test_the_words_of_a_line_stay_apart_and_a_price_stays_whole(ocr, ink, paper, size):
    lines = (
        "Do you want to come over for dinner on Saturday",
        "It is called Lemongrass and they close at ten",
        "Oat milk 22.03",
    )
    assert ocr.read(page(*lines, ink=ink, paper=paper, size=size, width=900)).splitlines() == list(lines)


def test_chinese_is_read(ocr):
    assert ocr.read(Image.open(BytesIO(b64decode(CHINESE))).convert("RGB")) == "会议改到星期四下午三点半"


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_that_lies_on_its_side_or_head_is_read(ocr, degrees):
    said = ocr.read(
        page("Taxi to the airport", "Total paid by card", width=500).rotate(degrees, expand=True, fillcolor="white")
    )
    assert "Taxi to the airport" in said
    assert "Total paid by card" in said


@pytest.mark.parametrize("name", ["coffee", "chelsea", "gravel"])
def test_a_photo_without_writing_has_none(ocr, name):
    assert ocr.read(Image.fromarray(getattr(data, name)()).convert("RGB")) == ""


@pytest.mark.parametrize("size", [(1, 1), (3, 2_000), (4_000, 2), (30, 30)])
def test_a_picture_of_any_shape_is_looked_at(ocr, size):
    assert ocr.read(Image.new("RGB", size, "white")) == ""


@pytest.mark.parametrize(
    "size", [(3, 2_000), (4_000, 2), (8, 20_000), (20_000, 9), (30, 3_000), (3_000, 30), (7_000, 7_000)]
)
def test_the_work_on_one_picture_is_bounded_whatever_its_shape(size):
    seen = [piece.size for piece in _pieces(Image.new("RGB", size))]
    assert len(seen) <= MOST_PIECES
    for width, height in seen:
        assert max(width, height) <= LARGEST_SIDE
        assert max(width, height) <= (NARROWEST + 1) * min(width, height)


def test_the_lines_of_one_picture_are_bounded():
    text = reader(max_lines=3).read(page(*(f"line number {n}" for n in range(12))))
    assert len(text.splitlines()) == 3


def test_after_its_time_no_further_piece_is_begun(monkeypatch):
    looked = []
    bounded = reader(max_seconds=1e-9)
    detect = bounded._engine.auto_text_det
    monkeypatch.setattr(bounded._engine, "auto_text_det", lambda pixels: looked.append(pixels) or detect(pixels))
    bounded.read(page(*(f"message number {n}" for n in range(60)), size=22, width=200))
    assert len(looked) == 1 < MOST_PIECES


def test_nothing_is_said_in_the_log(ocr, caplog, capfd):
    with caplog.at_level(logging.DEBUG):
        ocr.read(page("a secret word"))
        ocr.read(Image.new("RGB", (50, 50)))
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_switched_off_nothing_is_read():
    assert NoTextReader().read(page("words")) == ""


def test_a_fault_of_the_reader_does_not_cost_the_picture(monkeypatch, caplog):
    broken = reader()

    def fails(pixels):
        raise RuntimeError("a secret word")

    monkeypatch.setattr(broken._engine, "auto_text_det", fails)
    assert broken.read(page("words")) == ""
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text
