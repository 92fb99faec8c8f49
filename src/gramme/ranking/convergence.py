"""The warning for an iteration that stops at its limit before it has converged."""

from __future__ import annotations

import warnings

from gramme.errors import GrammeWarning


def warn_unless(converged: bool, measure: str, steps: int) -> None:
    """Warn that a measure is only approximate."""
    if not converged:
        warnings.warn(
            f"{measure} has not settled after {steps} steps; its values are approximate",
            GrammeWarning,
            stacklevel=3,
        )
