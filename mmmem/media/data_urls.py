"""`data:` URLs (RFC 2397) as they are found in the wild, read into ImageParts. Nothing is ever fetched."""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING

from mmmem.errors import InvalidImage, TooLarge
from mmmem.types import ImagePart

if TYPE_CHECKING:
    from mmmem.settings import Settings

# A real header is some thirty characters; a long one would be kept and sent back with every hit.
MAX_HEADER_CHARS = 1_000

# What percent-encoding does to the characters of Base64 and to white space, in either case of its digits.
_PERCENT_ENCODED = {
    encoded: character
    for code, character in (("2B", "+"), ("2F", "/"), ("3D", "="), ("20", " "), ("0A", "\n"), ("0D", "\r"))
    for encoded in {f"%{code}", f"%{code.lower()}"}
}
_URL_SAFE = str.maketrans("-_", "+/")


def parse_data_url(url: str, field: str, settings: Settings) -> ImagePart:
    """Read one `data:` URL. What it declares is kept as its header; only the bytes decide what it is.

    The header is kept verbatim up to the comma. Base64 may lack its padding, hold line breaks, spaces where a plus sign was,
    percent-encoding, or the URL-safe alphabet. Raises InvalidImage (not a data URL, not Base64, empty) and, before anything is
    decoded, TooLarge. `field` names the URL in errors.
    """
    header, payload = split_data_url(url.lstrip(), field)
    return ImagePart(header, _decode_base64(payload, field, settings.max_image_bytes))


def split_data_url(url: str, field: str) -> tuple[str, str]:
    """The header and what follows its comma. Raises InvalidImage for what cannot be an image's `data:` URL in Base64."""
    header, comma, payload = url.partition(",")
    if header[:5].lower() != "data:":
        raise InvalidImage(field, "must be a data: URL; remote images are never fetched")
    if not comma:
        raise InvalidImage(field, "has no comma between the data: URL's header and its data")
    if len(header) > MAX_HEADER_CHARS or not header.isascii():
        raise InvalidImage(field, f"has a header that is not ASCII, or longer than {MAX_HEADER_CHARS:,} characters")
    if "base64" not in (parameter.strip().lower() for parameter in header.split(";")[1:]):
        raise InvalidImage(field, "must be Base64: the data: URL has no ;base64 before its comma")
    return header, payload


def _decode_base64(payload: str, field: str, max_bytes: int) -> bytes:
    too_large = TooLarge(field, f"is larger than the limit of one image, {max_bytes:,} bytes")
    if len(payload) > 2 * max_bytes + 1024:  # far more than line breaks add to four characters for three bytes
        raise too_large
    digits = _plain_base64(payload).rstrip("=")
    if len(digits) * 3 // 4 > max_bytes:
        raise too_large
    if not digits:
        raise InvalidImage(field, "holds no data")
    try:
        return binascii.a2b_base64(digits + "=" * (-len(digits) % 4), strict_mode=True)
    except ValueError:
        raise InvalidImage(field, "is not valid Base64") from None


def _plain_base64(payload: str) -> str:
    """The payload on one line and in the standard alphabet, whatever its transport did to it. Linear in its length."""
    if "%" in payload:
        for encoded, character in _PERCENT_ENCODED.items():
            payload = payload.replace(encoded, character)
    # White space at either end of a line is lay-out; a space within it was a plus sign before a form decoder saw it,
    # and so were those at the very end where just as many digits are missing.
    digits = "".join(line.strip() for line in payload.splitlines())
    lost = -len(digits) % 4
    if payload.endswith(" " * lost):
        digits += "+" * lost
    return digits.replace(" ", "+").translate(_URL_SAFE)
