"""Pooled text vectors from an embeddings provider, in place of the local model's."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator

MIB = 1024 * 1024


class Remote(BaseModel):
    """The provider, how it is asked, and what is kept of its answers."""

    text_encoder: Literal["local", "openai"] = Field(
        "local",
        description="Where pooled text vectors come from. `local`: the profile's own model. `openai`: a provider that speaks OpenAI's "
        "embeddings protocol (docs/models.md); token vectors stay local.",
    )
    remote_url: str = Field(
        "", max_length=2_048, description="Base URL of the provider; requests go to `/embeddings` below it."
    )
    remote_key: SecretStr | None = Field(
        None, description="Key that is sent to the provider as a bearer token. Unset: none is sent."
    )
    remote_model: str = Field("", max_length=256, description="The provider's name of the model.")
    remote_dimensions: int = Field(
        1024, ge=1, le=16_384, description="Numbers in one of the model's vectors; asked for and insisted on."
    )
    remote_max_tokens: int = Field(
        8_192,
        ge=64,
        le=1_000_000,
        description="Tokens of a text that the model reads. Of a longer one the beginning is sent: as many bytes of UTF-8 less 16, "
        "because no byte-level tokenizer makes more tokens than that.",
    )
    remote_batch_size: int = Field(10, ge=1, le=2_048, description="Texts in one request to the provider.")
    remote_concurrency: int = Field(
        8, ge=1, le=256, description="Requests to the provider at a time, per process; by Adds and by searches, each."
    )
    remote_retries: int = Field(
        3, ge=0, le=20, description="Further tries after a time-out, a broken connection, a 429 or a 5xx."
    )
    remote_backoff_seconds: float = Field(
        0.5,
        ge=0,
        le=60,
        description="Wait before the second try; it doubles with each, less up to half by chance. A longer Retry-After is "
        "honoured; no wait is longer than the time-out.",
    )
    remote_timeout_seconds: float = Field(
        10.0,
        gt=0,
        le=600,
        description="Time to connect, to be answered and to read the answer, each; and the longest wait between two tries.",
    )
    remote_cache_bytes: int = Field(
        256 * MIB,
        ge=0,
        le=1024**4,
        description="Size on disk of the cache of the provider's vectors, shared by all processes; the least recently used leave "
        "first. It holds hashes and vectors, no text. 0: no cache.",
    )
    remote_cache_dir: str = Field(
        "",
        description="Folder of that cache; unset: `embeddings` in `MMMEM_DATA_DIR`, and no cache where that is a bucket.",
    )

    @field_validator("remote_url")
    @classmethod
    def _base(cls, url: str) -> str:
        """Without the slash at its end. Anything else in it than a place could end up in a log."""
        if not url:
            return url
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise ValueError("is no URL") from None  # the original's message repeats parts of it
        if parts.scheme not in {"http", "https"} or not host or port == 0:
            raise ValueError("must begin with http:// or https:// and name a host, with a port above 0 if any")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError("must hold no user, password, query or fragment")
        if not url.isascii() or not url.isprintable() or " " in url:
            raise ValueError("must be printable ASCII without spaces")
        if not all(0 < len(label) < 64 for label in host.removesuffix(".").split(".")):
            raise ValueError("must name a host whose parts have 1 to 63 characters")
        return url.rstrip("/")

    @field_validator("remote_key")
    @classmethod
    def _sendable(cls, key: SecretStr | None) -> SecretStr | None:
        """White space around a key, such as the line end of a secret's file, is no part of it."""
        if key is None:
            return None
        stripped = key.get_secret_value().strip()
        if not stripped or not all("!" <= character <= "~" for character in stripped):
            raise ValueError("must be visible ASCII characters without spaces; leave it unset to send none")
        return SecretStr(stripped)
