"""Pictures in the terminal itself, where it can show them: the graphics protocol of Kitty, and the inline images of iTerm2."""

from __future__ import annotations

import base64
import io
import os
import sys
import warnings
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mmmem.library.results import ImageFile

    Draw = Callable[[bytes], str]

_ROWS = 6  # of text that a picture takes
_SIZE = (480, 240)  # pixels it is made smaller than
_MOST_PIXELS = 50_000_000  # of a picture that is decoded for this
_CHUNK = 4096  # characters of Base64 that Kitty takes at once
_KITTY = {"ghostty"}
_ITERM = {"iTerm.app", "WezTerm", "mintty"}


class Pictures(StrEnum):
    """Whether pictures are drawn."""

    auto = "auto"
    off = "off"


PicturesOption = Annotated[
    Pictures, typer.Option("--pictures", help="Draw pictures in terminals that can (Kitty, iTerm2), or not.")
]


def drawing(wanted: Pictures) -> Callable[[ImageFile], str] | None:
    """What a picture is drawn with on standard output; None where it is not to be, or that is no terminal that can."""
    if wanted is Pictures.off or sys.stdout is None or not sys.stdout.isatty():
        return None
    draw = way(os.environ)
    return None if draw is None else lambda picture: _drawn(picture.data, draw)


def way(environment: Mapping[str, str]) -> Draw | None:
    """How the terminal that these variables tell of is given a PNG file."""
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if "TMUX" in environment or term.startswith(("screen", "tmux")):  # which keep such sequences to themselves
        return None
    if "KITTY_WINDOW_ID" in environment or term == "xterm-kitty" or program in _KITTY:
        return _kitty
    if program in _ITERM or environment.get("LC_TERMINAL") == "iTerm2":
        return _iterm
    return None


def _drawn(data: bytes, draw: Draw) -> str:
    """Of a small copy, never of the stored bytes; nothing of a picture that Pillow cannot read by itself."""
    from PIL import Image

    file = io.BytesIO()
    try:
        with warnings.catch_warnings(action="error"), Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > _MOST_PIXELS:
                return ""
            image.draft("RGB", _SIZE)
            small = image.convert("RGBA")
        small.thumbnail(_SIZE)
        small.save(file, "PNG")
    except Exception:  # a picture of any kind, which is described in words already
        return ""
    return draw(file.getvalue())


def _kitty(png: bytes) -> str:
    """Transmitted and placed, in chunks, without an answer from the terminal."""
    text = base64.b64encode(png).decode("ascii")
    chunks = [text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK)]
    heads = [f"a=T,f=100,r={_ROWS},q=2,", *[""] * (len(chunks) - 1)]
    return "".join(
        f"\x1b_G{head}m={int(number < len(chunks))};{chunk}\x1b\\"
        for number, (head, chunk) in enumerate(zip(heads, chunks, strict=True), start=1)
    )


def _iterm(png: bytes) -> str:
    text = base64.b64encode(png).decode("ascii")
    return f"\x1b]1337;File=inline=1;size={len(png)};height={_ROWS};preserveAspectRatio=1:{text}\x07"
