"""Starts the service once, as installed, uses it, and stops it by SIGTERM: the last step of an image's build.

    python scripts/start_once.py

A text and a picture with writing in it are added and found again, so each model of the profile runs. What Python compiles on the way
stays, and later starts are quicker for it. Settings come from MMMEM_* variables. Needs mmmem installed beside this Python.
Exit code 0: all of it held.
"""

from __future__ import annotations

import base64
import io
import signal
import sys

from demo_service import Service, ServiceError
from PIL import Image, ImageDraw, ImageFont

SECONDS_TO_STOP = 30


def main() -> int:
    """Start, use, stop; gives the exit code."""
    with Service() as service:
        try:
            seconds = service.wait_until_healthy()
            faults = used(service)
        except ServiceError as error:
            print(error, file=sys.stderr)
            return 1
        service.process.send_signal(signal.SIGTERM)
        if status := service.process.wait(SECONDS_TO_STOP):
            faults.append(f"it ended with status {status}")
        ready = next((line for line in service.log.read_text().splitlines() if "ready: " in line), "")
    print(ready.partition("ready: ")[2])
    print(f"healthy after {seconds:.1f} s; {'; '.join(faults) or 'all held'}")
    return 1 if faults else 0


def used(service: Service) -> list[str]:
    """Add and search by text, by picture and by what is written in one; gives what went wrong."""
    ids = {"request_id": "1", "user_id": "once", "session_id": "once"}
    parts = [{"type": "text", "text": "The note on the door"}, {"type": "image_url", "image_url": {"url": picture()}}]
    messages = [
        {"role": "user", "content": "My cat is called Miso.", "timestamp": 1704067200000},
        {"role": "user", "content": parts, "timestamp": 1704067260000},
    ]
    faults = []
    if (answer := service.call("POST", "/add", {**ids, "messages": messages}))[0] != 200:
        return [f"/add answered {answer[0]}"]
    for name, query, expected in (
        ("text", "What is my pet called?", "Miso"),
        ("a picture", parts[1:], "note"),
        ("what is written in a picture", "HARBOUR", "note"),
    ):
        status, found = service.call("POST", "/search", {"user_id": "once", "query": query, "top_k": 1})
        if status != 200 or expected not in str(found["data"][:1]):
            faults.append(f"{name} did not find its memory")
    return faults


def picture() -> str:
    """A picture with one word in it, as a data URL."""
    image = Image.new("RGB", (640, 160), "white")
    ImageDraw.Draw(image).text((40, 40), "HARBOUR 4711", "black", ImageFont.load_default(72))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


if __name__ == "__main__":
    sys.exit(main())
