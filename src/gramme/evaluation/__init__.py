"""How far to trust a number: held-out labels and intervals."""

from gramme.evaluation.holdout import Holdout, hold_out
from gramme.evaluation.intervals import accuracy_interval

__all__ = ["Holdout", "accuracy_interval", "hold_out"]
