"""What is refused of a body before anything is made of it."""

import asyncio

import pytest
from starlette.requests import Request

from mmmem.api.bodies import parse_json, read_body
from mmmem.errors import TooLarge, TooSlow


def request(receive) -> Request:
    return Request({"type": "http", "headers": [], "method": "POST", "path": "/add"}, receive)


def test_a_body_of_millions_of_empty_values_is_refused_unparsed() -> None:
    body = b"[" + b"[]," * 1_000 + b"[]]"
    assert len(parse_json(body, 2_002)) == 1_001
    with pytest.raises(TooLarge) as raised:
        parse_json(body, 2_001)
    assert raised.value.field == "body"


def test_a_body_that_never_ends_is_given_up() -> None:
    async def one_byte_and_no_more() -> dict[str, object]:
        if not sent:
            sent.append(True)
            return {"type": "http.request", "body": b"{", "more_body": True}
        await asyncio.Event().wait()
        raise AssertionError

    sent: list[bool] = []
    with pytest.raises(TooSlow):
        asyncio.run(read_body(request(one_byte_and_no_more), 100, 0.05))
