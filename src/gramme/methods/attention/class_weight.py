"""How much each label counts in the loss, from the parameter ``class_weight``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from gramme.errors import DataError
from gramme.methods.labels import KnownLabels


def label_weights(
    class_weight: str | Mapping[Any, float] | None, known: KnownLabels
) -> NDArray[np.float64]:
    """The weight of each label: 1, so that all classes count the same ("balanced"), or by class."""
    if class_weight is None:
        return np.ones(known.nodes.size)
    if isinstance(class_weight, str):
        numbers = np.arange(len(known.classes))
        weights = compute_class_weight(class_weight, classes=numbers, y=known.codes)
    else:
        listed = known.classes.tolist()
        for label in class_weight:
            if label not in listed:
                raise DataError(
                    f"class_weight names {label!r}, which is not a class; classes: {listed}"
                )
        weights = np.array([class_weight.get(label, 1.0) for label in listed])
    chosen: NDArray[np.float64] = weights[known.codes]
    return chosen
