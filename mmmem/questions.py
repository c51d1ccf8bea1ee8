"""A query encoded for the channels: its text, its options, its pictures, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmmem.captions import asks_about_picture, asks_for_picture, caption, may_describe
from mmmem.channels import EncodedCaption, EncodedPicture, EncodedQuery, EncodedText
from mmmem.entities import entities
from mmmem.instructions import without_instructions
from mmmem.media.colours import named_colours
from mmmem.needs import needs
from mmmem.terms import hashed, named, terms
from mmmem.texts import beginning_and_end, well_formed
from mmmem.types import ImagePart, PictureReading, TextPart

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

    def asked_by(self, settings: Settings) -> QuestionEncoder:
        """The same with other settings."""
        return QuestionEncoder(settings, self._text, self._image, self._pictures)

    def prepare(self, query: Query) -> list[PreparedPicture]:
        """The query's images, decoded. Raises InvalidImage or TooLarge."""
        sent = (
            (f"query.{place}.image_url.url", part)
            for place, part in enumerate(query.parts)
            if isinstance(part, ImagePart)
        )
        return self._pictures.prepare(sent)

    def encode(self, query: Query, prepared: Sequence[PreparedPicture], *, pictured: bool) -> EncodedQuery:
        """Everything that the channels look for. pictured: whether the user has pictures, which a question may describe.

        Raises ModelUnavailable.
        """
        limit = self._settings.max_query_encoded_chars
        text = well_formed("\n".join(part.text for part in query.parts if isinstance(part, TextPart)).strip())
        options = [well_formed(option.strip()) for option in query.options if option.strip()]
        said = without_instructions(text, options=bool(options))
        text = said if options else said or text
        question = beginning_and_end(text, limit)
        images = self._pictures.encode(prepared)
        labels = ", ".join(label for image in images for label in image.vectors.labels)
        written = "\n".join(image.text for image in images if image.text)
        several = needs(question) if self._settings.need_places else []
        shown = question if images else caption(question)  # a picture that is sent along is not asked for
        shown = shown if pictured else ""
        limits = [
            *[limit for _ in (text, labels, written, shown, *several)],
            *[limit // max(len(options), 1)] * len(options),
        ]
        encoded = iter(self._encode_texts([text, labels, written, shown, *several, *options], limits))
        asked, seen, read, described = (next(encoded) for _ in range(4))
        wanted = [(need, each) for need, each in zip(several, encoded, strict=False) if each]
        return EncodedQuery(
            question=question,
            text=asked,
            options=tuple(option for option in encoded if option),
            labels=seen,
            written=read,
            caption=self._caption(question, shown, described, sent=bool(images)) if described else None,
            images=tuple(
                EncodedPicture(
                    image.vectors.appearance,
                    image.fingerprint,
                    self._image.appearance_chance,
                    PictureReading(image.vectors.labels, image.text),
                )
                for image in images
            ),
            needs=tuple(EncodedQuery.of_text(need, each) for need, each in wanted),
        )

    def _encode_texts(self, texts: Sequence[str], limits: Sequence[int]) -> list[EncodedText | None]:
        """Each text, None for an empty one; a text that comes twice is one and the same. limits: the characters of each that the encoder reads."""
        read = [beginning_and_end(text, max(limit, 2)) for text, limit in zip(texts, limits, strict=True)]
        once = [text for text in dict.fromkeys(read) if text]
        encodings = dict(zip(once, self._text.encode_queries(once), strict=True))
        both = list(zip(texts, read, strict=True))
        encoded = {(text, seen): encode_text(text, encodings[seen]) for text, seen in dict.fromkeys(both) if text}
        return [encoded.get(each) for each in both]

    def _caption(self, question: str, shown: str, text: EncodedText, *, sent: bool) -> EncodedCaption:
        """What to look for among the images. sent: whether a picture came with the question, which is then not about another one."""
        [vector] = self._image.encode_captions([shown], [text.encoding])
        wanted = not sent and asks_for_picture(question)
        about = not sent and asks_about_picture(question)
        possible = not sent and not wanted and (shown != question if about else may_describe(question))
        chance = self._image.caption_chance(vector)
        return EncodedCaption(text, vector, chance, wanted, possible, about, named_colours(shown))


def encode_text(text: str, encoding: QueryEncoding) -> EncodedText:
    """A text's terms beside its vectors: all of its words count, also those that the encoder was not given."""
    return EncodedText(
        encoding, hashed(terms(text)), tuple(hashed(name) for name in named(text)), hashed(terms(entities(text)))
    )
