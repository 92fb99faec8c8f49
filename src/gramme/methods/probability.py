"""Class probabilities from counts and scores, as every method needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def class_prior(counts: NDArray[Any]) -> Floats:
    """Class frequencies, with one pseudo label spread evenly so that none is 0.

    >>> class_prior(np.array([3, 0])).tolist()
    [0.875, 0.125]
    """
    prior: Floats = (counts + 1 / counts.shape[-1]) / (counts.sum(-1, keepdims=True) + 1)
    return prior


def softmax(scores: Floats) -> Floats:
    """The exponentials of scores, scaled to sum to 1 over the last axis; scores may be of any size.

    >>> softmax(np.log([[1.0, 3.0]])).round(2).tolist()
    [[0.25, 0.75]]
    """
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    shares: Floats = raised / raised.sum(-1, keepdims=True)
    return shares


def reweighed(probabilities: NDArray[np.floating[Any]], weights: Floats) -> NDArray[np.float32]:
    """Probabilities with each class counted by a weight, made to sum to 1 again.

    >>> reweighed(np.array([[0.8, 0.2]]), np.array([1.0, 4.0])).tolist()
    [[0.5, 0.5]]
    """
    weighed = probabilities * weights
    shares: NDArray[np.float32] = (weighed / weighed.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares
