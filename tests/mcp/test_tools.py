"""What an agent can do with its memory, over both transports."""

from __future__ import annotations

import base64
import io
import re
import uuid
from datetime import UTC, datetime
from typing import Any

import anyio
import jsonschema
import numpy as np
import pytest
from PIL import Image

from tests.contract.pictures import data_url, draw
from tests.mcp.agents import Agent, text_of


def word() -> str:
    """One that no other test tells."""
    return f"w{uuid.uuid4().hex[:12]}"


def file(image: Image.Image, kind: str) -> bytes:
    written = io.BytesIO()
    image.save(written, kind)
    return written.getvalue()


def noise(side: int, seed: int = 0) -> Image.Image:
    """What no format makes small."""
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (side, side, 3), np.uint8))


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def ids(text: str) -> list[str]:
    return re.findall(r"\bid (mem_\w+)", text)


def test_the_tools_say_what_they_take_and_what_they_change(agent: Agent) -> None:
    tools = {tool.name: tool for tool in agent.portal.call(agent.client.list_tools).tools}
    assert set(tools) == {"remember", "recall", "list_memories", "forget"}
    hints = {name: tool.annotations for name, tool in tools.items()}
    assert {name for name, hint in hints.items() if hint.read_only_hint} == {"recall", "list_memories"}
    assert {name for name, hint in hints.items() if hint.destructive_hint} == {"forget"}
    assert {name for name, hint in hints.items() if hint.idempotent_hint} == {"recall", "list_memories", "forget"}
    assert not any(hint.open_world_hint for hint in hints.values())
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["additionalProperties"] is False
        assert "$ref" not in str(tool.input_schema)
        assert not [name for name in tool.input_schema["properties"] if "user" in name]
        assert all("description" in field for field in tool.input_schema["properties"].values())
        assert tool.description


def test_what_is_remembered_is_recalled_with_its_time_and_who_said_it(agent: Agent) -> None:
    name = word()
    agent.ask("remember", text=f"The cat is called {name}.", role="assistant", time="2024-03-01T12:30:00+02:00")
    agent.ask("remember", text="Trains leave at nine.", session=word())
    found = agent.ask("recall", text=f"who is {name}?", top_k=1)
    assert f"[2024-03-01 10:30] assistant: The cat is called {name}." in found
    assert "Trains" not in found


def test_what_has_no_time_is_of_now(agent: Agent) -> None:
    name = word()
    before = datetime.now(UTC)
    agent.ask("remember", text=name)
    found = agent.ask("recall", text=name, top_k=1)
    told = datetime.strptime(re.search(r"\[([^]]+)\] user", found)[1] + "+0000", "%Y-%m-%d %H:%M%z")
    assert before.replace(second=0, microsecond=0) <= told <= datetime.now(UTC)


@pytest.mark.parametrize(("kind", "media_type"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")])  # fmt: skip
def test_an_image_that_clients_take_comes_back_byte_for_byte(agent: Agent, kind: str, media_type: str) -> None:
    data, name = file(draw("blue"), kind), word()
    agent.ask("remember", text=name, images=[{"data": base64_of(data), "media_type": "image/whatever"}])
    [image] = agent.images("recall", text=name, top_k=1)
    assert (image.mime_type, base64.b64decode(image.data)) == (media_type, data)


@pytest.mark.parametrize("kind", ["BMP", "TIFF", "AVIF"])
def test_an_image_of_another_format_comes_back_as_png(agent: Agent, kind: str) -> None:
    name = word()
    agent.ask("remember", text=name, images=[data_url(draw("red"), kind)])
    [image] = agent.images("recall", text=name, top_k=1)
    shown = Image.open(io.BytesIO(base64.b64decode(image.data)))
    assert (image.mime_type, shown.format, shown.size) == ("image/png", "PNG", (96, 96))
    assert shown.convert("RGB").getpixel((48, 48))[0] > 200


def test_images_may_come_as_base64_alone_and_come_back_in_order_behind_their_text(agent: Agent) -> None:
    name, files = word(), [file(draw(colour), "PNG") for colour in ("red", "green", "blue")]
    agent.ask("remember", text=name, images=[base64_of(data) for data in files])
    answer = agent.call("recall", text=name, top_k=1).content
    assert [block.type for block in answer] == ["text", "image", "image", "image"]
    assert [base64.b64decode(block.data) for block in answer[1:]] == files


def test_an_image_without_a_text_is_a_memory_too(agent: Agent) -> None:
    data = file(noise(8, seed=5), "PNG")
    agent.ask("remember", images=[base64_of(data)], session=(name := word()))
    listed = agent.ask("list_memories", session=name)
    assert "1 image" in listed


def test_large_images_are_shown_smaller_and_an_answer_keeps_its_bounds(agent: Agent) -> None:
    name = word()
    for number in range(3):
        photos = [base64_of(file(noise(400, seed=10 * number + each), "PNG")) for each in range(3)]
        agent.ask("remember", text=f"{name} {number}", images=photos)
    answer = agent.call("recall", text=name, top_k=3)
    images = [block for block in answer.content if block.type == "image"]
    sizes = [len(base64.b64decode(image.data)) for image in images]
    assert 3 <= len(images) <= 8
    assert sum(sizes) <= 700 * 1024
    for image in images:
        shown = Image.open(io.BytesIO(base64.b64decode(image.data)))
        shown.load()
        assert image.mime_type == f"image/{shown.format.lower()}"
    assert sum(int(count) for count in re.findall(r"(\d+) images? not shown", text_of(answer))) == 9 - len(images)


def test_memories_are_listed_by_time_a_page_at_a_time(agent: Agent) -> None:
    session = word()
    for day in (2, 1, 3):
        agent.ask("remember", text=f"day {day}", session=session, time=f"2024-01-0{day}T00:00:00Z")
    assert re.findall(r"day (\d)", agent.ask("list_memories", session=session)) == ["3", "2", "1"]
    first = agent.ask("list_memories", session=session, order="oldest", limit=2)
    assert re.findall(r"\[2024-01-0(\d) 00:00\] user: day", first) == ["1", "2"]
    cursor = re.search(r"cursor: (\S+)", first)[1]
    rest = agent.ask("list_memories", session=session, order="oldest", limit=2, cursor=cursor)
    assert re.findall(r"day (\d)", rest) == ["3"]
    assert "cursor" not in rest


def test_what_is_forgotten_is_gone(agent: Agent) -> None:
    name = word()
    agent.ask("remember", text=name, session=name)
    [memory] = ids(agent.ask("list_memories", session=name))
    agent.ask("forget", id=memory)
    assert agent.ask("list_memories", session=name) == "No memories."
    assert "no memory with this id" in agent.fail("forget", id=memory)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("remember", {}, "text: give a text, images, or both"),
        ("remember", {"text": 5}, "text: "),
        ("remember", {"text": "x", "time": "yesterday"}, "time: "),
        ("remember", {"text": "x", "images": [7]}, "images.0: "),
        ("remember", {"text": "x", "role": ""}, "role: "),
        ("remember", {"text": "x", "user_id": "bob"}, "user_id: "),
        ("remember", {"text": "x", "images": ["%%%"]}, "images.0: is not valid Base64"),
        ("remember", {"text": "x", "images": ["https://example.org/cat.png"]}, "images.0: "),
        ("remember", {"text": "x", "images": ["/etc/passwd"]}, "images.0: "),
        ("remember", {"text": "x", "images": [data_url(draw(), "PNG"), base64_of(b"no image")]}, "images.1: "),
        ("remember", {"text": "x", "images": [base64_of(file(draw(), "PNG")[:-60])]}, "images.0: "),
        ("remember", {"text": "x", "images": [{"media_type": "image/png"}]}, "images.0.data: "),
        ("recall", {}, "text: give a text, images, or both"),
        ("recall", {"text": "x", "top_k": 21}, "top_k: "),
        ("recall", {"text": "x", "user_id": "bob"}, "user_id: "),
        ("recall", {"images": ["AAAA"]}, "images.0: "),
        ("list_memories", {"limit": 0}, "limit: "),
        ("list_memories", {"order": "best"}, "order: "),
        ("list_memories", {"cursor": "nowhere"}, "cursor: "),
        ("forget", {}, "id: "),
        ("forget", {"id": ""}, "id: "),
    ],
)
def test_a_wrong_argument_is_named_and_changes_nothing(
    stdio_agent: Agent, tool: str, arguments: dict[str, Any], said: str
) -> None:
    before = stdio_agent.ask("list_memories", limit=1)
    assert stdio_agent.fail(tool, **arguments).startswith(said)
    assert stdio_agent.ask("list_memories", limit=1) == before


def test_an_image_over_the_limit_is_refused(agent: Agent) -> None:
    large = base64_of(b"\x89PNG" + bytes(10 * 1024 * 1024))
    assert agent.fail("remember", text="x", images=[large]).startswith("images.0: is larger than the limit")


def test_text_that_is_odd_comes_back(agent: Agent) -> None:
    name = word()
    agent.ask("remember", text=f"{name} \u202e<b>\x07\n\n猫 🐈 \u0000")
    assert f"{name} \u202e<b>\x07\n\n猫 🐈" in agent.ask("recall", text=name, top_k=1)


def test_calls_at_once_are_all_answered(agent: Agent) -> None:
    session = word()

    async def all_at_once() -> list[Any]:
        answers: list[Any] = []

        async def one(number: int) -> None:
            text = f"{session} number {number}"
            answers.append(await agent.client.call_tool("remember", {"text": text, "session": session}))
            answers.append(await agent.client.call_tool("recall", {"text": text}))

        async with anyio.create_task_group() as tasks:
            for number in range(40):
                tasks.start_soon(one, number)
        return answers

    answers = agent.portal.call(all_at_once)
    assert len(answers) == 80
    assert not any(answer.is_error for answer in answers)
    listed = agent.ask("list_memories", session=session, limit=50)
    assert {int(number) for number in re.findall(r"number (\d+)", listed)} == set(range(40))


def test_a_tool_that_is_none_is_an_error_of_the_protocol(agent: Agent) -> None:
    with pytest.raises(Exception, match="there is no tool of this name"):
        agent.call("delete_everything")
