"""What Python users expect of a fitted model: predictions as a table, pictures, a page, a short form in notebooks."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph

    from .base import NodeClassifier

_MAX_LAYERS_SHOWN = 6
_MAX_CLASSES_SHOWN = 6


class PlotMixin:
    """The methods of a classifier that show something; later rooms do the drawing."""

    # Tables

    def predictions_frame(self, graph: MultilayerGraph | None = None, *, coverage: float | None = None) -> pd.DataFrame:
        """The predictions as a table with a row per node.

        Parameters
        ----------
        graph : MultilayerGraph, optional
            A graph other than the fitted one.
        coverage : float, optional
            With it a column ``set`` has a tuple of the classes that :meth:`predict_set` finds plausible.

        Returns
        -------
        DataFrame
            Indexed by node: ``known`` (the label that was learned from, None if there was none), ``predicted``,
            ``probability``, and ``probability_<class>`` for each class.

        Examples
        --------
        >>> from gramme import datasets
        >>> from gramme.methods import Majority
        >>> model = Majority().fit(datasets.load("balance_scale"))
        >>> model.predictions_frame().iloc[:2, :3].round(2)
             known predicted  probability
        node
        0        B         L         0.46
        1        R         L         0.46
        """
        model = self._model()
        shares = model.predict_proba(graph)
        own = graph is None or model.fitted_on(graph)
        nodes = model.nodes_ if graph is None else graph.nodes
        known: Any = np.full(len(nodes), None, dtype=object)
        if own and hasattr(model, "labelled_"):
            known[model.labelled_] = model.transduction_[model.labelled_].tolist()
        best = shares.argmax(axis=1) if len(shares) else np.zeros(0, dtype=np.int64)
        index = nodes.rename("node")
        columns: dict[str, Any] = {
            "known": pd.Series(known, index=index, dtype=object),
            "predicted": pd.Series(model.classes_[best], index=index, dtype=object),
            "probability": shares.max(axis=1) if len(shares) else [],
        }
        for place, label in enumerate(model.classes_.tolist()):
            columns[f"probability_{label}"] = shares[:, place]
        if coverage is not None:
            names = np.array(model.classes_.tolist(), dtype=object)
            sets = model.predict_set(graph, coverage=coverage)
            columns["set"] = pd.Series([tuple(names[row]) for row in sets], index=index)
        return pd.DataFrame(columns, index=index)

    def report(self, path: Any, *, graph: MultilayerGraph | None = None) -> Path:
        """Write the page of the model, as ``gramme fit`` does: one HTML file that opens offline.

        The page says how good the model is if there are predictions for labels it has not seen. A mixture has them; for
        other methods call :meth:`out_of_fold` first, which takes five more fits.

        Parameters
        ----------
        path : path
            The file to write.
        graph : MultilayerGraph, optional
            The graph it was fitted on; needed only for a model that was loaded.
        """
        model = self._model()
        seen = model.graph_given(graph)
        if "graph_" not in vars(model):
            model.graph_ = seen.select_layers(model.layers_)
        from gramme.report.result_folders import write_model_page

        written: Path = write_model_page(Path(path), model, seen)
        return written

    # Pictures

    def plot_embedding(
        self, *, colour: Literal["label", "predicted", "probability"] = "predicted", ax: Any = None
    ) -> Any:
        """Draw the nodes where the model sees them.

        A mixture is drawn from what its ingredients say about each node, other methods from their embedding, and those
        without one from their probabilities.

        Parameters
        ----------
        colour : {"predicted", "label", "probability"}, default="predicted"
            The predicted class, the label that was learned from, or the probability of the prediction.
        ax : matplotlib axes, optional
            Where to draw, and what is returned; a new figure if not given.

        Examples
        --------
        >>> from gramme import datasets
        >>> from gramme.methods import OneHotLogistic
        >>> g = datasets.load("synthetic_table", nodes=60, random_state=0)
        >>> model = OneHotLogistic(random_state=0).fit(g)
        >>> ax = model.plot_embedding(colour="label")
        >>> ax.get_title()
        'OneHotLogistic'
        """
        from gramme.plots.models import plot_embedding

        return plot_embedding(self._model(), colour=colour, ax=ax)

    def plot_layers(self, *, ax: Any = None) -> Any:
        """Draw how much the predictions depend on each layer, with the spread over an ensemble.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, and what is returned; a new figure if not given.

        Examples
        --------
        >>> from gramme import datasets
        >>> from gramme.methods import OneHotLogistic
        >>> model = OneHotLogistic(random_state=0).fit(datasets.load("balance_scale"))
        >>> ax = model.plot_layers()
        >>> len(ax.patches)  # a bar per layer
        4
        """
        from gramme.plots.models import plot_layers

        return plot_layers(self._model(), ax=ax)

    def plot_confusion(self, y: Any = None, *, ax: Any = None) -> Any:
        """Draw the confusion matrix: which classes are mistaken for which.

        Parameters
        ----------
        y : sequence, mapping or Series, optional
            True labels; only nodes that the model has not learned from are counted. If not given, its training labels
            are used, predicted by models that had not seen them (:meth:`out_of_fold`).
        ax : matplotlib axes, optional
            Where to draw, and what is returned; a new figure if not given.

        Examples
        --------
        >>> from gramme import datasets
        >>> from gramme.methods import OneHotLogistic
        >>> g = datasets.load("synthetic_table", nodes=60, random_state=0)
        >>> model = OneHotLogistic(random_state=0).fit(g)
        >>> ax = model.plot_confusion()
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('predicted', 'true')
        """
        from gramme.plots.models import plot_confusion

        return plot_confusion(self._model(), y, ax=ax)

    def plot_reliability(self, y: Any = None, *, ax: Any = None) -> Any:
        """Draw whether the probabilities hold: of the predictions made with 80 %, 80 % should be right.

        Parameters
        ----------
        y : sequence, mapping or Series, optional
            As for :meth:`plot_confusion`.
        ax : matplotlib axes, optional
            Where to draw, and what is returned; a new figure if not given.

        Examples
        --------
        >>> from gramme import datasets
        >>> from gramme.methods import OneHotLogistic
        >>> g = datasets.load("synthetic_table", nodes=60, random_state=0)
        >>> model = OneHotLogistic(random_state=0).fit(g)
        >>> ax = model.plot_reliability()
        >>> ax.get_title()
        '60 nodes'
        """
        from gramme.plots.models import plot_reliability

        return plot_reliability(self._model(), y, ax=ax)

    def plot_history(self, *, ax: Any = None) -> Any:
        """Draw the training, epoch by epoch: losses, and accuracies if there are any.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, and what is returned; a new figure if not given.

        Examples
        --------
        >>> from gramme import datasets
        >>> from gramme.methods import OneHotLogistic
        >>> g = datasets.load("synthetic_table", nodes=60, random_state=0)
        >>> from gramme import GrammeFusion
        >>> ax = GrammeFusion(ensemble=1, epochs=3, random_state=0).fit(g).plot_history()
        >>> len(ax.get_lines()[0].get_xdata())
        3
        """
        from gramme.plots.models import plot_history

        return plot_history(self._model(), ax=ax)

    # In a notebook

    def _repr_html_(self) -> str:
        return _shown(self._model())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _model(self) -> NodeClassifier:
        return cast("NodeClassifier", self)


def _shown(model: NodeClassifier) -> str:
    """What a notebook shows: the settings, what it learned from, and the layers that matter most."""
    title = f"<b>{escape(repr(model))}</b>"
    if not hasattr(model, "probabilities_"):
        return f"<div>{title}<br>not fitted yet: <code>fit(graph, y)</code></div>"
    names = [escape(str(label)[:40]) for label in model.classes_[:_MAX_CLASSES_SHOWN].tolist()]
    more = ", …" if len(model.classes_) > _MAX_CLASSES_SHOWN else ""
    nodes = len(model.nodes_)
    seen = f"{int(model.labelled_.sum()):,} of " if hasattr(model, "labelled_") else ""
    facts = (
        f"learned from {seen}{nodes:,} nodes in {len(model.layers_):,} layers; "
        f"{len(model.classes_):,} classes: {', '.join(names)}{more}"
    )
    words = getattr(model, "explanation_", None)
    said = f"<div>{escape(words)}</div>" if words else ""
    return f"<div>{title}<div>{facts}</div>{said}{_bars(model)}</div>"


def _bars(model: NodeClassifier) -> str:
    shares = getattr(model, "layer_importance_", None)
    if shares is None or not len(shares):
        return ""
    order = shares.sort_values(ascending=False, kind="stable")
    longest = float(order.iloc[0]) or 1.0
    rows = "".join(
        f'<tr><td style="text-align:left">{escape(str(name)[:60])}</td>'
        f'<td><div style="background:#3aa0dd;height:.7em;width:{8 * float(share) / longest:.2f}em"></div></td>'
        f"<td>{float(share):.1%}</td></tr>"
        for name, share in order.head(_MAX_LAYERS_SHOWN).items()
    )
    rest = len(order) - _MAX_LAYERS_SHOWN
    more = f'<tr><td style="text-align:left" colspan="3">and {rest:,} more</td></tr>' if rest > 0 else ""
    return (
        '<table><thead><tr><th style="text-align:left">layer</th><th></th><th>share</th></tr></thead>'
        f"<tbody>{rows}{more}</tbody></table>"
    )
