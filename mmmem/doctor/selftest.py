"""The service built for real around a store of its own, told something and asked for it."""

from __future__ import annotations

import io
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PIL import Image, ImageDraw

from mmmem.doctor.finding import Finding, fault, ok
from mmmem.errors import MmmemError
from mmmem.types import AddRequest, ImagePart, Message, Query, TextPart
from mmmem.wiring import build_service, holds_store, inspect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mmmem.memory import MemoryService
    from mmmem.settings import Settings
    from mmmem.types import Memory

_USER = "doctor"
_TEXTS = ("The spare key is under the blue flower pot.", "I play the cello on Tuesdays.", "Our train leaves at seven.")
_QUESTION = "Where is the spare key?"


class _Step(NamedTuple):
    name: str
    seconds: float
    held: bool  # whether what came back is what must


def self_test(settings: Settings) -> Iterator[Finding]:
    """Load the models, compare them with those of the store in `data_dir`, and let a service of its own remember something."""
    with tempfile.TemporaryDirectory(prefix="mmmem-doctor-") as folder:
        own = settings.model_copy(update={"data_dir": folder, "retention_days": 0, "context_turns": 0})
        began = time.perf_counter()
        try:
            service = build_service(own)
            try:
                yield ok("models", f"loaded in {time.perf_counter() - began:.1f} s")
                yield from _same_models(settings, own)
                yield _remembered(list(_steps(service)))
            finally:
                service.close()
        except MmmemError as error:
            yield fault("self-test", str(error), "the log lines above say what failed")


def _same_models(settings: Settings, own: Settings) -> Iterator[Finding]:
    """Vectors of two models cannot be compared, so the service would refuse to start."""
    records = [inspect(which).record() for which in (settings, own) if holds_store(which)]
    if len(records) < 2 or None in records:  # none yet, or lost: place.py says so
        return
    (_, written), (_, loaded) = (record for record in records if record)
    if written == loaded:
        yield ok("store's models", "those that are loaded")
        return
    others = "; ".join(
        f"{role} {written.get(role)}, loaded {loaded.get(role)}"
        for role in sorted(written | loaded)
        if written.get(role) != loaded.get(role)
    )
    yield fault(
        "store's models",
        f"the store's vectors are of {others}",
        "set the profile and models that wrote it, or run `mmmem reindex`",
    )


def _remembered(steps: list[_Step]) -> Finding:
    times = ", ".join(f"{step.name} {step.seconds * 1000:,.0f} ms" for step in steps)
    wrong = [step.name for step in steps if not step.held]
    if wrong:
        return fault(
            "self-test",
            f"{', '.join(wrong)} did not bring back what was added",
            "the installation is not whole: install again",
        )
    return ok("self-test", times)


def _steps(service: MemoryService) -> Iterator[_Step]:
    picture = ImagePart("data:image/png;base64", _drawing())
    messages = (*((TextPart(text),) for text in _TEXTS), (TextPart("Look at this"), picture))
    request = AddRequest("1", _USER, "1", tuple(Message("user", parts) for parts in messages))
    text = Query(_USER, (TextPart(_QUESTION),), top_k=1)
    found_by_text = partial(_finds, service, text, lambda hit: _TEXTS[0] in hit.text)
    found_by_picture = partial(_finds, service, Query(_USER, (picture,), top_k=1), lambda hit: picture in hit.parts)
    yield _timed("add", lambda: _adds(service, request))
    yield _timed("first search", found_by_text)
    yield _timed("search", found_by_text)
    yield _timed("search by picture", found_by_picture)
    yield _timed("deletion", lambda: service.delete_user(_USER) and not service.search(text))


def _adds(service: MemoryService, request: AddRequest) -> bool:
    service.add(request)
    return True


def _finds(service: MemoryService, query: Query, right: Callable[[Memory], bool]) -> bool:
    hits = service.search(query)
    return len(hits) == 1 and right(hits[0].memory)


def _timed(name: str, action: Callable[[], bool]) -> _Step:
    began = time.perf_counter()
    held = action()
    return _Step(name, time.perf_counter() - began, held)


def _drawing() -> bytes:
    image = Image.new("RGB", (160, 120), "navy")
    ImageDraw.Draw(image).ellipse((50, 30, 110, 90), fill="orange")
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()
