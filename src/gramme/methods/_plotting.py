"""What Python users expect of a fitted model: predictions as a table, pictures, a page, a short form in notebooks."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph

    from .base import NodeClassifier


class ShownMixin:
    """What every fitted model shows of itself: a page, and a short form in notebooks."""

    _result: ClassVar[str]  # the attribute that is there once it is fitted

    def report(self, path: Any, *, graph: MultilayerGraph | None = None) -> Path:
        """Write the page of the model, as ``gramme fit`` does: one HTML file that opens offline.

        The page says how good the model is if there are predictions for labels it has not seen. A mixture has them; for
        other methods call ``out_of_fold()`` first, which takes five more fits.

        Parameters
        ----------
        path : path
            The file to write.
        graph : MultilayerGraph, optional
            The graph it was fitted on; needed only for a model that was loaded.
        """
        from gramme.report.result_folders import write_model_page

        model = cast("Any", self)
        page_graph = model.graph_given(graph)
        if "graph_" not in vars(model):
            model.graph_ = page_graph.select_layers(model.layers_)
        page_path: Path = write_model_page(Path(path), model, page_graph)
        return page_path

    def _notebook_facts(self) -> str:
        """What it learned from, for a notebook."""
        raise NotImplementedError

    def _notebook_table(self) -> str:
        """What matters most in it, as a table for a notebook."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        title_html = f"<b>{escape(repr(self))}</b>"
        if not hasattr(self, self._result):
            return f"<div>{title_html}<br>not fitted yet: <code>fit(graph, y)</code></div>"
        return f"<div>{title_html}<div>{self._notebook_facts()}</div>{self._notebook_table()}</div>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


class PlotMixin(ShownMixin):
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
        class_probabilities = model.predict_proba(graph)
        is_fitted_graph = graph is None or model.fitted_on(graph)
        node_names = model.nodes_ if graph is None else graph.nodes
        known_labels: Any = np.full(len(node_names), None, dtype=object)
        if is_fitted_graph and hasattr(model, "labelled_"):
            known_labels[model.labelled_] = model.transduction_[model.labelled_].tolist()
        best_codes = class_probabilities.argmax(axis=1) if len(class_probabilities) else np.zeros(0, dtype=np.int64)
        node_index = node_names.rename("node")
        table_columns: dict[str, Any] = {
            "known": pd.Series(known_labels, index=node_index, dtype=object),
            "predicted": pd.Series(model.classes_[best_codes], index=node_index, dtype=object),
            "probability": class_probabilities.max(axis=1) if len(class_probabilities) else [],
        }
        for place, label in enumerate(model.classes_.tolist()):
            table_columns[f"probability_{label}"] = class_probabilities[:, place]
        if coverage is not None:
            class_names = np.array(model.classes_.tolist(), dtype=object)
            class_sets = model.predict_set(graph, coverage=coverage)
            table_columns["set"] = pd.Series([tuple(class_names[set_row]) for set_row in class_sets], index=node_index)
        return pd.DataFrame(table_columns, index=node_index)

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

    def _notebook_facts(self) -> str:
        model = self._model()
        class_names = [escape(str(label)[:40]) for label in model.classes_[:6].tolist()]
        more_words = ", …" if len(model.classes_) > len(class_names) else ""
        seen_words = f"{int(model.labelled_.sum()):,} of " if hasattr(model, "labelled_") else ""
        return (
            f"learned from {seen_words}{len(model.nodes_):,} nodes in {len(model.layers_):,} layers; "
            f"{len(model.classes_):,} classes: {', '.join(class_names)}{more_words}"
        )

    def _notebook_table(self) -> str:
        explanation_words = getattr(self, "explanation_", None)
        explanation_html = f"<div>{escape(explanation_words)}</div>" if explanation_words else ""
        layer_shares = getattr(self, "layer_importance_", None)
        if layer_shares is None or not len(layer_shares):
            return explanation_html
        leading_shares = layer_shares.sort_values(ascending=False, kind="stable").head(6)
        largest_share = float(leading_shares.iloc[0]) or 1.0
        table_rows = "".join(
            f'<tr><td style="text-align:left">{escape(str(name)[:60])}</td>'
            '<td><div style="background:#3aa0dd;height:.7em;'
            f'width:{8 * float(share) / largest_share:.2f}em"></div></td>'
            f"<td>{float(share):.1%}</td></tr>"
            for name, share in leading_shares.items()
        )
        num_further = len(layer_shares) - len(leading_shares)
        more_html = (
            f'<tr><td style="text-align:left" colspan="3">and {num_further:,} more</td></tr>' if num_further else ""
        )
        return (
            f'{explanation_html}<table><thead><tr><th style="text-align:left">layer</th><th></th><th>share</th></tr>'
            f"</thead><tbody>{table_rows}{more_html}</tbody></table>"
        )

    def _model(self) -> NodeClassifier:
        return cast("NodeClassifier", self)
