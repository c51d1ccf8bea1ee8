"""The shapes of requests and responses. Strict: nothing is coerced; unknown fields are ignored.

These models also are the OpenAPI document. Limits that depend on the settings are in `translate.py`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, PlainValidator, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise PydanticCustomError("string", "must be a string")
    return value


def _non_empty_string(value: object) -> str:
    if not _string(value):
        raise PydanticCustomError("empty", "must not be empty")
    return _string(value)


# Pydantic's own `str` refuses the lone surrogates that JSON allows, and that callers are promised back.
AnyString = Annotated[Any, PlainValidator(_string), WithJsonSchema({"type": "string"})]
NonEmptyString = Annotated[Any, PlainValidator(_non_empty_string), WithJsonSchema({"type": "string", "minLength": 1})]


class Shape(BaseModel):
    """What all have in common."""

    model_config = ConfigDict(strict=True, extra="ignore")


class TextContent(Shape):
    """A piece of text."""

    type: Literal["text"]
    text: AnyString


class ImageUrl(Shape):
    """An image as a `data:` URL in Base64. Remote images are never fetched."""

    url: NonEmptyString


class ImageContent(Shape):
    """An image."""

    type: Literal["image_url"]
    image_url: ImageUrl


def _part_tag(value: object) -> str:
    is_image = isinstance(value, dict) and value.get("type") == "image_url"
    return "<image>" if is_image else "<text>"


def _content_tag(value: object) -> str | None:
    if isinstance(value, str):
        return "<string>"
    return "<parts>" if isinstance(value, list) else None


# The tags are in the locations of Pydantic's errors; no field is spelt like them, so that `field_path` can leave them out.
ContentPart = Annotated[
    Annotated[TextContent, Tag("<text>")] | Annotated[ImageContent, Tag("<image>")], Discriminator(_part_tag)
]
Content = Annotated[
    Annotated[AnyString, Tag("<string>")] | Annotated[list[ContentPart], Field(fail_fast=True), Tag("<parts>")],
    Discriminator(
        _content_tag,
        custom_error_type="content",
        custom_error_message="must be a string or an array of content parts",
    ),
]


class MessageBody(Shape):
    """One message."""

    role: NonEmptyString
    content: Content = Field(
        description="A string, or text and images in order. Holds an image or text that is not blank."
    )
    timestamp: int | None = Field(None, description="Unix milliseconds, UTC. A value in seconds is recognised.")


class AddBody(Shape):
    """Messages to remember, in order."""

    request_id: NonEmptyString = Field(description="The same id with the same body again changes nothing.")
    user_id: NonEmptyString = Field(description="Whose memory this is; compared exactly.")
    session_id: NonEmptyString = Field(description="The conversation the messages belong to.")
    messages: list[MessageBody] = Field(min_length=1, fail_fast=True)


class SearchBody(Shape):
    """A question to one user's memory."""

    query: Content = Field(description="A string, or text and images in order.")
    options: Annotated[list[AnyString], Field(fail_fast=True)] | None = Field(
        None, description="The choices of a multiple-choice question."
    )
    user_id: NonEmptyString = Field(description="The only scope of a search; compared exactly.")
    top_k: int = Field(ge=1, description="The most memories to return.")


class ExplainBody(SearchBody):
    """As for /search, and how to rank."""

    settings: dict[str, Any] | None = Field(
        None, description="Settings of the ranking for this question alone, in lower case without MMMEM_."
    )


class AddAnswer(Shape):
    """Everything in the request is durable and searchable."""

    success: Literal[True]
    request_id: NonEmptyString
    user_id: NonEmptyString
    session_id: NonEmptyString


class FoundMemory(Shape):
    """A memory that answers the query."""

    id: NonEmptyString
    content: Content
    score: float = Field(description="Larger is better; never increases down the list.")
    created_at: str = Field(description="ISO 8601, UTC: the message's own time where it had one.")


class SearchAnswer(Shape):
    """Memories, best first; never more than top_k."""

    data: list[FoundMemory]


class RankAnswer(Shape):
    """A place among all of the user's memories, from 1, and what it was given for."""

    rank: int = Field(ge=1)
    score: float


class ChannelAnswer(RankAnswer):
    """Where one channel put a memory, by its own measure."""

    weight: float = Field(description="Of the channel, in the fusion.")
    added: float = Field(description="To the fused score, in standard deviations.")


class TokenAnswer(Shape):
    """A token of the question and the memory's token that is nearest to it."""

    query: str
    memory: str
    similarity: float = Field(description="Their cosine.")
    weight: float = Field(description="The question token's share of all weights, 0 to 1.")


class PictureAnswer(Shape):
    """What a picture was taken for."""

    labels: list[str] = Field(description="What it seems to show.")
    text: str = Field(description="What is written in it.")


class ExplainedMemory(FoundMemory):
    """A memory, who said it and where, and how it came to its place."""

    role: NonEmptyString
    session_id: NonEmptyString
    channels: dict[str, ChannelAnswer]
    fused: RankAnswer
    reranked: RankAnswer | None = Field(description="By the reranker alone; null for what it did not look at.")
    tokens: list[TokenAnswer] = Field(description="By what each adds to the late interaction, the most first.")
    pictures: list[PictureAnswer] = Field(description="In their order in the memory.")


class ExplainAnswer(Shape):
    """The same memories in the same order as /search, and how each came to its place."""

    data: list[ExplainedMemory]
    query_pictures: list[PictureAnswer] = Field(
        [], description="The question's, in their order; none without memories."
    )


class ErrorDetail(Shape):
    """What is wrong, in words; `field` and `problem` where the fault lies in one field."""

    reason: str
    field: str | None = None
    problem: str | None = None


class ErrorAnswer(Shape):
    """Every error has this shape."""

    detail: ErrorDetail
    code: str = Field(description="Stable and machine-readable.")


class AliveAnswer(Shape):
    """The process answers."""

    status: Literal["alive"]


class HealthAnswer(Shape):
    """The models are loaded and the store is open."""

    status: Literal["ok"]
    version: str
    profile: str
