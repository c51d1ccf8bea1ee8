"""The memory that large pictures took goes back to the system, whichever threads decoded them and worked on them."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MIB = 1 << 20
RESIDENT = """
import io, threading
from PIL import Image
from mmmem.settings import Settings
from mmmem.types import ImagePart

def resident():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024

def picture(side):
    file = io.BytesIO()
    Image.new("RGB", (side, side), "teal").save(file, "WEBP", lossless=True, method=0, quality=0)
    return ImagePart("data:image/webp;base64", file.getvalue())

def in_turns(work, threads):
    # How many bytes more are resident when each thread has done its work, and lives on as those of a service do.
    before, kept, done = resident(), threading.Event(), threading.Semaphore(0)
    def run():
        work()
        done.release()
        kept.wait()
    for _ in range(threads):
        threading.Thread(target=run).start()
        done.acquire()
    print(resident() - before)
    kept.set()
"""
DECODED = """
from mmmem.media.images import decode_image

part, settings = picture(4000), Settings()
decode_image(part, "field", settings)
in_turns(lambda: decode_image(part, "field", settings), threads=8)
"""
# As a network does whose input is as large as the picture: blocks below the threshold, and something small behind them that stays.
WORKED_ON = """
import numpy as np
from mmmem.media.images import ImageReader

part, reader, stays = picture(1200), ImageReader(Settings()), []

def read(image):
    layers = [np.ones(4 << 20, np.uint8) for _ in range(50)]
    stays.append(bytes(100_000))

def work():
    for _ in range(3):
        reader.read([("field", part)], read)

work()
in_turns(work, threads=4)
"""
glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the heaps of glibc")


def grown(script: str) -> int:
    """Bytes that a process has more after it, as it says."""
    command = [sys.executable, "-c", RESIDENT + script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@glibc
def test_threads_that_decoded_large_pictures_keep_no_memory_of_them() -> None:
    assert grown(DECODED) < 150 * MIB  # one such picture has 48 MB of pixels; eight threads kept 518 MB


@glibc
def test_threads_that_worked_on_photos_keep_no_memory_of_that() -> None:
    assert grown(WORKED_ON) < 100 * MIB  # each works in 200 MiB; four threads kept 488 MiB
