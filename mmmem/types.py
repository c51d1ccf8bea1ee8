"""The words of the domain. Frozen values, no heavy import, no I/O.

A *message* is what a caller sends; a *memory* is what the service keeps and returns: a short message
whole, or one piece of a long one. *Encoded* memories carry what the channels search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Float32 = NDArray[np.float32]
    Int8 = NDArray[np.int8]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    UInt8 = NDArray[np.uint8]


# Token ids of a query that stand for no word: [CLS] and the like, and what the vocabulary does not know.
SPECIAL = -1
UNKNOWN = -2

# The moments that can be written as a date: years 1 to 9999, in Unix ms.
FIRST_MOMENT, LAST_MOMENT = -62_135_596_800_000, 253_402_300_799_999


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text, as the caller sent it."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image, as the caller sent it.

    `header` is the data URL up to the comma, for example ``data:image/png;base64``; `data` holds the
    image file's own bytes. `header + "," + base64(data)` is the URL again.
    """

    header: str
    data: bytes = field(repr=False)


Part = TextPart | ImagePart


@dataclass(frozen=True, slots=True)
class Message:
    """One message of an Add. `timestamp` is in Unix milliseconds (UTC), or None when it had none."""

    role: str
    parts: tuple[Part, ...]
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class AddRequest:
    """What one Add tells the service. The three ids are opaque: any text, compared exactly."""

    request_id: str
    user_id: str
    session_id: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """What one Search asks: text, images or both, in order; `options` are multiple-choice answers."""

    user_id: str
    parts: tuple[Part, ...]
    top_k: int
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """What is kept and returned: one message, or one piece of a long one.

    `timestamp` is the message's own time (Unix ms) or None; `created_at` is that time, or when the
    message had none the moment the Add was received. `position` is the message's place in its Add and
    `piece` the place in its message, both from 0.
    """

    id: str
    session_id: str
    role: str
    parts: tuple[Part, ...]
    timestamp: int | None
    created_at: int
    position: int
    piece: int

    @property
    def text(self) -> str:
        """The memory's text parts, one a line; empty for an image-only memory."""
        return "\n".join([part.text for part in self.parts if isinstance(part, TextPart)])

    @property
    def has_images(self) -> bool:
        """Whether any part of it is an image."""
        return any(isinstance(part, ImagePart) for part in self.parts)


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """One text as the dense and the late-interaction channel see it.

    dense: float32 [d], unit length. tokens: int8 [t, k], one row a token, each row a vector quantised to its
    own largest component (only its direction means anything). token_ids: int32 [t], vocabulary ids.
    """

    dense: Float32
    tokens: Int8
    token_ids: Int32


@dataclass(frozen=True, slots=True)
class QueryEncoding:
    """One query text. dense: float32 [d], unit. tokens: float32 [q, k], unit rows. token_ids: int32 [q].

    Ids are the vocabulary's, or SPECIAL, or UNKNOWN. background: float32 [q], the share of texts of all kinds that hold each
    token, 0 where nothing is known. local: float32 [e], unit, the local model's own pooled vector where `dense` is another's.
    """

    dense: Float32
    tokens: Float32
    token_ids: Int32
    background: Float32
    local: Float32 | None = None


@dataclass(frozen=True, slots=True)
class ImageVectors:
    """One image as an image encoder sees it.

    vector: float32 [d], unit, in a space that texts share. appearance: float32 [a], unit, for comparing it with other images.
    labels: what it seems to show.
    """

    vector: Float32
    appearance: Float32
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImageEncoding:
    """One image with everything that is searched: its vectors, a perceptual hash (uint8 [256]), the shares of its colours (uint8 [11],
    255 for all of it), and the text in it."""

    vectors: ImageVectors
    fingerprint: UInt8
    colours: UInt8
    text: str = ""


@dataclass(frozen=True, slots=True)
class EncodedMemory:
    """A memory with everything the channels search. `images` matches its ImageParts, in order.

    terms: int64 [l], the lexical channel's hashed terms, repeats kept. key: equal for memories that say and show the same, 64
    bits. events: int64 [e, 2], times of which it speaks, [start, end) in Unix ms.
    """

    memory: Memory
    text: TextEncoding
    terms: Int64
    key: int
    events: Int64
    images: tuple[ImageEncoding, ...] = ()


class Place(NamedTuple):
    """A rank among the user's memories, from 1, and the score it was given for."""

    rank: int
    score: float


class ChannelScore(NamedTuple):
    """Where one channel put a memory: its rank among the user's memories (from 1), its score as measured, the channel's weight,
    and what it added to the memory's fused score, in standard deviations."""

    rank: int
    score: float
    weight: float
    added: float


class TokenMatch(NamedTuple):
    """A token of the question and the memory's token nearest to it: their cosine, and the question token's share of the weight."""

    query: str
    memory: str
    similarity: float
    weight: float


class PictureReading(NamedTuple):
    """What a picture was taken for: the labels of what it seems to show, and what is written in it."""

    labels: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a memory came to its place. `reranked` is None where the reranker did not look; `pictures` are the memory's, in order,
    and `query_pictures` the question's, the same for all memories of an answer."""

    channels: Mapping[str, ChannelScore]
    fused: Place
    reranked: Place | None
    tokens: tuple[TokenMatch, ...]
    pictures: tuple[PictureReading, ...] = ()
    query_pictures: tuple[PictureReading, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers a query. `explanation` only where it was asked for."""

    memory: Memory
    score: float
    explanation: Explanation | None = None
