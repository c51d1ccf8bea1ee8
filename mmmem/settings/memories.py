"""What is a memory, and what is shown of it."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Memories(BaseModel):
    """From messages to memories and back."""

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
