"""Requests for the store's tests. Everything of a memory follows from its text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
import pytest

from mmmem.errors import MmmemError
from mmmem.store import Dimensions, StoredRequest
from mmmem.store.users import LanceStore
from mmmem.types import EncodedMemory, ImageEncoding, ImagePart, ImageVectors, Memory, Part, TextEncoding, TextPart

OpenStore = Callable[..., LanceStore]

ANYWHERE = pytest.mark.parametrize("where", ["folder", "bucket"], indirect=True)
IN_A_BUCKET = pytest.mark.parametrize("where", ["bucket"], indirect=True)

DIMENSIONS = Dimensions(dense=8, token=4, image=6, appearance=5, fingerprint=9, colours=3)
MODELS = {"text": "words-1", "image": "pixels-1"}


def numbers(seed: bytes, count: int) -> np.ndarray:
    """float32 [count] in -1 .. 1, the same for the same seed."""
    digest = hashlib.shake_256(seed).digest(count)
    return (np.frombuffer(digest, np.uint8).astype(np.float32) - 127.5) / 127.5


def unit(seed: bytes, count: int) -> np.ndarray:
    vector = numbers(seed, count)
    return vector / np.linalg.norm(vector)


def raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def encoded(memory: Memory) -> EncodedMemory:
    words = memory.text.split()[:50]
    tokens = np.round(127 * np.array([numbers(raw(word), DIMENSIONS.token) for word in words])).astype(np.int8)
    return EncodedMemory(
        memory,
        TextEncoding(
            dense=unit(raw(memory.text), DIMENSIONS.dense),
            tokens=tokens.reshape(-1, DIMENSIONS.token),
            token_ids=np.array([len(word) for word in words], np.int32),
        ),
        terms=np.array([hashlib.shake_256(raw(word)).digest(8) for word in words], "S8").view(np.int64),
        key=int.from_bytes(hashlib.shake_256(raw(memory.text)).digest(8), "little", signed=True),
        events=np.array([[len(word), len(word) + 1] for word in words if word.isdigit()], np.int64).reshape(-1, 2),
        images=tuple(
            ImageEncoding(
                ImageVectors(
                    unit(part.data, DIMENSIONS.image),
                    unit(part.data, DIMENSIONS.appearance),
                    (f"label {len(part.data)}", "bild"),
                ),
                np.frombuffer(hashlib.shake_256(part.data).digest(DIMENSIONS.fingerprint), np.uint8),
                np.frombuffer(hashlib.shake_256(part.data).digest(DIMENSIONS.colours), np.uint8),
                f"text of {len(part.data)} bytes",
            )
            for part in memory.parts
            if isinstance(part, ImagePart)
        ),
    )


def request(
    user_id: str,
    request_id: str,
    *contents: str | tuple[Part, ...],
    session_id: str = "session",
    role: str = "user",
    timestamp: int | None = None,
    created_at: int = 1_700_000_000_000,
) -> StoredRequest:
    """One memory for each of `contents`, a text or parts."""
    ids = [hashlib.sha256(raw(f"{user_id}\0{request_id}\0{n}")).hexdigest() for n in range(len(contents))]
    memories = tuple(
        Memory(
            id=f"mem_{id_}",
            session_id=session_id,
            role=role,
            parts=(TextPart(content),) if isinstance(content, str) else content,
            timestamp=timestamp,
            created_at=created_at,
            position=position,
            piece=0,
        )
        for position, (id_, content) in enumerate(zip(ids, contents, strict=True))
    )
    body = hashlib.sha256(repr((session_id, role, timestamp, contents)).encode()).digest()
    return StoredRequest(user_id, request_id, body, tuple(encoded(memory) for memory in memories))


def texts(store: LanceStore, user_id: str = "ada") -> list[str]:
    """What a user is remembered to have said, in order."""
    return [memory.text for memory in store.arrays(user_id).memories]


def outcome(store: LanceStore, stored: StoredRequest) -> type[MmmemError] | None:
    """What became of an Add: the error, or None."""
    try:
        store.add(stored)
    except MmmemError as error:
        return type(error)
    return None
