"""What fuzz_images.py tries, each case from a number, and what becomes of it in a process that may be lost."""

from __future__ import annotations

import base64
import os
import random
import resource
import sys
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the files to change are those of the tests

from mmmem.errors import InvalidImage, TooLarge
from mmmem.media.data_urls import parse_data_url
from mmmem.media.images import decode_image
from mmmem.settings import Settings
from tests.media.zoo import zoo

FIELD = "messages.0.content.0.image_url.url"
SETTINGS = Settings()
MOST_ADDRESSES = 12 << 30  # bytes; beyond it the machine itself would be in danger
LARGEST_SPECIMEN = 400_000  # bytes; of larger files a few changes hit nothing that matters
ALPHABET = "ABab09+/-_=% \r\n\t,;:\0\x7fäß猫\ud800"
NUMBERS = (0, 1, 2, 3, 7, 8, 255, 256, 4_095, 32_767, 32_768, 65_535, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1)

Change = Callable[[random.Random, bytearray], bytes | bytearray]


def url(case: int) -> str:
    """The data URL that is tried as this case."""
    rng = random.Random(case)
    data = changed_file(rng)
    text = "data:image/png;base64," + base64.b64encode(data).decode()
    return changed_text(rng, text) if rng.random() < 0.2 else text


def outcome(case: int) -> str:
    """ "read", "refused", or what is wrong: how reading and decoding the case broke their promise."""
    try:
        image = decode_image(parse_data_url(url(case), FIELD, SETTINGS), FIELD, SETTINGS)
    except (InvalidImage, TooLarge) as error:
        fine = error.field == FIELD and error.problem.isascii() and len(error.problem) < 200
        return "refused" if fine else f"a bad message: {error}"
    except BaseException:
        return "another exception:\n" + traceback.format_exc()
    pixels, sides = image.width * image.height, sorted(image.size)
    if image.mode != "RGB" or not 0 < pixels <= SETTINGS.max_image_pixels:
        return f"an image of mode {image.mode} and size {image.size}"
    if sides[1] > SETTINGS.max_image_aspect * sides[0]:
        return f"an image of size {image.size}"
    image.tobytes()
    return "read"


def work(cases: Connection, most_bytes: int) -> None:
    """Answer each case that comes with its outcome, until None comes."""
    warnings.simplefilter("ignore")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # libtiff writes what it finds there
    zoo()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    while (case := cases.recv()) is not None:
        result = outcome(case)
        taken = most_memory()
        cases.send(f"{taken:,} bytes of memory" if taken > most_bytes else result)


def most_memory() -> int:
    """The most bytes that this process ever had in memory; getrusage would begin with its parent's."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return 1024 * int(line.split()[1])


@cache
def specimens() -> tuple[bytes, ...]:
    """The files of the zoo that are not too long to be changed where it matters."""
    return tuple(specimen.data for specimen in zoo() if len(specimen.data) <= LARGEST_SPECIMEN)


def changed_file(rng: random.Random) -> bytes:
    """A file of the zoo after a few changes: to its bytes, to its numbers, to its segments."""
    data = bytearray(rng.choice(specimens()))
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        data = bytearray(rng.choice(CHANGES)(rng, data) or b"\0")
    return mended_png(bytes(data)) if rng.random() < 0.8 else bytes(data)


def flip_bits(rng: random.Random, data: bytearray) -> bytearray:
    """A few bits, most of them in the header."""
    for _ in range(rng.randint(1, 6)):
        data[place(rng, data)] ^= 1 << rng.randrange(8)
    return data


def set_number(rng: random.Random, data: bytearray) -> bytearray:
    """A number of one, two or four bytes becomes one at which programs fail."""
    size, start = rng.choice((1, 2, 4)), place(rng, data)
    number = rng.choice(NUMBERS) % (1 << 8 * size)
    data[start : start + size] = number.to_bytes(size, rng.choice(("little", "big")))
    return data


def cut(rng: random.Random, data: bytearray) -> bytearray:
    """The end is missing, or a part of it."""
    start = rng.randrange(len(data))
    return data[:start] if rng.random() < 0.5 else data[:start] + data[start + rng.randint(1, 64) :]


def repeat(rng: random.Random, data: bytearray) -> bytearray:
    """A part comes again and again."""
    start = rng.randrange(len(data))
    part = data[start : start + rng.choice((1, 4, 16, 64, 512))]
    return data[:start] + part * rng.choice((1, 2, 8, 200)) + data[start:]


def splice(rng: random.Random, data: bytearray) -> bytes | bytearray:
    """The beginning of one file and the end of another one."""
    other = rng.choice(specimens())
    return data[: rng.randrange(len(data))] + other[rng.randrange(len(other)) :]


def change_segments(rng: random.Random, data: bytearray) -> bytes:
    """Chunks, markers or boxes are left out, doubled, moved, or taken from another file of that format."""
    parts = list(segments(bytes(data)))
    others = [part for part in segments(rng.choice(specimens())) if part[:4] != parts[0][:4]]
    where = rng.randrange(len(parts))
    change = rng.randrange(4)
    if change == 0:
        del parts[where]
    elif change == 1:
        parts[where:where] = [parts[where]] * rng.choice((1, 2, 50))
    elif change == 2:
        parts.append(parts.pop(where))
    else:
        parts[where:where] = rng.sample(others, min(len(others), 2))
    return b"".join(parts)


def segments(data: bytes) -> Iterator[bytes]:
    """A file in its parts: PNG chunks, RIFF chunks, ISO boxes, JPEG segments, or pieces of 32 bytes."""
    start = next(
        (skipped for magic, skipped in ((b"\x89PNG", 8), (b"RIFF", 12), (b"\xff\xd8", 2)) if data.startswith(magic)), 0
    )
    yield data[:start]
    while start < len(data):
        end = start + length_of_segment(data, start)
        yield data[start:end]
        start = end


def length_of_segment(data: bytes, start: int) -> int:
    """Bytes of the part that begins there."""
    if data.startswith(b"\x89PNG"):
        return 12 + int.from_bytes(data[start : start + 4], "big")
    if data.startswith(b"RIFF"):
        return 8 + (int.from_bytes(data[start + 4 : start + 8], "little") + 1) // 2 * 2
    if data.startswith(b"\xff\xd8"):
        return 2 + int.from_bytes(data[start + 2 : start + 4], "big")
    if data[4:8] == b"ftyp":
        return max(8, int.from_bytes(data[start : start + 4], "big"))
    return 32


CHANGES: tuple[Change, ...] = (flip_bits, set_number, set_number, cut, repeat, splice, change_segments, change_segments)


def place(rng: random.Random, data: bytearray) -> int:
    """Somewhere in a file, more often near its beginning."""
    return rng.randrange(min(len(data), rng.choice((32, 256, 4_096, len(data)))))


def mended_png(data: bytes) -> bytes:
    """A PNG with its checksums made right, so that what lies behind them is reached; other files as they are."""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return data
    first, *chunks = segments(data)
    return first + b"".join(
        chunk[:-4] + zlib.crc32(chunk[4:-4]).to_bytes(4, "big") if len(chunk) >= 12 else chunk for chunk in chunks
    )


def changed_text(rng: random.Random, text: str) -> str:
    """A data URL as transports and people spoil it."""
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(min(len(text), rng.choice((30, 200, len(text)))))
        end = start + rng.choice((0, 1, 4, 40))
        text = (
            rng.choice(
                (
                    text[:start] + "".join(rng.choices(ALPHABET, k=rng.randint(1, 5))) + text[end:],
                    text.replace("+", " ").replace("=", ""),
                    text.replace("+", "-").replace("/", "_"),
                    text.replace("+", "%2B").replace("/", "%2f").replace("=", "%3D"),
                    "\r\n".join(text[at : at + 76] for at in range(0, len(text), 76)),
                    text[:start].swapcase() + text[start:],
                    text[:start],
                )
            )
            or "d"
        )
    return text
