"""A fitted regression as Python people expect it: a table, pictures, a page, a short form in notebooks."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from gramme._later import later

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph
    from gramme.methods.regression.gramme_regressor import GrammeRegressor


class NumberFace:
    """What :class:`GrammeRegressor` shows of itself; everything drawn is drawn by later rooms."""

    def predictions_frame(
        self, graph: MultilayerGraph | None = None, *, coverage: float = 0.9
    ) -> pd.DataFrame:
        """The predictions as a table with a row per node.

        Parameters
        ----------
        graph : MultilayerGraph, optional
            A graph other than the fitted one.
        coverage : float, default=0.9
            Of the interval from ``low`` to ``high``.

        Returns
        -------
        DataFrame
            Indexed by node: ``known`` (NaN where the number was not), ``predicted``, ``low`` and ``high``.

        Examples
        --------
        >>> from gramme import GrammeRegressor, datasets
        >>> g = datasets.load("wine")
        >>> y = np.where(np.arange(178) < 90, np.arange(178) % 7, np.nan)
        >>> model = GrammeRegressor(ingredients=["propagation"], random_state=0).fit(g, y)
        >>> list(model.predictions_frame().columns)
        ['known', 'predicted', 'low', 'high']
        """
        model = self._model()
        bounds = model.predict_interval(coverage, graph=graph)
        nodes = model.nodes_ if graph is None else graph.nodes
        known = np.full(len(nodes), np.nan)
        if graph is None or graph is vars(model).get("graph_"):
            known[model.known_] = model.known_values_
        columns = {"known": known, "predicted": model.predict(graph)}
        return pd.DataFrame(
            columns | {"low": bounds[:, 0], "high": bounds[:, 1]}, index=nodes.rename("node")
        )

    def report(self, path: Any, *, graph: MultilayerGraph | None = None) -> Path:
        """Write the page of the model, as ``gramme fit`` does: one HTML file that opens offline.

        Parameters
        ----------
        path : path
            The file to write.
        graph : MultilayerGraph, optional
            The graph it was fitted on; needed only for a model that was loaded.
        """
        model = self._model()
        seen = model.graph_given(graph)
        written: Path = later("gramme.report.model_page:write_number_page")(Path(path), model, seen)
        return written

    def plot_predictions(self, y: Any = None, *, coverage: float = 0.9, ax: Any = None) -> Any:
        """Draw predicted against true numbers, with the interval in which ``coverage`` of them should lie.

        Parameters
        ----------
        y : sequence, mapping or Series, optional
            True numbers; drawn are nodes that the model has not learned from. Where not given, the numbers that it has
            learned from, each predicted without itself.
        coverage : float, default=0.9
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib axes

        Examples
        --------
        >>> from gramme import GrammeRegressor, datasets
        >>> g = datasets.load("wine")
        >>> y = np.where(np.arange(178) < 90, np.arange(178) % 7, np.nan)
        >>> ax = (
        ...     GrammeRegressor(ingredients=["propagation"], random_state=0)
        ...     .fit(g, y)
        ...     .plot_predictions()
        ... )
        >>> len(ax.collections[-1].get_offsets())
        90
        """
        draw = later("gramme.plots.numbers:plot_predictions")
        return draw(self, y, coverage=coverage, ax=ax)

    def plot_ingredients(self, *, ax: Any = None) -> Any:
        """Draw the weight of each ingredient, and how far each alone is off.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib axes
        """
        return later("gramme.plots.numbers:plot_ingredients")(self, ax=ax)

    def _repr_html_(self) -> str:
        model = self._model()
        title = f"<b>{escape(repr(model))}</b>"
        if not hasattr(model, "values_"):
            return f"<div>{title}<br>not fitted yet: <code>fit(graph, y)</code></div>"
        facts = (
            f"learned from the numbers of {model.known_.size:,} of {len(model.nodes_):,} nodes in "
            f"{len(model.layers_):,} layers; {model.mean_absolute_error_:.4g} off on average, R² {model.r2_:.2f}, on "
            "numbers predicted without themselves"
        )
        rows = "".join(
            f'<tr><td style="text-align:left">{escape(name)}</td><td>{weight:.1%}</td><td>{error:.4g}</td></tr>'
            for name, weight, error in zip(
                *model.ingredients_.to_dict("list").values(), strict=True
            )
        )
        return (
            f"<div>{title}<div>{facts}</div><table><thead><tr><th>ingredient</th><th>weight</th><th>error alone</th>"
            f"</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _model(self) -> GrammeRegressor:
        return cast("GrammeRegressor", self)
