"""The memory that large pictures took goes back to the system, whichever threads decoded them."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MIB = 1 << 20
DECODED_BY_TURNS = """
import io, threading
from PIL import Image
from mmmem.media.images import decode_image
from mmmem.settings import Settings
from mmmem.types import ImagePart

def resident():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024

file = io.BytesIO()
Image.new("RGB", (4000, 4000), "teal").save(file, "WEBP", lossless=True, method=0, quality=0)
part = ImagePart("data:image/webp;base64", file.getvalue())
settings = Settings()
decode_image(part, "field", settings)
before, kept = resident(), threading.Event()

def work():
    decode_image(part, "field", settings)
    done.release()
    kept.wait()  # as the threads of a service live on

done = threading.Semaphore(0)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
    done.acquire()
print(resident() - before)
kept.set()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the heaps of glibc")
def test_threads_that_decoded_large_pictures_keep_no_memory_of_them() -> None:
    command = [sys.executable, "-c", DECODED_BY_TURNS]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 150 * MIB  # one such picture has 48 MB of pixels; eight threads kept 518 MB
