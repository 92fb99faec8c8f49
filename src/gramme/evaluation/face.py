"""A ledger shows its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gramme._later import later


class LedgerFace:
    """What a ledger shows of itself, drawn by a later room."""

    def plot_results(
        self,
        *,
        dataset: str | None = None,
        methods: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw the accuracies with matplotlib: over the share of labels, a line per method, a panel per dataset.

        Parameters
        ----------
        dataset : str, optional
            One dataset alone; a panel for each if not given.
        methods : sequence of str, optional
            The methods to show; if not given, the ten with the best mean.
        ax : matplotlib axes, optional
            Where to draw a single dataset; a new figure if not given.

        Returns
        -------
        matplotlib axes
            An array of them where there are several datasets.
        """
        return later("gramme.plots.results:plot_results")(
            self, dataset=dataset, methods=methods, ax=ax
        )
