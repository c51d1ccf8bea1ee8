"""A Search on its way: the query is encoded, every channel scores the user's memories, fusion orders them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.channels import Channel, EncodedPicture, EncodedQuery, EncodedText, channels
from mmmem.dates import named_dates
from mmmem.encoders.terms import hashed, identifiers, terms
from mmmem.media.images import ImageReader
from mmmem.presentation import present, without_images
from mmmem.retrieval.fusion import best_first, logistic, ranks, reciprocal_rank_fusion, weighted_mean
from mmmem.texts import beginning_and_end, well_formed
from mmmem.types import ChannelScore, Hit, ImagePart, TextPart

if TYPE_CHECKING:
    from mmmem.encoders import ImageEncoder, TextEncoder
    from mmmem.retrieval.fusion import Scores
    from mmmem.settings import Settings
    from mmmem.store import Store, UserArrays
    from mmmem.types import Float32, Int64, Memory, Query


class Search:
    """Answers queries from one store with one pair of encoders."""

    def __init__(self, settings: Settings, store: Store, text: TextEncoder, image: ImageEncoder) -> None:
        self._settings = settings
        self._store = store
        self._text = text
        self._image = image
        self._reader = ImageReader(settings)

    def __call__(self, query: Query) -> list[Hit]:
        """Hits, best first, at most `top_k`. Raises InvalidImage, TooLarge, StoreUnavailable or ModelUnavailable."""
        sent = (
            (f"query.{place}.image_url.url", part)
            for place, part in enumerate(query.parts)
            if isinstance(part, ImagePart)
        )
        images = self._reader.read(sent, self._image.prepare)
        arrays = self._store.arrays(query.user_id)
        if not arrays.memories:
            return []
        found = channels(self._encode(query, images), arrays, self._settings)
        scores = self._fuse(found, len(arrays.memories))
        best = best_first(scores, [memory.id for memory in arrays.memories], query.top_k)
        return self._hits(query.user_id, best, scores, found, arrays)

    def _encode(self, query: Query, prepared: list[Float32]) -> EncodedQuery:
        text = well_formed("\n".join(part.text for part in query.parts if isinstance(part, TextPart)).strip())
        options = well_formed("\n".join(query.options).strip())
        images = self._image.encode_images(prepared)
        labels = ", ".join(label for image in images for label in image.labels)
        named = {name: value for name, value in (("text", text), ("options", options), ("labels", labels)) if value}
        read = [beginning_and_end(value, self._settings.max_query_encoded_chars) for value in named.values()]
        encodings = self._text.encode_queries(read)
        encoded = {
            name: EncodedText(encoding, hashed(terms(value)), hashed(identifiers(value)))
            for (name, value), encoding in zip(named.items(), encodings, strict=True)
        }
        return EncodedQuery(
            text=encoded.get("text"),
            options=encoded.get("options"),
            labels=encoded.get("labels"),
            caption=self._caption(read[0], encoded["text"]) if text else None,
            dates=tuple(named_dates(text)),
            images=tuple(EncodedPicture(image.vector, self._image.image_chance(image.vector)) for image in images),
        )

    def _caption(self, text: str, encoded: EncodedText) -> EncodedPicture:
        [caption] = self._image.encode_captions([text], [encoded.encoding])
        return EncodedPicture(caption, self._image.caption_chance(caption))

    def _fuse(self, found: list[Channel], n: int) -> Scores:
        if not found:
            return np.zeros(n)
        if self._settings.fusion == "rrf":
            ranked = [channel for channel in found if not channel.demotes]
            weights = [channel.weight for channel in ranked]
            return reciprocal_rank_fusion([channel.scores for channel in ranked], weights, k=self._settings.rrf_k)
        return logistic(weighted_mean([channel.standard for channel in found], [channel.weight for channel in found]))

    def _hits(self, user_id: str, rows: Int64, scores: Scores, found: list[Channel], arrays: UserArrays) -> list[Hit]:
        placed = [(channel, ranks(channel.scores)) for channel in found]
        shown = self._with_images(user_id, rows, arrays)
        hits = []
        for row in rows.tolist():
            memory = shown.get(row)
            if memory is None:  # deleted while we were searching
                continue
            before, after = neighbours(row, arrays, self._settings.context_turns)
            seen = {
                channel.name: ChannelScore(int(places[row]), float(channel.scores[row]))
                for channel, places in placed
                if not np.isnan(channel.scores[row])
            }
            hits.append(Hit(present(memory, before, after, self._settings.context_chars), float(scores[row]), seen))
        return hits

    def _with_images(self, user_id: str, rows: Int64, arrays: UserArrays) -> dict[int, Memory]:
        """The rows' memories with their images, those of the best ranks only where an answer does not hold them all."""
        sizes = np.bincount(arrays.image_owners, weights=arrays.image_sizes, minlength=len(arrays)).astype(np.int64)
        room = self._settings.max_response_bytes * 3 // 4  # Base64 makes four characters of three bytes
        memories: dict[int, Memory] = {}
        pictured: dict[str, int] = {}
        for row in rows.tolist():
            memory = arrays.memories[row]
            if sizes[row] == 0:
                memories[row] = memory
            elif sizes[row] <= room:
                room -= int(sizes[row])
                pictured[memory.id] = row
            else:
                memories[row] = without_images(memory)
        if pictured:
            loaded = self._store.load_images(user_id, [arrays.memories[row] for row in pictured.values()])
            memories |= {pictured[memory.id]: memory for memory in loaded}
        return memories


def neighbours(row: int, arrays: UserArrays, turns: int) -> tuple[list[Memory], list[Memory]]:
    """The memories just before and just after one in its session, in the order in which they were told."""
    if not turns:
        return [], []
    session = np.flatnonzero(arrays.sessions == arrays.sessions[row])
    place = int(np.searchsorted(session, row))
    before, after = session[max(0, place - turns) : place], session[place + 1 : place + 1 + turns]
    return [arrays.memories[i] for i in before], [arrays.memories[i] for i in after]
