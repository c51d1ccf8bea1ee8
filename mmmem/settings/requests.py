"""How large a request and an answer may be."""

from __future__ import annotations

from pydantic import BaseModel, Field

MIB = 1024 * 1024


class Requests(BaseModel):
    """Limits of a request."""

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
    max_page: int = Field(1_000, ge=1, description="Most memories in one page of GET /memories.")
    max_image_bytes: int = Field(10 * MIB, ge=1, description="Decoded bytes of one image file.")
    max_images_bytes: int = Field(30 * MIB, ge=1, description="Decoded bytes of all image files of one request.")
    response_max_bytes: int = Field(
        30 * MIB, ge=1024, description="Body of one answer; memories beyond it are returned without their images."
    )
    max_images: int = Field(
        30,
        ge=0,
        description="Images in one answer; memories of lower rank are returned without theirs. Some models that answer refuse more.",
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
    max_image_frames: int = Field(
        100,
        ge=1,
        description="Frames of an animation, or pages, that are looked at to choose the one that stands for all; of large ones "
        "only as many as one image may have pixels.",
    )
    max_image_aspect: int = Field(
        4_000,
        ge=1,
        description="Longer side of an image over its shorter one; a line of one pixel across a 4K screen has 3,840.",
    )
    max_request_images: int = Field(100, ge=1, description="Images of one request.")
