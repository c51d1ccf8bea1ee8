"""Pooled vectors from a provider beside token vectors from a local model.

The provider is asked first: what it cannot encode need not be encoded here. Its texts go in batches, a few requests at a time;
those of searches do not wait behind those of Adds.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from mmmem.meter import NO_METER, Meter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mmmem.encoders import DenseEncoder, TextEncoder
    from mmmem.encoders.provider import EmbeddingsProvider
    from mmmem.encoders.vector_cache import VectorCache
    from mmmem.settings import Settings
    from mmmem.types import Float32, Int32, QueryEncoding, TextEncoding

SPECIAL_TOKENS = 16  # that a model may put around a text, at most


class RemoteEncoder:
    """A DenseEncoder that asks a provider for what its cache does not hold. It does not tell questions from memories."""

    def __init__(
        self, settings: Settings, provider: EmbeddingsProvider, cache: VectorCache | None, meter: Meter = NO_METER
    ) -> None:
        self.name = f"openai/{settings.remote_model}:{settings.remote_dimensions}"
        self.dimensions = settings.remote_dimensions
        self._provider = provider
        self._cache = cache
        self._meter = meter
        self._asked = (settings.remote_url, settings.remote_model, settings.remote_dimensions)
        self._longest = settings.remote_max_tokens - SPECIAL_TOKENS
        self._batch_size = settings.remote_batch_size
        self._concurrency = settings.remote_concurrency
        self._adds = ThreadPoolExecutor(self._concurrency, "embed-add")
        self._searches = ThreadPoolExecutor(self._concurrency, "embed-search")

    def encode_documents(self, texts: Sequence[str]) -> list[Float32]:
        """See DenseEncoder. Raises ModelUnavailable."""
        return self._encode(texts, self._adds)

    def encode_queries(self, texts: Sequence[str]) -> list[Float32]:
        """See DenseEncoder. Raises ModelUnavailable."""
        return self._encode(texts, self._searches)

    def close(self) -> None:
        """Stop asking."""
        self._adds.shutdown()
        self._searches.shutdown()
        self._provider.close()
        if self._cache:
            self._cache.close()

    def _encode(self, texts: Sequence[str], threads: ThreadPoolExecutor) -> list[Float32]:
        sent = [sendable(text, self._longest) for text in texts]
        keys = {text: self._key(text) for text in sent if text}
        found = self._cache.get(list(keys.values())) if self._cache else {}
        if self._cache:
            self._meter.looked_up("embeddings", hits=len(found), misses=len(set(keys.values()) - found.keys()))
        vectors = self._ask([text for text, key in keys.items() if key not in found], threads)
        blank = np.zeros(self.dimensions, np.float32)
        return [(vectors[text] if text in vectors else found[keys[text]]) if text else blank for text in sent]

    def _ask(self, texts: Sequence[str], threads: ThreadPoolExecutor) -> Mapping[str, Float32]:
        """Each text's vector. No caller has more batches in the threads' queue than run at a time: a large one holds up no other."""
        size = self._batch_size
        batches = deque(texts[start : start + size] for start in range(0, len(texts), size))
        running: set[Future[dict[str, Float32]]] = set()
        vectors: dict[str, Float32] = {}
        try:
            if batches and self._provider.down:  # one goes ahead to see whether it still is
                vectors |= threads.submit(self._embed, batches.popleft()).result()
            while batches or running:
                while batches and len(running) < self._concurrency:
                    running.add(threads.submit(self._embed, batches.popleft()))
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    vectors |= future.result()
        finally:
            for future in running:
                future.cancel()
        return vectors

    def _embed(self, texts: Sequence[str]) -> dict[str, Float32]:
        """One batch, kept as soon as it is there: when another one fails, the next try need not pay for this one."""
        began = perf_counter()
        try:
            vectors = dict(zip(texts, self._provider.embed(texts), strict=True))
        finally:
            self._meter.encoded("provider", "text", len(texts), perf_counter() - began)
        if self._cache:
            self._cache.put({self._key(text): vector for text, vector in vectors.items()})
        return vectors

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(json.dumps([*self._asked, text]).encode()).digest()


class JoinedTextEncoder:
    """A TextEncoder: pooled vectors from one encoder, and everything else from another."""

    def __init__(self, dense: DenseEncoder, local: TextEncoder) -> None:
        self._dense = dense
        self._local = local
        self.name = f"{local.name}+{dense.name}"
        self.dimensions = dense.dimensions
        self.token_dimensions = local.token_dimensions

    def encode_memories(self, texts: Sequence[str], previous: Sequence[str]) -> list[TextEncoding]:
        """See TextEncoder. The previous turn is context for the tokens alone."""
        vectors = self._dense.encode_documents(texts)
        encodings = self._local.encode_memories(texts, previous)
        return [replace(encoding, dense=vector) for vector, encoding in zip(vectors, encodings, strict=True)]

    def encode_queries(self, texts: Sequence[str]) -> list[QueryEncoding]:
        """See TextEncoder."""
        vectors = self._dense.encode_queries(texts)
        encodings = self._local.encode_queries(texts)
        return [
            replace(encoding, dense=vector, local=encoding.dense)
            for vector, encoding in zip(vectors, encodings, strict=True)
        ]

    def token_texts(self, ids: Int32) -> list[str]:
        """See TextEncoder."""
        return self._local.token_texts(ids)


def sendable(text: str, longest: int) -> str:
    """What is sent of a text: its first `longest` bytes of UTF-8, whole characters; "" when nothing of it can be seen.

    In Unicode's composed form, which tokenizers bring text to: it could only grow there.
    """
    composed = unicodedata.normalize("NFC", text)
    cut = composed.encode("utf-8", "replace")[:longest].decode("utf-8", "ignore")
    return cut if any(character.isprintable() and not character.isspace() for character in cut) else ""
