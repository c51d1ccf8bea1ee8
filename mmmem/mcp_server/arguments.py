"""What the tools take. Their descriptions and schemas are what a model sees."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

if TYPE_CHECKING:
    from pydantic import ValidationError

MOST_HITS = 20
MOST_LISTED = 50
_ANY_TYPE = "application/octet-stream"  # the bytes decide what it is, and whether it is an image
_SHOWN_CHARS = 100  # of an argument's name


class Picture(BaseModel):
    """An image as Base64 with its media type."""

    model_config = ConfigDict(extra="forbid")

    data: str = Field(description="The image file in Base64.")
    media_type: str = Field(_ANY_TYPE, description="For example image/png.")


Image = Annotated[
    Annotated[str, Tag("text")] | Annotated[Picture, Tag("object")],
    Discriminator(lambda given: "text" if isinstance(given, str) else "object"),
    Field(
        description="An image file: a data URL (data:image/png;base64,...), or Base64, alone or as an object with its media type."
    ),
]
Session = Annotated[str | None, Field(min_length=1)]


class Arguments(BaseModel):
    """Of a tool. What it does not know is refused, rather than taken for something that was heeded."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Remember(Arguments):
    """See tools.py."""

    text: str = Field("", description="What to remember, in full sentences that can be understood by themselves later.")
    images: list[Image] = Field([], description="Pictures that belong to the text, in order.")
    role: str = Field("user", min_length=1, description="Who said it: user, assistant, or another speaker's name.")
    session: Session = Field(None, description="The conversation that it belongs to; leave out for the usual one.")
    time: datetime | None = Field(
        None,
        description="When it was said or happened, ISO 8601 with an offset; without one UTC. Leave out for now.",
    )


class Recall(Arguments):
    """See tools.py."""

    text: str = Field("", description="What to look for: a question or a description, in natural language.")
    images: list[Image] = Field([], description="Pictures to look for, or to look for together with the text.")
    top_k: int = Field(5, ge=1, le=MOST_HITS, description="The most memories to return.")


class ListMemories(Arguments):
    """See tools.py."""

    order: Literal["newest", "oldest"] = Field("newest", description="Which come first, by time.")
    limit: int = Field(20, ge=1, le=MOST_LISTED, description="The most memories on a page.")
    cursor: str | None = Field(
        None,
        min_length=1,
        description="Where the page begins: the cursor that the page before gave, with the same order.",
    )
    session: Session = Field(None, description="Only what belongs to this conversation.")


class Forget(Arguments):
    """See tools.py."""

    id: str = Field(min_length=1, description="The memory's id, as recall and list_memories show it.")


def schema(arguments: type[Arguments]) -> dict[str, Any]:
    """Its JSON Schema without references, which some clients do not follow, and without titles."""
    whole = arguments.model_json_schema()
    plain: dict[str, Any] = _plain(whole, whole.get("$defs", {}))
    return {name: value for name, value in plain.items() if name != "description"}


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(definitions[node["$ref"].rpartition("/")[2]], definitions)
    return {
        name: _plain(value, definitions)
        for name, value in node.items()
        if name != "$defs" and not (name == "title" and isinstance(value, str))
    }


def content(text: str, images: list[str | Picture]) -> list[dict[str, Any]]:
    """The contract's content parts: the text, where there is one, then the images."""
    texts = [{"type": "text", "text": text}] if text.strip() else []
    return [*texts, *({"type": "image_url", "image_url": {"url": _url(image)}} for image in images)]


def moment(time: datetime | None) -> datetime:
    """A time with a zone; now where none was given."""
    if time is None:
        return datetime.now(UTC)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def complaint(error: ValidationError) -> str:
    """What is wrong with a tool's arguments, without any of their values."""
    told = []
    for each in error.errors(include_url=False, include_input=False, include_context=False):
        steps = [str(step) for step in each["loc"] if step not in {"text", "object"} or step is each["loc"][0]]
        told.append(f"{'.'.join(steps)[:_SHOWN_CHARS]}: {each['msg']}")
    return "; ".join(dict.fromkeys(told))


def own_name(field: str, first_image: int) -> str:
    """What the caller of a tool knows a field of the contract as. first_image: the place of the first image among the parts."""
    image = _IMAGE.match(field)
    if image:
        return f"images.{int(image[1]) - first_image}"
    return next((name for start, name in _NAMES.items() if field.startswith(start)), field)


_IMAGE = re.compile(r"(?:messages\.0\.content|query)\.(\d+)\.image_url")
_NAMES = {
    "messages.0.role": "role",
    "messages.0.timestamp": "time",
    "messages": "text",
    "query": "text",
    "session_id": "session",
    "user_id": "the user of this server's configuration",
    "after": "cursor",
}


def _url(image: str | Picture) -> str:
    if isinstance(image, Picture):
        return f"data:{image.media_type};base64,{image.data}"
    return image if image.lstrip()[:5].lower() == "data:" else f"data:{_ANY_TYPE};base64,{image}"
