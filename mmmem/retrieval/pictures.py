"""Pictures compared with pictures: arrays in, scores out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.types import Float32, UInt8

ENOUGH = 0.2  # of a picture: a red cup does not fill it


def resemblance(fingerprint: UInt8, stored: UInt8) -> Float32:
    """float32 [m] in -1..1: correlation of a picture's grey levels with each stored picture's, turned or mirrored as fits best.

    fingerprint: uint8 [s * s]; stored: uint8 [m, s * s]; both row by row. A picture of one colour correlates with nothing: 0.
    """
    side = int(len(fingerprint) ** 0.5)
    upright = fingerprint.reshape(side, side)
    turned = [np.rot90(seen, turns) for turns in range(4) for seen in (upright, upright[:, ::-1])]
    sought = _standardised(np.stack([seen.ravel() for seen in turned]))
    best: Float32 = (_standardised(stored) @ sought.T).max(axis=1)
    return best


def named_shares(colours: UInt8, named: Sequence[int]) -> Float32:
    """float32 [m] in 0..1: how much of what is named is seen in each picture, 1 where every colour takes `ENOUGH` of it.

    colours: uint8 [m, c], the share of each colour, 255 for all of the picture. named: numbers of one or more of the c.
    """
    shares = colours[:, list(named)].astype(np.float32) / 255
    seen: Float32 = np.minimum(shares / ENOUGH, 1).mean(axis=1)
    return seen


def _standardised(levels: UInt8) -> Float32:
    """Rows with mean 0 and norm 1, so that brightness and contrast do not count."""
    centred = levels.astype(np.float32)
    centred -= centred.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    standardised: Float32 = np.divide(centred, norms, out=np.zeros_like(centred), where=norms > 0)
    return standardised
