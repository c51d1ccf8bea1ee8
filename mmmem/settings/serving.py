"""Where the service listens, who may call it, and what one process takes at a time."""

from __future__ import annotations

import ipaddress
from typing import Literal

from pydantic import BaseModel, Field, SecretStr, field_validator

MIB = 1024 * 1024


class Serving(BaseModel):
    """Where it listens, and to whom."""

    host: str = Field(
        "127.0.0.1", description="Address to listen on. Anything but loopback without a key is warned about."
    )
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on.")
    workers: int = Field(1, ge=1, le=64, description="Processes that serve one store together.")
    data_dir: str = Field(
        "data",
        min_length=1,
        description="Folder of the store, made when missing; or a bucket, with or without a prefix: `s3://bucket/prefix`, "
        "`gs://...`, `az://...` (docs/scaling.md).",
    )
    stale_seconds: float = Field(
        0,
        ge=0,
        description="In a bucket: seconds for which a search need not see what another process added or deleted; 0: it "
        "sees everything, for one request to the bucket a search.",
    )
    retention_days: float = Field(
        0,
        ge=0,
        description="Days after the last Add of a user at which the service removes all of that user, looking once an hour; 0: never.",
    )
    api_key: SecretStr | None = Field(
        None, description="The key that callers must send. Unset: open to everyone who can connect."
    )
    auth: Literal["auto", "bearer", "token", "x-api-key", "none"] = Field(
        "auto",
        description="Accepted way to send the key: any (`auto`), `Authorization: Bearer`, `Authorization: Token`, `X-Api-Key`, "
        "or `none` to serve without asking.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe log line that is written."
    )

    log_format: Literal["text", "json"] = Field(
        "text", description="How a log line is written: for people, or one JSON object a line (docs/observability.md)."
    )
    ui: bool = Field(
        False,
        description="Whether the inspector is at `/ui`: a page to look at memories and at why they are found (docs/inspector.md). "
        "Whoever has the key can list all users there.",
    )
    metrics: bool = Field(True, description="Whether `GET /metrics` is there, behind the same key as the rest.")
    metrics_store_seconds: float = Field(
        60,
        ge=0,
        le=86_400,
        description="Time between two counts of the data folder's files for it, which take a twentieth of one core at most; 0: never.",
    )

    @field_validator("api_key")
    @classmethod
    def _strip_key(cls, key: SecretStr | None) -> SecretStr | None:
        """White space around a key, such as the line end of a secret's file, is no part of it: no header can send it."""
        if key is None:
            return None
        stripped = key.get_secret_value().strip()
        if not stripped:
            raise ValueError("must not be blank; leave it unset to serve without a key")
        return SecretStr(stripped)

    @property
    def asks_key(self) -> bool:
        """Whether callers must send one."""
        return self.api_key is not None and self.auth != "none"

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can connect."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class Process(BaseModel):
    """Limits of one process."""

    max_concurrent_adds: int = Field(64, ge=1, description="Adds worked on at a time, per process.")
    max_waiting_adds: int = Field(1_024, ge=0, description="Adds that may wait beyond those; more are answered 429.")
    max_concurrent_searches: int = Field(64, ge=1, description="Searches worked on at a time, per process.")
    max_waiting_searches: int = Field(
        2_048, ge=0, description="Searches that may wait beyond those; more are answered 429."
    )
    cache_bytes: int = Field(
        2_048 * MIB,
        ge=0,
        description="Memory for users' arrays, per process; the least recently used leave first. What LanceDB keeps of "
        "files may take a quarter as much beside it, at most 64 MiB.",
    )
    concurrent_decodes: int = Field(
        2, ge=1, le=64, description="Images decoded at full size at a time, per process; by Adds and by searches, each."
    )
    writer_threads: int = Field(4, ge=1, le=64, description="Users whose tables are written at a time, per process.")
    commit_requests: int = Field(256, ge=1, description="Adds of one user that one commit holds at most.")
    compact_fragments: int = Field(64, ge=2, description="Fragments of a user's table beyond which it is compacted.")
    version_minutes: int = Field(
        10,
        ge=1,
        description="Age at which old versions of a table may be removed; sooner once they outgrow what it holds.",
    )
