"""ICC profiles (version 2) small enough to write by hand, whose effect nobody can miss."""

from __future__ import annotations

import struct
from itertools import product

# What sRGB's primaries are in XYZ under D50.
_PRIMARIES = {"r": (0.4361, 0.2225, 0.0139), "g": (0.3851, 0.7169, 0.0971), "b": (0.1431, 0.0606, 0.7141)}
_D50 = (0.9642, 1.0, 0.8249)


def swapped_rgb(padding: int = 0, gamma: float = 2.2) -> bytes:
    """Its red is blue and its blue is red. padding: bytes of a private tag."""
    colorants = {"rXYZ": _xyz(_PRIMARIES["b"]), "gXYZ": _xyz(_PRIMARIES["g"]), "bXYZ": _xyz(_PRIMARIES["r"])}
    curves = {f"{channel}TRC": _curve(gamma) for channel in "rgb"}
    return _profile("RGB ", "XYZ ", colorants | curves | ({"priv": b"data" + bytes(padding)} if padding else {}))


def all_black_rgb() -> bytes:
    """Everything is black in it: an absurd profile."""
    colorants = {f"{channel}XYZ": _xyz((0.0, 0.0, 0.0)) for channel in "rgb"}
    return _profile("RGB ", "XYZ ", colorants | {f"{channel}TRC": _curve(2.2) for channel in "rgb"})


def linear_grey() -> bytes:
    """Grey levels are light, not perception: 55 of 255 looks like 128."""
    return _profile("GRAY", "XYZ ", {"kTRC": _curve(1.0)})


def negative_cmyk() -> bytes:
    """Black ink is all that counts, and more of it is brighter."""
    grid = b"".join(struct.pack("BBB", 255 if k else 0, 128, 128) for c, m, y, k in product((0, 1), repeat=4))
    identity = struct.pack(">9i", *(65536 if place % 4 == 0 else 0 for place in range(9)))
    ramp = bytes(range(256))
    table = b"mft1" + bytes(4) + struct.pack("BBBB", 4, 3, 2, 0) + identity + ramp * 4 + grid + ramp * 3
    return _profile("CMYK", "Lab ", {"A2B0": table})


def _xyz(values: tuple[float, float, float]) -> bytes:
    return b"XYZ " + bytes(4) + struct.pack(">3i", *(round(value * 65536) for value in values))


def _curve(gamma: float) -> bytes:
    return b"curv" + bytes(4) + struct.pack(">IH", 1, round(gamma * 256)) + bytes(2)


def _profile(space: str, between: str, tags: dict[str, bytes]) -> bytes:
    name = b"of the zoo\0"
    described = b"desc" + bytes(4) + struct.pack(">I", len(name)) + name + bytes(78)
    tags = {"desc": described, "cprt": b"text" + bytes(4) + b"none\0", "wtpt": _xyz(_D50)} | tags
    table, body = struct.pack(">I", len(tags)), b""
    start = 128 + 4 + 12 * len(tags)
    for tag, data in tags.items():
        table += struct.pack(">4sII", tag.encode(), start + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    device = b"prtr" if space == "CMYK" else b"mntr"
    header = struct.pack(
        ">I4sI4s4s4s", start + len(body), bytes(4), 0x02400000, device, space.encode(), between.encode()
    )
    header += (
        bytes(12) + b"acsp" + bytes(28) + struct.pack(">3i", *(round(value * 65536) for value in _D50)) + bytes(48)
    )
    assert len(header) == 128
    return header + table + body
