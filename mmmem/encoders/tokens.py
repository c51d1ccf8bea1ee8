"""Token vectors made small: projected by PCA, then quantised to int8.

A turn of 35 tokens takes 35 x 384 x 4 = 54 KB as it leaves the encoder and 4.5 KB as it is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from mmmem.errors import WeightsError

if TYPE_CHECKING:
    from pathlib import Path

    from mmmem.types import Float32, Int8


@dataclass(frozen=True, slots=True)
class Projection:
    """A centred PCA: ``(x - mean) @ components``, fitted once on general text (scripts/fit_projection.py).

    mean: float32 [d]. components: float32 [d, k], orthonormal columns.
    """

    mean: Float32
    components: Float32

    @classmethod
    def identity(cls, d: int) -> Projection:
        """Leaves vectors as they are."""
        return cls(np.zeros(d, dtype=np.float32), np.eye(d, dtype=np.float32))

    @classmethod
    def load(cls, file: Path) -> Projection:
        """Read a projection that `save` wrote. Raises WeightsError when the file is anything else."""
        try:
            arrays = load_file(file)
            mean, components = arrays["mean"], arrays["components"]
        except (SafetensorError, KeyError) as error:
            raise WeightsError("the projection of token vectors is not a file of scripts/fit_projection.py") from error
        return cls(mean, components)

    def save(self, file: Path) -> None:
        """Write the projection as safetensors."""
        save_file({"mean": self.mean, "components": self.components}, file)

    @classmethod
    def fit(cls, vectors: Float32, k: int) -> Projection:
        """Fit to float32 [n, d] token vectors: the k directions in which they differ most."""
        mean = vectors.mean(axis=0, dtype=np.float64)
        covariance = np.cov(vectors.T.astype(np.float64))
        _, directions = np.linalg.eigh(covariance)  # ascending eigenvalues
        components = directions[:, ::-1][:, :k]
        return cls(mean.astype(np.float32), np.ascontiguousarray(components, dtype=np.float32))

    def __call__(self, vectors: Float32) -> Float32:
        """float32 [n, d] -> float32 [n, k]."""
        return ((vectors - self.mean) @ self.components).astype(np.float32, copy=False)


def unit_rows(vectors: Float32) -> Float32:
    """Each row divided by its L2 norm; a zero row stays zero."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Float32 = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return unit


def quantise(vectors: Float32) -> Int8:
    """float32 [t, k] -> int8 [t, k]: each row scaled by its own largest component, so only its direction is kept."""
    peaks = np.abs(vectors).max(axis=-1, keepdims=True, initial=0)
    scaled = np.divide(vectors * 127, peaks, out=np.zeros_like(vectors), where=peaks > 0)
    whole: Int8 = np.rint(scaled).astype(np.int8)
    return whole
