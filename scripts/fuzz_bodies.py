"""Bodies that the service can take, for fuzz_api.py: short messages of a few users, with small real images, and questions."""

from __future__ import annotations

import base64
import io
import json
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from hypothesis import strategies as st
from PIL import Image, ImageDraw


def image_part(colour: str, shape: str) -> dict[str, Any]:
    """A content part with a small picture."""
    image = Image.new("RGB", (24, 24), "white")
    getattr(ImageDraw.Draw(image), shape)((4, 4, 20, 20), fill=colour)
    file = io.BytesIO()
    image.save(file, "PNG")
    url = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


IMAGES = [image_part(colour, shape) for colour in ("red", "navy") for shape in ("ellipse", "rectangle")]
WORDS = st.lists(
    st.sampled_from(["my", "the dog", "Bruno", "plays piano", "in Lisbon", "since 2019", "红色", "ночь"]), min_size=1
)
TEXTS = WORDS.map(" ".join) | st.text(min_size=1).map("a".__add__)
PARTS = st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS}) | st.sampled_from(IMAGES), min_size=1, max_size=3
)
CONTENT = TEXTS | PARTS
USERS = st.sampled_from(["ada", "Ada", "a/../b", "ü' OR 1=1"]) | st.text(min_size=1)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": CONTENT},
    optional={"timestamp": st.none() | st.integers(0, 2 * 10**12)},
)
SEARCH = st.fixed_dictionaries(
    {"query": CONTENT, "user_id": USERS, "top_k": st.integers(1, 50)},
    optional={"options": st.none() | st.lists(TEXTS, max_size=4)},
)
ADD = st.fixed_dictionaries(
    {"user_id": USERS, "session_id": st.text(min_size=1), "messages": st.lists(MESSAGES, min_size=1, max_size=3)}
)


def with_request_id(body: dict[str, Any]) -> dict[str, Any]:
    """The body with an id made from it: Hypothesis likes to repeat parts, and an id of its own would come with another body."""
    return {"request_id": str(uuid5(NAMESPACE_OID, json.dumps(body))), **body}


BODIES = {"/add": ADD.map(with_request_id), "/search": SEARCH, "/explain": SEARCH}
