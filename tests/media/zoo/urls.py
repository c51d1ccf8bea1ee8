"""Data URLs as they come in the wild, each of a picture that is read."""

from __future__ import annotations

import base64
import textwrap
from urllib.parse import quote

from tests.media.zoo.specimen import encode, picture

# Its Base64 has plus signs, slashes and padding.
DATA = next(
    data
    for quality in range(60, 100)
    if {"+", "/", "="} <= set(base64.b64encode(data := encode(picture(), "JPEG", quality=quality)).decode())
)
ENCODED = base64.b64encode(DATA).decode()
HEADER = "data:image/jpeg;base64"

URLS = {
    "as it should be": f"{HEADER},{ENCODED}",
    "upper case": f"DATA:IMAGE/JPEG;BASE64,{ENCODED}",
    "image/jpg": f"data:image/jpg;base64,{ENCODED}",
    "parameters": f'data:image/jpeg;charset=utf-8;name="a b.jpg";base64,{ENCODED}',
    "a blank before base64": f"data:image/jpeg; base64,{ENCODED}",
    "no type": f"data:;base64,{ENCODED}",
    "a type of no image": f"data:application/octet-stream;base64,{ENCODED}",
    "the type of another format": f"data:image/png;base64,{ENCODED}",
    "a type that does not exist": f"data:image/*;base64,{ENCODED}",
    "no padding": f"{HEADER},{ENCODED.rstrip('=')}",
    "line breaks": f"{HEADER},\r\n" + "\r\n".join(textwrap.wrap(ENCODED, 76)) + "\r\n",
    "indented lines": f"{HEADER},\n    " + "\n    ".join(textwrap.wrap(ENCODED, 64)),
    "spaces for plus signs": f"{HEADER},{ENCODED.replace('+', ' ')}",
    "URL-safe alphabet": f"{HEADER},{ENCODED.replace('+', '-').replace('/', '_')}",
    "URL-safe alphabet without padding": f"{HEADER},{ENCODED.replace('+', '-').replace('/', '_').rstrip('=')}",
    "percent-encoded": f"{HEADER},{quote(ENCODED, safe='')}",
    "percent-encoded in lower case": f"{HEADER},{ENCODED.replace('+', '%2b').replace('/', '%2f').replace('=', '%3d')}",
    "white space before it": f"  \n{HEADER},{ENCODED}",
}
