"""Products of int8 vectors. Whole numbers, so they are exact: the same bits on any machine, whichever way they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from mmmem.types import Float32, Int8

LONGEST = 1_024  # numbers in a vector: up to here every sum of products is a whole number that float32 holds


def products(vectors: Int8, scales: Float32, columns: Int8) -> Float32:
    """The dot product of each of `vectors`, int8 [t, k], with each of `columns`, int8 [k, q], times its of `scales`, float32 [t].

    float32 [t, q]. The products are exact up to a k of LONGEST, and the nearest float32 beyond.
    """
    if not _NATIVE:
        wide = np.float32 if len(columns) <= LONGEST else np.float64
        widened: Float32 = (vectors.astype(wide) @ columns.astype(wide)).astype(np.float32, copy=False)
        return widened * scales[:, None]
    # torch wants arrays that may be written to. A copy of int8 costs a fraction of the product.
    owned = vectors if vectors.flags.writeable else vectors.copy()
    whole = torch._int_mm(torch.from_numpy(owned), torch.from_numpy(columns))
    scaled: Float32 = (whole * torch.from_numpy(scales)[:, None]).numpy()
    return scaled


def whole_numbers(query: Float32) -> tuple[Int8, Float32]:
    """The query's vectors in whole numbers, int8 [k, q and up to 15 columns of zeros], and 1 / norm of each, float32 [q].

    query: float32 [q, k]. A matrix product is faster with a multiple of 16 columns than with fewer.
    """
    peaks = np.abs(query).max(axis=1, keepdims=True, initial=0)
    whole = np.rint(np.divide(query * 127, peaks, out=np.zeros_like(query), where=peaks > 0))
    norms = np.sqrt(np.square(whole).sum(axis=1))
    padded = np.zeros((query.shape[1], -(-len(query) // 16) * 16), dtype=np.int8)
    padded[:, : len(query)] = whole.T
    return padded, np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)


def _native() -> bool:
    """Whether this CPU multiplies int8 itself: four times as fast, and exact. Older ones add products up in 16 bits, which overflow."""
    known = getattr(torch.cpu, "_is_vnni_supported", None)
    if not (known and known()):
        return False
    largest = torch.full((16, LONGEST), -127, dtype=torch.int8)
    return bool((torch._int_mm(largest, largest.T.contiguous()) == LONGEST * 127**2).all())


_NATIVE = _native()
