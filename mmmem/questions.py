"""A query encoded for the channels: its text, its options, its pictures, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmmem.channels import EncodedCaption, EncodedPicture, EncodedQuery, EncodedText
from mmmem.entities import entities
from mmmem.needs import needs
from mmmem.terms import hashed, named, terms
from mmmem.texts import beginning_and_end, well_formed
from mmmem.types import ImagePart, TextPart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.encoders import ImageEncoder, TextEncoder
    from mmmem.pictures import PictureEncoder, PreparedPicture
    from mmmem.settings import Settings
    from mmmem.types import Query, QueryEncoding


class QuestionEncoder:
    """Encodes queries as the memories are encoded."""

    def __init__(self, settings: Settings, text: TextEncoder, image: ImageEncoder, pictures: PictureEncoder) -> None:
        self._settings = settings
        self._text = text
        self._image = image
        self._pictures = pictures

    def prepare(self, query: Query) -> list[PreparedPicture]:
        """The query's images, decoded. Raises InvalidImage or TooLarge."""
        sent = (
            (f"query.{place}.image_url.url", part)
            for place, part in enumerate(query.parts)
            if isinstance(part, ImagePart)
        )
        return self._pictures.prepare(sent)

    def encode(self, query: Query, prepared: Sequence[PreparedPicture]) -> EncodedQuery:
        """Everything that the channels look for. Raises ModelUnavailable."""
        limit = self._settings.max_query_encoded_chars
        text = well_formed("\n".join(part.text for part in query.parts if isinstance(part, TextPart)).strip())
        options = [well_formed(option.strip()) for option in query.options if option.strip()]
        images = self._pictures.encode(prepared)
        labels = ", ".join(label for image in images for label in image.vectors.labels)
        written = "\n".join(image.text for image in images if image.text)
        several = needs(beginning_and_end(text, limit)) if self._settings.need_places else []
        texts = [text, labels, written, *several, *options]
        limits = [limit, limit, limit, *[limit for _ in several], *[max(limit // len(options), 2) for _ in options]]
        read = [beginning_and_end(value, most) for value, most in zip(texts, limits, strict=True)]
        encodings = iter(self._text.encode_queries([value for value in read if value]))
        encoded = iter([encode_text(value, next(encodings)) if value else None for value in texts])
        asked, shown, read_there = (next(encoded) for _ in range(3))
        wanted = [(need, each) for need, each in zip(several, encoded, strict=False) if each]
        return EncodedQuery(
            question=read[0],
            text=asked,
            options=tuple(option for option in encoded if option),
            labels=shown,
            written=read_there,
            caption=self._caption(read[0], asked) if asked else None,
            images=tuple(
                EncodedPicture(image.vectors.appearance, image.fingerprint, self._image.appearance_chance)
                for image in images
            ),
            needs=tuple(EncodedQuery.of_text(need, each) for need, each in wanted),
        )

    def _caption(self, question: str, text: EncodedText) -> EncodedCaption:
        """The question as a text to look for among the images."""
        [vector] = self._image.encode_captions([question], [text.encoding])
        return EncodedCaption(vector, self._image.caption_chance(vector))


def encode_text(text: str, encoding: QueryEncoding) -> EncodedText:
    """A text's terms beside its vectors: all of its words count, also those that the encoder was not given."""
    return EncodedText(
        encoding, hashed(terms(text)), tuple(hashed(name) for name in named(text)), hashed(terms(entities(text)))
    )
