"""How memories are put in order."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

# Bounds beyond which a number is a slip, and before which no sum overflows.
Weight = Annotated[float, Field(ge=0, le=1_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
CountOrNone = Annotated[int, Field(ge=0, le=1_000_000)]

AT_START = frozenset({"reranker", "reranker_dir"})
"""Those that are read when the service starts; a single question can be ranked with others of all the rest."""


class Ranking(BaseModel):
    """Channels, fusion, and what comes after."""

    model_config = ConfigDict(allow_inf_nan=False)

    fusion: Literal["zscore", "rrf"] = Field(
        "zscore", description="How channels are put together: z-scores or reciprocal ranks."
    )
    rrf_k: float = Field(60.0, gt=0, le=1_000_000, description="Damping of reciprocal rank fusion.")
    weight_maxsim: Weight = Field(1.0, description="Weight of late interaction; 0 switches the channel off.")
    token_idf: bool = Field(
        True, description="Whether late interaction weighs a question's tokens by their rarity in the user's memories."
    )
    background_texts: CountOrNone = Field(
        100, description="Texts of all kinds that count beside the user's memories in what is rare; 0: none."
    )
    exact_memories: Count = Field(
        2_000, description="Memories of a user up to which late interaction compares all of them."
    )
    candidates: Count = Field(
        1_000, description="Memories that it compares of a larger user: those that the other channels put first."
    )
    weight_lexical: Weight = Field(
        0.1, description="Weight of BM25. What the encoder cannot read of a question is added to it."
    )
    weight_identifiers: Weight = Field(
        0.5, description="Weight of BM25 over names with digits or joints (ERR_42, src/app.py) alone."
    )
    weight_entities: Weight = Field(
        0.0,
        description="Weight of BM25 over words with a capital or in quotes alone; 0 switches the channel off.",
    )
    weight_dense: Weight = Field(0.0, description="Weight of pooled vectors; 0 switches the channel off.")
    weight_speaker: Weight = Field(
        0.5, description="Weight of memories by a speaker whom the question names; 0 switches the channel off."
    )
    weight_date: Weight = Field(
        2.5, description="Weight of memories of a time that the question names; 0 switches the channel off."
    )
    event_times: bool = Field(
        True,
        description="Whether a time of which a memory speaks (last Friday, in May) counts as well as when it was told.",
    )
    weight_when: Weight = Field(
        0.5,
        description="Weight of memories that speak of a time, for a question that asks when; 0 switches the channel off.",
    )
    answer_share: Share = Field(0.4, description="Share of a question's score that the turn after it gets; 0: none.")
    question_share: Share = Field(
        0.3, description="Share of its score that a question with a turn after it gives up; 0: none."
    )
    neighbour_share: Share = Field(
        0.1, description="Share of the better score of the turns beside it that every turn gets; 0: none."
    )
    picture_share: Share = Field(
        0.5,
        description="Share of a picture's likeness to one in the question that the turns beside it get; 0: none.",
    )
    recency: Weight = Field(
        0.1, description="Standard deviations by which the newest of the first memories is raised; 0: none."
    )
    recency_depth: Count = Field(10, description="How many memories at the top that concerns.")
    need_places: CountOrNone = Field(
        5,
        description="Places that each need of a question with several (two clauses, two people) is sure of; 0: none.",
    )
    need_depth: Count = Field(10, description="Among how many places at the top.")
    deduplicate: bool = Field(
        True,
        description="Whether a memory in the same words as a better one is moved behind the others, and so is a question that was "
        "asked before in the words of this one.",
    )
    weight_image: Weight = Field(1.0, description="Weight of the image vectors; 0 switches the channel off.")
    weight_picture: Weight = Field(
        4.0, description="Weight of memories with pictures for a question that asks for one; 0: none."
    )
    weight_colours: Weight = Field(
        1.0, description="Weight of the colours that such a question names; 0 switches the channel off."
    )
    picture_places: CountOrNone = Field(
        2,
        description="Places among the first that the best pictures are sure of where a question asks nothing and so may describe one; 0: none.",
    )
    picture_depth: Count = Field(5, description="Among how many places at the top.")
    picture_least: Weight = Field(
        2.0, description="Deviations above chance of its likeness to the question that such a picture has."
    )
    weight_labels: Weight = Field(0.3, description="Weight of what a query's images seem to show, as words.")
    weight_written: Weight = Field(1.0, description="Weight of what is written in a query's images, as words.")
    weight_options: Weight = Field(0.6, description="Weight of multiple-choice options beside the question.")
    reranker: Literal["maxsim", "colbert", "ragatouille", "none"] = Field(
        "maxsim",
        description="What puts the top of the ranking in order anew: stored token vectors, a ColBERT checkpoint that reads the "
        "memories then, the same through RAGatouille (the extra `mmmem[ragatouille]`), or nothing.",
    )
    rerank_top_n: Count = Field(
        50, description="Memories at the top of the ranking that the reranker puts in order anew."
    )
    reranker_dir: str = Field("", description="`colbert`, `ragatouille`: folder of the reranker's ColBERT checkpoint.")
    weight_rerank: Weight = Field(1.0, description="Weight of the reranker beside the ranking that it gets.")
    bm25_k1: Weight = Field(1.5, description="BM25 term frequency saturation.")
    bm25_b: Share = Field(0.75, description="BM25 length normalisation.")
