"""Every knob, in one object that is passed in and never global. Each is also an environment variable `MMMEM_<NAME>`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MIB = 1024 * 1024


class Settings(BaseSettings):
    """The service's settings, read from `MMMEM_*` and checked; a wrong value stops the start and is named."""

    model_config = SettingsConfigDict(
        env_prefix="MMMEM_", frozen=True, extra="ignore", env_ignore_empty=True, allow_inf_nan=False
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

    # Serving
    host: str = Field(
        "127.0.0.1", description="Address to listen on. Anything but loopback without a key is warned about."
    )
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on.")
    workers: int = Field(1, ge=1, le=64, description="Processes that serve one data folder together.")
    data_dir: str = Field("data", min_length=1, description="Folder of the store; made when missing.")
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

    # Models
    profile: Literal["light", "clip"] = Field(
        "light",
        description="`light`: models that come with pip. `clip`: OpenCLIP, a ColBERT checkpoint and a sentence encoder from folders.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where the encoders run; `cuda` refuses to start without a GPU."
    )
    threads: int = Field(
        0, ge=0, le=256, description="CPU threads of one encoder process; 0: as many as there are cores."
    )
    encode_batch_size: int = Field(
        32, ge=1, le=1024, description="Texts, or images, that one pass of an encoder takes at most."
    )
    models_manifest: str = Field(
        "",
        description="TOML file with the sha256 of models you bring, as `mmmem models pin` writes it; adds to the built-in ones.",
    )
    clip_model: str = Field("ViT-B-32", description="`clip`: open_clip architecture of a weights file.")
    clip_checkpoint: str = Field(
        "",
        description="`clip`: open_clip weights file (`.safetensors`, `.pt`), or a folder with open_clip_config.json, which "
        "names its architecture itself.",
    )
    colbert_dir: str = Field("", description="`clip`: folder of the ColBERT checkpoint for token vectors.")
    sentence_dir: str = Field("", description="`clip`: folder of the sentence encoder for dense vectors.")
    text_dir: str = Field(
        "",
        description="`light`: folder of a sentence encoder that takes the place of all-MiniLM-L6-v2, such as a multilingual one.",
    )
    text_projection: str = Field(
        "",
        description="`light`: file that scripts/fit_projection.py made for that encoder; unset: its token vectors keep their width.",
    )

    # Limits of a request
    max_request_bytes: int = Field(64 * MIB, ge=1024, description="Body of one request, in bytes.")
    max_id_chars: int = Field(16_384, ge=1, description="Characters of request_id, user_id and session_id, each.")
    max_role_chars: int = Field(256, ge=1, description="Characters of a role.")
    max_messages: int = Field(10_000, ge=1, description="Messages in one Add.")
    max_parts: int = Field(1_000, ge=1, description="Content parts in one message or query.")
    max_text_chars: int = Field(8_000_000, ge=1, description="Characters of text in one Add, all messages together.")
    max_query_chars: int = Field(
        100_000, ge=1, description="Characters of text in one query, and in its options together."
    )
    max_query_encoded_chars: int = Field(
        4_000,
        ge=2,
        description="Characters of a query, and of its options together, that the encoders read: of a longer one the "
        "beginning and the end. Its words all count.",
    )
    max_query_tokens: int = Field(
        256, ge=1, description="Tokens of a query that late interaction compares: the rarest, of a longer one."
    )
    max_options: int = Field(100, ge=1, description="Multiple-choice options of one query.")
    max_top_k: int = Field(1_000, ge=1, description="Largest top_k.")
    max_image_bytes: int = Field(10 * MIB, ge=1, description="Decoded bytes of one image file.")
    max_images_bytes: int = Field(30 * MIB, ge=1, description="Decoded bytes of all image files of one request.")
    max_response_bytes: int = Field(
        30 * MIB, ge=1024, description="Body of one answer; memories beyond it are returned without their images."
    )
    max_images_pixels: int = Field(200_000_000, ge=1, description="Width times height of all images of one request.")
    max_json_values: int = Field(
        2_000_000,
        ge=1,
        description="Commas and brackets of a body, those in text included: a bound on what it is parsed into.",
    )
    max_body_seconds: int = Field(300, ge=1, description="Time in which a request's body must have come.")
    max_image_pixels: int = Field(
        50_000_000,
        ge=1,
        le=178_000_000,
        description="Width times height of one image; Pillow refuses any beyond 178 million.",
    )

    # Limits of the process
    max_concurrent_adds: int = Field(64, ge=1, description="Adds worked on at a time, per process.")
    max_waiting_adds: int = Field(1_024, ge=0, description="Adds that may wait beyond those; more are answered 429.")
    max_concurrent_searches: int = Field(64, ge=1, description="Searches worked on at a time, per process.")
    max_waiting_searches: int = Field(
        2_048, ge=0, description="Searches that may wait beyond those; more are answered 429."
    )
    cache_bytes: int = Field(
        2_048 * MIB, ge=0, description="Memory for users' arrays, per process; the least recently used leave first."
    )
    concurrent_decodes: int = Field(
        2, ge=1, le=64, description="Images decoded at full size at a time, per process; by Adds and by searches, each."
    )
    writer_threads: int = Field(4, ge=1, le=64, description="Users whose tables are written at a time, per process.")
    commit_requests: int = Field(256, ge=1, description="Adds of one user that one commit holds at most.")
    compact_fragments: int = Field(64, ge=2, description="Fragments of a user's table beyond which it is compacted.")
    version_minutes: int = Field(10, ge=1, description="Age at which old versions of a table may be removed.")

    # Memories
    memory_chars: int = Field(1_200, ge=100, description="Longest memory in characters; a longer message is split.")
    min_memory_chars: int = Field(
        0,
        ge=0,
        description="A message with fewer characters is kept as one memory with the next one of the same role, where both are in the same Add, so what is a memory then depends on how messages are grouped; 0: never.",
    )
    previous_chars: int = Field(
        400, ge=0, description="Characters of the previous turn that a memory is encoded with; 0: none."
    )
    context_turns: int = Field(
        1, ge=0, le=20, description="Turns before and after that a returned memory shows as context."
    )

    context_chars: int = Field(400, ge=1, description="Characters of each such turn.")
    max_return: int = Field(1_000, ge=1, description="Most memories that a search returns, whatever top_k is.")
    max_return_chars: int = Field(
        90_000,
        ge=1,
        description="Characters of text, context included, that a search returns for each 100 memories asked for, and for "
        "fewer; the best memory always. Those who answer from it did better with 90,000 than with 150,000.",
    )

    # Ranking
    fusion: Literal["zscore", "rrf"] = Field(
        "zscore", description="How channels are put together: z-scores or reciprocal ranks."
    )
    rrf_k: float = Field(60.0, gt=0, description="Damping of reciprocal rank fusion.")
    weight_maxsim: float = Field(1.0, ge=0, description="Weight of late interaction; 0 switches the channel off.")
    token_idf: bool = Field(
        True, description="Whether late interaction weighs a question's tokens by their rarity in the user's memories."
    )
    background_texts: int = Field(
        100, ge=0, description="Texts of all kinds that count beside the user's memories in what is rare; 0: none."
    )
    exact_memories: int = Field(
        2_000, ge=1, description="Memories of a user up to which late interaction compares all of them."
    )
    candidates: int = Field(
        2_000, ge=1, description="Memories that it compares of a larger user: those that the other channels put first."
    )
    weight_lexical: float = Field(
        0.1, ge=0, description="Weight of BM25. What the encoder cannot read of a question is added to it."
    )
    weight_identifiers: float = Field(
        0.5, ge=0, description="Weight of BM25 over names with digits or joints (ERR_42, src/app.py) alone."
    )
    weight_entities: float = Field(
        0.0,
        ge=0,
        description="Weight of BM25 over words with a capital or in quotes alone; 0 switches the channel off.",
    )
    weight_dense: float = Field(0.0, ge=0, description="Weight of pooled vectors; 0 switches the channel off.")
    weight_speaker: float = Field(
        0.5, ge=0, description="Weight of memories by a speaker whom the question names; 0 switches the channel off."
    )
    weight_date: float = Field(
        2.5, ge=0, description="Weight of memories of a time that the question names; 0 switches the channel off."
    )
    event_times: bool = Field(
        True,
        description="Whether a time of which a memory speaks (last Friday, in May) counts as well as when it was told.",
    )
    weight_when: float = Field(
        0.5,
        ge=0,
        description="Weight of memories that speak of a time, for a question that asks when; 0 switches the channel off.",
    )
    answer_share: float = Field(
        0.4, ge=0, le=1, description="Share of a question's score that the turn after it gets; 0: none."
    )
    question_share: float = Field(
        0.3, ge=0, le=1, description="Share of its score that a question with a turn after it gives up; 0: none."
    )
    neighbour_share: float = Field(
        0.1, ge=0, le=1, description="Share of the better score of the turns beside it that every turn gets; 0: none."
    )
    recency: float = Field(
        0.1, ge=0, description="Standard deviations by which the newest of the first memories is raised; 0: none."
    )
    recency_depth: int = Field(10, ge=1, description="How many memories at the top that concerns.")
    need_places: int = Field(
        5,
        ge=0,
        description="Places that each need of a question with several (two clauses, two people) is sure of; 0: none.",
    )
    need_depth: int = Field(10, ge=1, description="Among how many places at the top.")
    deduplicate: bool = Field(
        True,
        description="Whether a memory in the same words as a better one is moved behind the others, and so is a question that was "
        "asked before in the words of this one.",
    )
    weight_image: float = Field(1.0, ge=0, description="Weight of the image vectors; 0 switches the channel off.")
    weight_labels: float = Field(0.3, ge=0, description="Weight of what a query's images seem to show, as words.")
    weight_options: float = Field(0.6, ge=0, description="Weight of multiple-choice options beside the question.")
    reranker: Literal["maxsim", "colbert", "ragatouille", "none"] = Field(
        "maxsim",
        description="What puts the top of the ranking in order anew: stored token vectors, a ColBERT checkpoint that reads the "
        "memories then, the same through RAGatouille (the extra `mmmem[ragatouille]`), or nothing.",
    )
    rerank_top_n: int = Field(
        50, ge=1, description="Memories at the top of the ranking that the reranker puts in order anew."
    )
    reranker_dir: str = Field("", description="`colbert`, `ragatouille`: folder of the reranker's ColBERT checkpoint.")
    weight_rerank: float = Field(1.0, ge=0, description="Weight of the reranker beside the ranking that it gets.")
    bm25_k1: float = Field(1.5, ge=0, description="BM25 term frequency saturation.")
    bm25_b: float = Field(0.75, ge=0, le=1, description="BM25 length normalisation.")
