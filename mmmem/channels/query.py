"""A query as the channels take it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmmem.encoders import Chance
    from mmmem.types import Float32, Int64, PictureReading, QueryEncoding, UInt8


@dataclass(frozen=True, slots=True)
class EncodedText:
    """A text as the channels of words see it. terms: int64 [q]; of those entities: int64 [e]; identifiers: for each name its
    terms, int64 [i], the whole first."""

    encoding: QueryEncoding
    terms: Int64
    identifiers: tuple[Int64, ...]
    entities: Int64


@dataclass(frozen=True, slots=True)
class EncodedCaption:
    """A text to look for among the images, float32 [d] in their space, and what its cosine with any of them would be.

    `text`: the same as the channels of words see it, without the words that ask for a picture.
    `wanted`: the question asks for a picture. `possible`: it may describe one, as what asks nothing does. `about`: it asks something
    about one, which words answer. `colours`: numbers of those that it names.
    """

    text: EncodedText
    vector: Float32
    chance: Chance
    wanted: bool = False
    possible: bool = False
    about: bool = False
    colours: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class EncodedPicture:
    """A picture to look for among the images: its appearance, float32 [a], what cosines of unlike ones would be, and its fingerprint.

    `reading`: what it was taken for.
    """

    appearance: Float32
    fingerprint: UInt8
    chance: Chance
    reading: PictureReading


@dataclass(frozen=True, slots=True)
class EncodedQuery:
    """A query's parts; what it does not have is None or empty.

    `question` is its text as the encoders read it; `labels` what its images seem to show, as text, and `written` what is written in them; `caption` its text, as an image;
    `needs` a question for each of its needs where it has several.
    """

    question: str
    text: EncodedText | None
    options: tuple[EncodedText, ...]
    labels: EncodedText | None
    written: EncodedText | None
    caption: EncodedCaption | None
    images: tuple[EncodedPicture, ...]
    needs: tuple[EncodedQuery, ...] = ()

    def for_picture(self) -> EncodedQuery:
        """The same, asking for a picture."""
        assert self.caption
        return replace(self, caption=replace(self.caption, wanted=True))

    @classmethod
    def of_text(cls, question: str, text: EncodedText) -> EncodedQuery:
        """A question that is text and nothing else."""
        return cls(question, text, options=(), labels=None, written=None, caption=None, images=())
