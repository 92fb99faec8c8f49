"""What is said when an iteration ends at its limit rather than at its goal."""

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
