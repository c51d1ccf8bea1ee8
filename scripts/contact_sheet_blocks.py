"""Pictures of text, and pictures put below, beside and around each other. A block is an RGB image."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from PIL.ImageFont import FreeTypeFont

INK, DIM, PAPER = "#1a202c", "#667085", "#ffffff"
# What has most scripts first; DejaVu has no Chinese, and Pillow's own font only Latin.
FONTS = (
    "NotoSansCJK-Regular.ttc",
    "NotoSansSC-Regular.otf",
    "NotoSansSC-Regular.ttf",
    "PingFang.ttc",
    "msyh.ttc",
    "DejaVuSans.ttf",
)

Block = Image.Image


class Pen:
    """Writes with one font file, or without one with the best that this machine has. Raises OSError when it is no font."""

    def __init__(self, file: Path | None = None) -> None:
        self.font = cache(lambda size: _font(file, size))
        self.font(13)

    def paragraph(
        self, text: str, width: int, lines: int, *, size: int = 13, ink: str = INK, ground: str = PAPER
    ) -> Block:
        """A text on at most so many lines of this width, in px."""
        font = self.font(size)
        written = broken(text, font, width, lines)
        height = round(size * 1.35)
        block = Image.new("RGB", (width, max(len(written), 1) * height), ground)
        draw = ImageDraw.Draw(block)
        for place, line in enumerate(written):
            draw.text((0, place * height), line, ink, font)
        return block


def _font(file: Path | None, size: int) -> FreeTypeFont:
    if file:
        return ImageFont.truetype(file, size)
    for name in FONTS:
        try:
            return ImageFont.truetype(name, size)
        except OSError:
            continue
    made = ImageFont.load_default(size)
    assert isinstance(made, FreeTypeFont)  # a bitmap only where Pillow was built without FreeType
    return made


def broken(text: str, font: FreeTypeFont, width: int, most: int) -> list[str]:
    """A text cut into lines that fit, between words where there are some; the last of `most` ends in … where there is more."""
    lines: list[str] = []
    for line in text.splitlines():
        rest = line.strip()
        while rest:
            if len(lines) == most:
                last = lines[-1]
                # … may be wider than what it takes the place of
                while len(last) > 1 and font.getlength(f"{last}…") > width:
                    last = last[:-1]
                return [*lines[:-1], f"{last}…"]
            end = _fitting(rest, font, width)
            space = rest.rfind(" ", 0, end + 1) if end < len(rest) else -1
            end = space if space > 0 else end
            lines.append(rest[:end])
            rest = rest[end:].lstrip()
    return lines


def _fitting(text: str, font: FreeTypeFont, width: int) -> int:
    """How many characters fit; one always does."""
    counts = range(1, min(len(text), width) + 1)  # hardly a character is narrower than a pixel
    return max(bisect_right(counts, float(width), key=lambda count: font.getlength(text[:count])), 1)


def below(blocks: Sequence[Block], gap: int = 4, ground: str = PAPER) -> Block:
    """Blocks below each other."""
    height = sum(block.height for block in blocks) + gap * (len(blocks) - 1)
    made = Image.new("RGB", (max(block.width for block in blocks), height), ground)
    y = 0
    for block in blocks:
        made.paste(block, (0, y))
        y += block.height + gap
    return made


def beside(blocks: Sequence[Block], gap: int = 12, ground: str = PAPER) -> Block:
    """Blocks beside each other."""
    width = sum(block.width for block in blocks) + gap * (len(blocks) - 1)
    made = Image.new("RGB", (width, max(block.height for block in blocks)), ground)
    x = 0
    for block in blocks:
        made.paste(block, (x, 0))
        x += block.width + gap
    return made


def in_rows(blocks: Sequence[Block], count: int, gap: int, ground: str = PAPER) -> Block:
    """Blocks in rows of so many."""
    return below([beside(blocks[n : n + count], gap, ground) for n in range(0, len(blocks), count)], gap, ground)


def around(block: Block, padding: int, *, ground: str = PAPER, line: str = "", thick: int = 1, width: int = 0) -> Block:
    """A block with room, and a line, around it. width: the least that it all takes."""
    size = max(width, block.width + 2 * padding), block.height + 2 * padding
    made = Image.new("RGB", size, ground)
    made.paste(block, (padding, padding))
    if line:
        ImageDraw.Draw(made).rectangle((0, 0, size[0] - 1, size[1] - 1), outline=line, width=thick)
    return made
