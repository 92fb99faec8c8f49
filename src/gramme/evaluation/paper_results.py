"""The accuracies the paper published, for comparison with ours: percent, at 10, 20 and 30 % training nodes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PERCENTAGES = (10, 20, 30)
_METHODS = ("deepwalk", "node2vec", "line", "pmne-r", "mne", "gramme-sg", "gramme-fusion")
# A row per percentage, its columns in the order of _METHODS.
_TABLE: Mapping[str, tuple[tuple[float, ...], ...]] = {
    "vickers_chan": (
        (72.0, 51.07, 76.6, 50.87, 85.76, 98.94, 99.21),
        (83.55, 51.97, 87.06, 53.28, 88.37, 98.94, 99.21),
        (89.97, 52.88, 89.97, 53.88, 91.72, 98.94, 99.21),
    ),
    "congress_votes": (
        (98.96, 98.46, 97.03, 98.88, 95.62, 100.0, 100.0),
        (99.69, 99.5, 98.8, 99.75, 97.56, 100.0, 100.0),
        (99.99, 99.55, 99.7, 99.77, 98.37, 100.0, 100.0),
    ),
    "leskovec_ng": (
        (91.16, 81.76, 68.54, 85.58, 73.34, 91.56, 93.32),
        (96.35, 85.41, 77.39, 89.71, 85.79, 96.25, 97.62),
        (98.31, 86.99, 83.58, 91.35, 89.9, 98.3, 98.73),
    ),
    "reinnovation": (
        (72.02, 72.18, 51.98, 70.76, 72.51, 76.42, 75.28),
        (73.13, 74.04, 55.21, 73.45, 75.4, 80.72, 79.0),
        (76.02, 76.13, 60.13, 75.29, 74.72, 83.16, 80.95),
    ),
    "mammography": (
        (75.72, 76.38, 76.39, 76.48, 75.13, 82.27, 82.63),
        (73.99, 77.41, 75.4, 76.91, 76.72, 83.01, 83.28),
        (74.13, 77.82, 76.16, 75.51, 77.59, 83.06, 83.75),
    ),
    "ckm_social": (
        (97.31, 95.7, 90.88, 97.42, 92.86, 96.65, 98.66),
        (98.12, 97.92, 94.35, 98.2, 95.27, 99.14, 98.91),
        (99.08, 98.34, 96.32, 98.34, 96.83, 99.19, 99.68),
    ),
    "balance_scale": (
        (81.07, 80.58, 54.08, 81.85, 77.71, 77.67, 80.15),
        (86.15, 86.22, 58.95, 88.74, 80.31, 78.67, 86.58),
        (87.27, 88.61, 64.44, 89.87, 83.34, 79.1, 88.72),
    ),
}

PAPER_ACCURACY: Mapping[tuple[str, str, float], float] = MappingProxyType(
    {
        (dataset, method, float(percent)): accuracy
        for dataset, rows in _TABLE.items()
        for percent, row in zip(PERCENTAGES, rows, strict=True)
        for method, accuracy in zip(_METHODS, row, strict=True)
    }
)
"""Accuracy in percent by dataset, method and training percentage."""


def paper_accuracy(dataset: str, method: str, percent: float) -> float | None:
    """The paper's accuracy in percent, or None if it has none.

    A method called "...-paper" is one with the paper's settings.

    >>> paper_accuracy("mammography", "gramme-fusion", 10)
    82.63
    >>> paper_accuracy("mammography", "majority", 10) is None
    True
    """
    return PAPER_ACCURACY.get((dataset, method.removesuffix("-paper"), float(percent)))
