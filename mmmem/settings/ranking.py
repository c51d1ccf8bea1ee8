"""How memories are put in order."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Ranking(BaseModel):
    """Channels, fusion, and what comes after."""

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
        1_000, ge=1, description="Memories that it compares of a larger user: those that the other channels put first."
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
    picture_share: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Share of a picture's likeness to one in the question that the turns beside it get; 0: none.",
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
    weight_picture: float = Field(
        3.0, ge=0, description="Weight of memories with pictures for a question that asks for one; 0: none."
    )
    weight_colours: float = Field(
        1.0, ge=0, description="Weight of the colours that such a question names; 0 switches the channel off."
    )
    picture_places: int = Field(
        2,
        ge=0,
        description="Places among the first that the best pictures are sure of where a question asks nothing and so may describe one; 0: none.",
    )
    picture_depth: int = Field(5, ge=1, description="Among how many places at the top.")
    picture_least: float = Field(
        2.0, ge=0, description="Deviations above chance of its likeness to the question that such a picture has."
    )
    weight_labels: float = Field(0.3, ge=0, description="Weight of what a query's images seem to show, as words.")
    weight_written: float = Field(1.0, ge=0, description="Weight of what is written in a query's images, as words.")
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
