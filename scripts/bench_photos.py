#!/usr/bin/env python3
"""Whether a service's memory stays as it is while it is told many large photos, some of them broken.

    python scripts/bench_photos.py [--photos 500] [--broken 100] [--growth 64] [--markdown FILE]

A service of its own is told photos of 1 to 4 megapixels, JPEG files as a telephone saves them, one an Add; they are windows of the real
photos of scikit-image and scikit-learn, enlarged, no two alike. Every --broken-th Add has a second photo that is cut off half way: it must be
refused with 422 and name that part, and nothing of it may be kept. After each hundred the resident memory of the service's
processes (RSS, Linux only) is read when it is idle. Exit status 1 when one of the hundreds after the first two adds more than --growth
MiB to the largest before it, or when a photo was lost, or a broken one kept. MMMEM_* settings apply.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmark_alterations import opened
from benchmark_data import console, progress, step, table, write_markdown
from benchmark_pictures import MADE_UP, photo
from demo_service import Service
from PIL import Image
from rich.table import Table

USER = "bench_photos"
HUNDRED = 100
SETTLED = 2  # hundreds after which nothing is loaded for the first time any more
LEAST, MOST = 1_000_000, 4_000_000  # pixels
QUALITY = 88
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Row:
    """After so many photos: the memory held, in bytes, and photos a second of the hundred."""

    photos: int
    resident: int
    rate: float


@cache
def original(name: str) -> Image.Image:
    """One of the real photos."""
    return opened(photo(name))


def photos(count: int) -> Iterator[bytes]:
    """JPEG files, no two alike, the same every time."""
    chance = random.Random(0)
    names = list(MADE_UP["photos"])
    for number in range(count):
        source = original(names[number % len(names)])
        share = chance.uniform(0.5, 1)
        width, height = round(source.width * share), round(source.height * share)
        left, top = chance.randint(0, source.width - width), chance.randint(0, source.height - height)
        scale = (chance.uniform(LEAST, MOST) / (width * height)) ** 0.5
        window = source.resize(
            (round(width * scale), round(height * scale)), box=(left, top, left + width, top + height)
        )
        file = io.BytesIO()
        window.save(file, "JPEG", quality=QUALITY)
        yield file.getvalue()


def body(request_id: str, *files: bytes) -> dict[str, Any]:
    """An Add of one message that shows these."""
    urls = [f"data:image/jpeg;base64,{base64.b64encode(file).decode('ascii')}" for file in files]
    content = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    message = {"role": "user", "content": content}
    return {"request_id": request_id, "user_id": USER, "session_id": "s", "messages": [message]}


def resident(group: int) -> int:
    """Bytes of memory that the processes of a group hold."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) == group:
                total += int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (ProcessLookupError, FileNotFoundError):  # it has just ended
            continue
    return total


def kept(service: Service) -> int:
    """How many memories come back."""
    found = service.call(
        "POST", "/search", {"user_id": USER, "query": [{"type": "text", "text": "photo"}], "top_k": 1_000}
    )
    return len(found[1]["data"])


def measure(service: Service, count: int, every: int) -> tuple[list[Row], list[str]]:
    """The rows, and what went wrong."""
    rows: list[Row] = []
    faults: list[str] = []
    began = time.monotonic()
    with progress(console()) as shown:
        told = step(shown, "add", count)
        for number, file in enumerate(photos(count), 1):
            status, _ = service.call("POST", "/add", body(f"photo {number}", file))
            if status != 200:
                faults.append(f"photo {number} was answered {status}")
            if number % every == 0:
                status, answer = service.call("POST", "/add", body(f"broken {number}", file, file[: len(file) // 2]))
                if status != 422 or "messages.0.content.1" not in str(answer):
                    faults.append(f"the broken photo after {number} was answered {status}: {answer}")
            if number % HUNDRED == 0:
                rows.append(Row(number, resident(service.process.pid), HUNDRED / (time.monotonic() - began)))
                began = time.monotonic()
            told(1)
    if (found := kept(service)) != min(count, 1_000):
        faults.append(f"{found} memories of {count} photos came back")
    return rows, faults


def grown(rows: list[Row], growth: float) -> list[str]:
    """Those hundreds that took more than `growth` MiB beyond all before them."""
    faults = []
    for place in range(SETTLED, len(rows)):
        before = max(row.resident for row in rows[:place])
        if rows[place].resident - before > growth * MIB:
            faults.append(
                f"the photos up to {rows[place].photos} took {(rows[place].resident - before) / MIB:.0f} MiB more"
            )
    return faults


def report(rows: list[Row]) -> Table:
    """The rows as a table."""
    cells = [(str(row.photos), f"{row.resident / MIB:,.0f}", f"{row.rate:.1f}") for row in rows]
    return table(("photos", "resident MiB", "photos/s"), cells)


def main() -> int:
    """Measure, print, write, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=int, default=500, metavar="N", help="default: 500, at most 1,000")
    parser.add_argument(
        "--broken", type=int, default=HUNDRED, metavar="N", help="a broken one with every Nth; default: 100"
    )
    parser.add_argument("--growth", type=float, default=64, metavar="MIB", help="of a hundred, at most; default: 64")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file too")
    options = parser.parse_args()
    with Service() as service:
        service.wait_until_healthy()
        rows, faults = measure(service, options.photos, options.broken)
    faults += grown(rows, options.growth)
    console().print(report(rows))
    for fault in faults:
        print(f"FAIL {fault}", file=sys.stderr)
    if options.markdown:
        write_markdown([report(rows)], options.markdown)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
