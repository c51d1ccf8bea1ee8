"""From what an image classifier sees to a text encoder's space, without a model that was trained on both.

Two ways, added up: ConSE (Norouzi et al., 2014), the mean of the most probable classes' text vectors, weighted by probability; and
a regression from what a class looks like, the classifier's own weights, to what it is called, which says something of what is no
class too (after Romera-Paredes & Torr, ESZSL, 2015).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.encoders.tokens import unit_rows

if TYPE_CHECKING:
    from mmmem.types import Float32

TOP_CLASSES = 20  # ConSE's T
TEMPERATURE = 1.5  # of the classes' probabilities in the mean: softer ones say more of what is no class
RIDGE = 3.0  # penalty, of the mean square of what is regressed from
REGRESSED = 0.3  # what the regression counts beside ConSE, by how far apart the classes lie
METHOD = f"conse{TOP_CLASSES}/{TEMPERATURE}x2+ridge{RIDGE}/{REGRESSED}"  # part of an encoder's name


class TextSpace:
    """classes: float32 [c, d], unit rows, the classes' text vectors. weights: float32 [c, f], the classifier's last layer."""

    def __init__(self, classes: Float32, weights: Float32) -> None:
        self._classes = classes
        mean = classes.mean(axis=0)
        spread = np.sqrt(max(0.0, 1.0 - float(mean @ mean)))
        self._map = _regression(weights, classes - mean) @ _without(mean)
        # Where all texts lie close together, little tells one from another: the regression must not outweigh what they share.
        self._regressed = np.float32(REGRESSED * spread)

    def vector(self, logits: Float32, features: Float32) -> Float32:
        """An image's unit vector, float32 [d], from views of it: logits, float32 [v, c], and features, float32 [v, f]."""
        conse = unit_rows(np.sum([self._conse(probabilities(view, TEMPERATURE)) for view in logits], axis=0))
        regressed = unit_rows(unit_rows(features.mean(axis=0)) @ self._map)
        return unit_rows(conse + self._regressed * regressed)

    def _conse(self, of_classes: Float32) -> Float32:
        best = np.argsort(-of_classes, kind="stable")[:TOP_CLASSES]
        return unit_rows((of_classes[best, None] * self._classes[best]).sum(axis=0))


def probabilities(logits: Float32, temperature: float = 1.0) -> Float32:
    """Softmax, float32 [c], softer the higher the temperature."""
    odds: Float32 = np.exp((logits - logits.max()) / np.float32(temperature))
    odds /= odds.sum()
    return odds


def _regression(weights: Float32, called: Float32) -> Float32:
    """Ridge regression from the direction of each class's weights, less their mean, to `called`, its text vector less theirs, float32 [f, d]."""
    looks = unit_rows(weights - weights.mean(axis=0)).astype(np.float64)
    penalty = RIDGE * np.square(looks).sum() / looks.shape[1]
    # In its dual form: there are fewer classes than features, and the service solves this at each start.
    solved: Float32 = (looks.T @ np.linalg.solve(looks @ looks.T + penalty * np.eye(len(looks)), called)).astype(
        np.float32
    )
    return solved


def _without(vector: Float32) -> Float32:
    """The projection that takes a vector's direction out of others, float32 [d, d]."""
    direction = unit_rows(vector)
    projection: Float32 = np.eye(len(vector), dtype=np.float32) - np.outer(direction, direction)
    return projection
