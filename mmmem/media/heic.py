"""HEIC photos for Pillow: libheif and libde265 through the extension module of pi-heif.

Its own plug-in for Pillow is left aside. That one also reads what a phone puts beside the picture, and a broken name of such an item
ends the process; here the picture's size, pixels and ICC profile are all that is asked for. How the picture is turned is said in the
file itself and done by libheif, so its EXIF has nothing to add.
"""

from __future__ import annotations

from typing import Any

import _pi_heif
from PIL import Image, ImageFile

FORMAT = "HEIF"
_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1")


class HeicFile(ImageFile.ImageFile):
    """The primary picture of a file; the others are bursts, thumbnails and depths of it."""

    format = FORMAT
    format_description = "HEIC"

    def _open(self) -> None:
        """Read the header. Raises SyntaxError, as Pillow wants it, when that is damaged."""
        assert self.fp is not None
        try:
            # One thread, 8 bits a channel, RGB, rows as they are, any decoder, with libheif's limits.
            pictures = _pi_heif.load_file(self.fp.read(), 1, True, False, False, True, "", False)
            self._picture: Any = next(picture for picture in pictures if picture is not None and picture.primary)
            self._size, self._mode = self._picture.size_mode
            profile = self._picture.color_profile
        except Exception as error:
            raise SyntaxError("damaged") from error
        if profile.get("type") in ("rICC", "prof"):
            self.info["icc_profile"] = profile["data"]

    def load(self) -> Any:
        """Decode the pixels. Raises ValueError when they are not what the header says."""
        if self._picture is not None:
            pixels = self._picture.data
            if self._picture.size_mode != (self.size, self.mode):
                raise ValueError("another size than the header's")
            self.load_prepare()
            self.frombytes(pixels, "raw", (self.mode, self._picture.stride))
            self._picture = None
        return super().load()


def register() -> None:
    """Let Pillow open such files."""
    Image.register_open(FORMAT, HeicFile, lambda start: start[4:8] == b"ftyp" and start[8:12] in _BRANDS)
