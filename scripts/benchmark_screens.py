"""Screenshots as people paste them, drawn with Pillow: chats, receipts, slides, code, terminals, tables, dialogues, forms.

Every kind takes what it says as a mapping; the fields of each are those of benchmark_images.json. The fonts are DejaVu where it
is installed and else the one in Pillow, so figures of two machines are comparable where both have it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from textwrap import wrap
from typing import Any

from PIL import Image, ImageDraw, ImageFont

Content = Mapping[str, Any]
Colour = str
FreeType = ImageFont.FreeTypeFont

PAPERS = ("white", "#f4f1ea", "#eef2f7", "#fffdf5")
ACCENTS = ("#1f6feb", "#2e7d32", "#b3261e", "#6a3fa0", "#00695c", "#ad5b00")
DARK = (("#1e1e2e", "#cdd6f4"), ("#0d1117", "#c9d1d9"), ("#002b36", "#93a1a1"), ("#282c34", "#abb2bf"))
SYNTAX = ("#c792ea", "#82aaff", "#c3e88d", "#f78c6c")
SIZES = range(12, 29)  # px of the text


@cache
def font(size: int, name: str = "") -> FreeType:
    """A font of so many pixels. name: "" for Pillow's own, or a DejaVu such as "DejaVuSansMono" where it is found."""
    for file in (f"{name}.ttf", str(_matplotlib_fonts() / f"{name}.ttf")) if name else ():
        try:
            return ImageFont.truetype(file, size)
        except OSError:
            continue
    made = ImageFont.load_default(size)
    assert isinstance(made, FreeType)  # a bitmap only where Pillow was built without FreeType
    return made


def _matplotlib_fonts() -> Path:
    found = find_spec("matplotlib")
    folder = Path(found.origin).parent if found and found.origin else Path()
    return folder / "mpl-data" / "fonts" / "ttf"


def render(kind: str, content: Content, seed: int) -> Image.Image:
    """A screenshot of this kind. The seed chooses font, size and colours."""
    return KINDS[kind](content, random.Random(f"{kind} {seed}"))


def sans(pick: random.Random, sizes: Sequence[int] = SIZES) -> tuple[FreeType, FreeType]:
    """A font and a heading's to go with it."""
    size, name = pick.choice(sizes), pick.choice(("", "DejaVuSans", "DejaVuSerif"))
    return font(size, name), font(round(1.4 * size), name)


def page(width: float, height: float, colour: Colour) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """An empty page and its pen."""
    image = Image.new("RGB", (round(width), round(height)), colour)
    return image, ImageDraw.Draw(image)


def chat(content: Content, pick: random.Random) -> Image.Image:
    """A name on top and bubbles to the left and right."""
    small, large = sans(pick, range(14, 23))
    dark = pick.random() < 0.3
    ground, theirs, ink = ("#0b141a", "#202c33", "#e9edef") if dark else (pick.choice(PAPERS), "#dfe3e8", "#111111")
    step, width = round(1.35 * small.size), 26 * small.size
    bubbles = [(who, wrap(text, 32)) for who, text in content["lines"]]
    height = 3 * large.size + sum((len(lines) + 1) * step + small.size for _, lines in bubbles) + step
    image, pen = page(width, height, ground)
    accent = pick.choice(ACCENTS)
    pen.rectangle((0, 0, width, 2 * large.size), accent)
    pen.text((large.size, large.size), content["title"], "white", large, "lm")
    y = 2.6 * large.size
    for who, lines in bubbles:
        wide = max(pen.textlength(line, small) for line in lines) + 1.6 * small.size
        x = width - wide - small.size if who == "me" else small.size
        tall = len(lines) * step + 0.9 * small.size
        pen.rounded_rectangle((x, y, x + wide, y + tall), small.size * 0.7, accent if who == "me" else theirs)
        for place, line in enumerate(lines):
            at = (x + 0.8 * small.size, y + 0.4 * small.size + place * step)
            pen.text(at, line, "white" if who == "me" else ink, small)
        y += tall + 0.7 * small.size
    return image


def receipt(content: Content, pick: random.Random) -> Image.Image:
    """A till's strip of paper: names to the left, prices to the right."""
    mono = font(pick.choice(range(13, 23)), "DejaVuSansMono")
    large = font(round(1.3 * mono.size), "DejaVuSansMono-Bold")
    rows = [*content["items"], ["", ""], ["TOTAL", content["total"]]]
    step, width = 1.5 * mono.size, 22 * mono.size
    image, pen = page(width, (len(rows) + 6) * step, pick.choice(PAPERS))
    pen.text((width / 2, 1.5 * step), content["shop"], "#222222", large, "mm")
    for place, (name, price) in enumerate(rows):
        y = (place + 3) * step
        pen.text((mono.size, y), name, "#222222", mono)
        pen.text((width - mono.size, y), price, "#222222", mono, "ra")
    pen.line((mono.size, (len(rows) + 1.6) * step, width - mono.size, (len(rows) + 1.6) * step), "#555555", 1)
    pen.text((width / 2, (len(rows) + 4.2) * step), content["footer"], "#444444", mono, "mm")
    return image


def slide(content: Content, pick: random.Random) -> Image.Image:
    """16:9, a title and bullets."""
    width = pick.choice((800, 960, 1120))
    small, large = font(width // 36, "DejaVuSans"), font(width // 24, pick.choice(("", "DejaVuSans-Bold")))
    accent, dark = pick.choice(ACCENTS), pick.random() < 0.3
    image, pen = page(width, width * 9 / 16, "#15202b" if dark else "white")
    pen.rectangle((0, 0, width, width * 0.02), accent)
    pen.text((width * 0.06, width * 0.11), content["title"], "white" if dark else accent, large, "lm")
    for place, bullet in enumerate(content["bullets"]):
        y = width * (0.22 + 0.085 * place)
        pen.ellipse((width * 0.07, y - 4, width * 0.07 + 9, y + 5), accent)
        pen.text((width * 0.1, y), bullet, "#dddddd" if dark else "#222222", small, "lm")
    return image


def code(content: Content, pick: random.Random) -> Image.Image:
    """An editor with a dark theme: a tab, line numbers, a few colours."""
    mono = font(pick.choice(range(12, 21)), "DejaVuSansMono")
    ground, ink = pick.choice(DARK)
    step, letter = 1.5 * mono.size, mono.getlength("m")
    width = letter * (max(map(len, content["lines"])) + 8)
    image, pen = page(max(width, 30 * letter), step * (len(content["lines"]) + 3.5), ground)
    pen.rectangle((0, 0, letter * (len(content["file"]) + 4), 1.6 * step), "#3a3f4b")
    pen.text((2 * letter, 0.8 * step), content["file"], "white", mono, "lm")
    for number, line in enumerate(content["lines"], 1):
        y = (number + 1.5) * step
        pen.text((letter, y), f"{number:2}", "#6b7280", mono)
        first, blank, rest = line.lstrip().partition(" ")
        x = letter * (5 + len(line) - len(line.lstrip()))
        pen.text((x, y), first, pick.choice(SYNTAX), mono)
        pen.text((x + letter * len(first + blank), y), rest, ink, mono)
    return image


def terminal(content: Content, pick: random.Random) -> Image.Image:
    """A window with three buttons and a log in it."""
    mono = font(pick.choice(range(12, 20)), "DejaVuSansMono")
    ground, ink = pick.choice((("black", "#d0d0d0"), ("#101418", "#7fd962"), ("#300a24", "white")))
    step, letter = 1.45 * mono.size, mono.getlength("m")
    width = max(letter * (max(map(len, content["lines"])) + 4), 44 * letter)
    image, pen = page(width, step * (len(content["lines"]) + 3.5), ground)
    pen.rectangle((0, 0, width, 1.5 * step), "#3c3c3c")
    for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840")):
        pen.ellipse((10 + 20 * place, 0.75 * step - 6, 22 + 20 * place, 0.75 * step + 6), colour)
    for place, line in enumerate(content["lines"]):
        wrong = any(word in line.lower() for word in ("error", "failed", "rejected"))
        pen.text((2 * letter, (place + 2) * step), line, "#ff6b6b" if wrong else ink, mono)
    return image


def table(content: Content, pick: random.Random) -> Image.Image:
    """A spreadsheet or a calendar's week."""
    small, large = sans(pick, range(13, 21))
    rows: list[list[str]] = content["rows"]
    widths = [max(small.getlength(cell) for cell in column) + 2 * small.size for column in zip(*rows, strict=True)]
    step, left = 2 * small.size, small.size
    image, pen = page(sum(widths) + 2 * left, step * (len(rows) + 2.6), "white")
    pen.text((left, step), content["title"], "#222222", large, "lm")
    accent = pick.choice(ACCENTS)
    for place, row in enumerate(rows):
        x, y = left, (place + 2) * step
        for cell, width in zip(row, widths, strict=True):
            pen.rectangle((x, y, x + width, y + step), accent if place == 0 else "white", "#b0b0b0")
            pen.text((x + small.size / 2, y + step / 2), cell, "#222222" if place else "white", small, "lm")
            x += round(width)
    return image


def dialog(content: Content, pick: random.Random) -> Image.Image:
    """A window with a message and buttons, on a desktop."""
    small, large = sans(pick, range(14, 21))
    lines, step = wrap(content["message"], 42), 1.4 * small.size
    width, height = 27 * small.size, step * (len(lines) + 6) + large.size
    image, pen = page(width + 120, height + 100, pick.choice(("#2b5b84", "#4a4e69", "#7aa095", "#c9ada7")))
    pen.rounded_rectangle((60, 50, 60 + width, 50 + height), 8, "#f3f3f3", "#888888")
    pen.text((60 + small.size, 50 + 1.4 * large.size), content["title"], "black", large, "lm")
    for place, line in enumerate(lines):
        pen.text((60 + small.size, 50 + 2.4 * large.size + place * step), line, "#333333", small)
    right, y = 60 + width - small.size, 50 + height - 2.8 * small.size
    for place, button in enumerate(reversed(content["buttons"])):
        left = right - pen.textlength(button, small) - 2 * small.size
        colour = "#d9d9d9" if place else ACCENTS[0]
        pen.rounded_rectangle((left, y, right, y + 2 * small.size), 5, colour)
        pen.text((left + small.size, y + small.size), button, "black" if place else "white", small, "lm")
        right = left - 0.7 * small.size
    return image


def form(content: Content, pick: random.Random) -> Image.Image:
    """A web form that is filled in."""
    small, large = sans(pick, range(13, 21))
    step, width = 3.6 * small.size, 26 * small.size
    image, pen = page(width, step * (len(content["fields"]) + 2.2), pick.choice(PAPERS))
    pen.text((1.5 * small.size, 0.5 * step), content["title"], "#111111", large, "lm")
    for place, (label, value) in enumerate(content["fields"]):
        y = step * (place + 1)
        pen.text((1.5 * small.size, y), label, "#666666", small)
        box = (1.5 * small.size, y + 1.3 * small.size, width - 1.5 * small.size, y + 3.1 * small.size)
        pen.rounded_rectangle(box, 4, "white", "#a0a0a0")
        pen.text((2 * small.size, y + 2.2 * small.size), value, "#111111", small, "lm")
    y = step * (len(content["fields"]) + 1.2)
    wide = pen.textlength(content["button"], small) + 2 * small.size
    pen.rounded_rectangle((1.5 * small.size, y, 1.5 * small.size + wide, y + 2 * small.size), 5, pick.choice(ACCENTS))
    pen.text((2.5 * small.size, y + small.size), content["button"], "white", small, "lm")
    return image


KINDS: dict[str, Callable[[Content, random.Random], Image.Image]] = {
    "chat": chat,
    "receipt": receipt,
    "slide": slide,
    "code": code,
    "terminal": terminal,
    "table": table,
    "dialog": dialog,
    "form": form,
}
