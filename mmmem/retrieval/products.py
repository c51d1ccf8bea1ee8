"""Products of int8 vectors. Whole numbers, so they are exact: the same bits on any machine, whichever way they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from mmmem.types import Float32, Int8

LONGEST = 1_024  # numbers in a vector: up to here every sum of products is a whole number that float32 holds


def products(queries: Int8, vectors: Int8, scales: Float32) -> Float32:
    """The dot product of each of `queries`, int8 [q, k], with each of `vectors`, int8 [t, k], times its of `scales`, float32 [t].

    float32 [q, t]. The products are exact up to a k of LONGEST, and the nearest float32 beyond.
    """
    if not _NATIVE:
        wide = np.float32 if queries.shape[1] <= LONGEST else np.float64
        widened: Float32 = np.matmul(queries.astype(wide), vectors.astype(wide).T).astype(np.float32, copy=False)
        return widened * scales
    # torch wants arrays that may be written to. A copy of int8 costs a fraction of the product.
    owned = vectors if vectors.flags.writeable else vectors.copy()
    whole = torch._int_mm(torch.from_numpy(queries), torch.from_numpy(owned).T)
    scaled: Float32 = whole.float().numpy()
    scaled *= scales
    return scaled


def whole_numbers(query: Float32) -> tuple[Int8, Float32]:
    """The query's vectors, float32 [q, k], in whole numbers, int8 [q, k], and 1 / norm of each, float32 [q]."""
    peaks = np.abs(query).max(axis=1, keepdims=True, initial=0)
    whole = np.rint(np.divide(query * 127, peaks, out=np.zeros_like(query), where=peaks > 0))
    norms = np.sqrt(np.square(whole).sum(axis=1))
    return whole.astype(np.int8), np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)


def _native() -> bool:
    """Whether this CPU multiplies int8 itself: four times as fast, and exact. Older ones add products up in 16 bits, which overflow."""
    known = getattr(torch.cpu, "_is_vnni_supported", None)
    if not (known and known()):
        return False
    largest = torch.full((16, LONGEST), -127, dtype=torch.int8)
    return all(bool((torch._int_mm(some, largest.T) == LONGEST * 127**2).all()) for some in (largest, largest[:1]))


_NATIVE = _native()
