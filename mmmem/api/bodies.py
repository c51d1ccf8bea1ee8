"""Request bodies: from a stream of bytes to a JSON value, within the limits and whatever the Content-Type says."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, NoReturn

from mmmem.errors import InvalidInput, TooLarge, TooSlow

if TYPE_CHECKING:
    from starlette.requests import Request

FIELD = "body"


async def read_body(request: Request, max_bytes: int, max_seconds: float) -> bytes:
    """The whole body. Raises TooLarge as soon as it is announced, or turns out, to be over `max_bytes`, and TooSlow."""
    try:
        async with asyncio.timeout(max_seconds):
            return await _read(request, max_bytes)
    except TimeoutError:
        raise TooSlow(FIELD, f"did not come within {max_seconds:,} seconds") from None


async def _read(request: Request, max_bytes: int) -> bytes:
    too_large = TooLarge(FIELD, f"is larger than the limit of one request, {max_bytes:,} bytes")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise too_large
    return bytes(body)


def parse_json(body: bytes, max_values: int) -> Any:
    """Parse a body, strictly: UTF-8, one JSON value, no NaN. Raises InvalidInput naming the body.

    Parsing holds up every thread of the process, so a body of millions of empty arrays is refused before: TooLarge.
    """
    if sum(body.count(mark) for mark in (b",", b"[", b"{")) > max_values:
        raise TooLarge(FIELD, f"has more than {max_values:,} commas and brackets")
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        problem = "is not UTF-8"
    except json.JSONDecodeError as error:
        problem = f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError:  # Python's limit on the digits of an integer
        problem = "holds a number with too many digits"
    raise InvalidInput(FIELD, problem)


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInput(FIELD, f"is not JSON: {name} is not a JSON number")
