"""From a request body to the domain's values: shape by the contract's models, limits by the settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from mmmem.api import contract
from mmmem.api.bodies import parse_json
from mmmem.api.ranking_settings import ranked_with
from mmmem.api.times import read_timestamp
from mmmem.api.validation import validated
from mmmem.errors import InvalidInput, TooLarge
from mmmem.media.data_urls import parse_data_url
from mmmem.types import AddRequest, ImagePart, Message, Query, TextPart

if TYPE_CHECKING:
    from mmmem.settings import Settings
    from mmmem.types import Part

Asked = TypeVar("Asked", bound=contract.SearchBody)


def read_add(body: bytes, settings: Settings) -> AddRequest:
    """Read the body of an Add. Raises InvalidInput, InvalidImage and TooLarge, naming the field."""
    value = parse_json(body, settings.max_json_values)
    _check_count(value, "messages", settings.max_messages)
    add = validated(contract.AddBody, value)
    for field in ("request_id", "user_id", "session_id"):
        _check_length(getattr(add, field), field, settings.max_id_chars)
    reader = _ContentReader(settings)
    messages = tuple(reader.message(message, f"messages.{place}") for place, message in enumerate(add.messages))
    if reader.text_chars > settings.max_text_chars:
        raise TooLarge("messages", f"hold more text than the limit, {settings.max_text_chars:,} characters")
    return AddRequest(add.request_id, add.user_id, add.session_id, messages)


def read_query(body: bytes, settings: Settings) -> Query:
    """Read the body of a Search. Raises InvalidInput, InvalidImage and TooLarge, naming the field."""
    return _query(_search(contract.SearchBody, body, settings), settings)


def read_explain(body: bytes, settings: Settings) -> tuple[Query, Settings | None]:
    """Read the body of an Explain: the question, and the settings to rank with where it names any. Raises as read_query does."""
    asked = _search(contract.ExplainBody, body, settings)
    return _query(asked, settings), ranked_with(settings, asked.settings) if asked.settings else None


def _search(model: type[Asked], body: bytes, settings: Settings) -> Asked:
    value = parse_json(body, settings.max_json_values)
    _check_count(value, "options", settings.max_options)
    return validated(model, value)


def _query(search: contract.SearchBody, settings: Settings) -> Query:
    _check_length(search.user_id, "user_id", settings.max_id_chars)
    if search.top_k > settings.max_top_k:
        raise InvalidInput("top_k", f"must be at most {settings.max_top_k:,}")
    options = tuple(search.options or ())
    reader = _ContentReader(settings)
    parts = reader.parts(search.query, "query")
    for field, chars in (("query", reader.text_chars), ("options", sum(map(len, options)))):
        if chars > settings.max_query_chars:
            raise TooLarge(field, f"holds more text than the limit, {settings.max_query_chars:,} characters")
    return Query(search.user_id, parts, search.top_k, options)


def _check_count(value: Any, field: str, limit: int) -> None:
    """Before anything is made of the items: a body can hold millions of them."""
    items = value.get(field) if isinstance(value, dict) else None
    if isinstance(items, list) and len(items) > limit:
        raise TooLarge(field, f"has more items than the limit, {limit:,}")


def _check_length(text: str, field: str, limit: int) -> None:
    if len(text) > limit:
        raise InvalidInput(field, f"is longer than {limit:,} characters")


@dataclass
class _ContentReader:
    """Reads the content of one request, and counts what all of it holds together."""

    settings: Settings
    text_chars: int = 0
    images: int = 0
    image_bytes: int = 0

    def message(self, message: contract.MessageBody, field: str) -> Message:
        _check_length(message.role, f"{field}.role", self.settings.max_role_chars)
        timestamp = read_timestamp(message.timestamp, f"{field}.timestamp")
        return Message(message.role, self.parts(message.content, f"{field}.content"), timestamp)

    def parts(self, content: contract.Content, field: str) -> tuple[Part, ...]:
        if isinstance(content, str):
            parts: tuple[Part, ...] = (TextPart(content),)
            first_text = field
        elif not content:
            raise InvalidInput(field, "must not be empty")
        elif len(content) > self.settings.max_parts:
            raise TooLarge(field, f"has more parts than the limit, {self.settings.max_parts:,}")
        else:
            parts = tuple(self._part(part, f"{field}.{place}") for place, part in enumerate(content))
            first_text = f"{field}.0.text"
        if all(isinstance(part, TextPart) and not part.text.strip() for part in parts):
            raise InvalidInput(first_text, "must not be blank where there is no image")
        self.text_chars += sum(len(part.text) for part in parts if isinstance(part, TextPart))
        return parts

    def _part(self, part: contract.ContentPart, field: str) -> Part:
        if isinstance(part, contract.TextContent):
            return TextPart(part.text)
        return self._image(part.image_url.url, f"{field}.image_url.url")

    def _image(self, url: str, field: str) -> ImagePart:
        self.images += 1
        if self.images > self.settings.max_request_images:
            raise TooLarge(
                field, f"is one image more than the limit of a request, {self.settings.max_request_images:,}"
            )
        image = parse_data_url(url, field, self.settings)
        self.image_bytes += len(image.data)
        limit = self.settings.max_images_bytes
        if self.image_bytes > limit:
            raise TooLarge(field, f"brings the request's images over the limit of {limit:,} bytes together")
        return image
