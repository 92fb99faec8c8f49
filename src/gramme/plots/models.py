"""What a fitted model learned and how far to trust it, as pictures.

Each function is a method of the model it draws, where its parameters are explained.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.evaluation.calibration import reliability_table
from gramme.graph import MultilayerGraph
from gramme.methods import GrammeRegressor, NodeClassifier
from gramme.methods.auto.gramme_auto import GrammeAuto
from gramme.methods.cross_fitting import OutOfFold
from gramme.methods.labels import coded_labels
from gramme.methods.regression.base import explained, known_numbers

from .plane import plane
from .style import COLOURS, FAINT, axes, bare, class_colours, class_legend, quiet, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_POINTS = 20_000
"""Nodes that a map draws; of more a random sample, and the picture says so."""
_MAX_BARS = 25
_MAX_CLASSES = 25


def plot_embedding(
    model: NodeClassifier, *, colour: Literal["label", "predicted", "probability"] = "predicted", ax: Axes | None = None
) -> Axes:
    """Draw the nodes where the model sees them; called as ``model.plot_embedding()``.

    A mixture is shown by what its ingredients say about each node, other methods by their embedding, and those without
    one by their probabilities. Up to 800 nodes are laid out by t-SNE, more of them by their main directions.
    """
    model.check_fitted()
    if colour not in ("label", "predicted", "probability"):
        raise DataError(f"colour must be 'label', 'predicted' or 'probability', not {colour!r}")
    class_probabilities = model.predict_proba()
    shown_nodes = _points(len(class_probabilities))
    node_places = plane(_rows(model, class_probabilities, shown_nodes)).places
    drawn = axes(ax, (5.4, 4.2))
    point_size = float(np.clip(4000 / max(len(shown_nodes), 1), 3, 30))
    point_style: Any = {"s": point_size, "linewidths": 0.3, "edgecolors": "white"}
    if colour == "probability":
        drawn_points = drawn.scatter(
            node_places[:, 0],
            node_places[:, 1],
            c=class_probabilities.max(axis=1)[shown_nodes],
            cmap="viridis",
            **point_style,
        )
        drawn.figure.colorbar(drawn_points, ax=drawn, shrink=0.7, label="probability")
    else:
        class_codes = class_probabilities.argmax(axis=1)
        if colour == "label":
            class_numbers = {label: place for place, label in enumerate(model.classes_.tolist())}
            class_codes = np.where(
                model.labelled_, [class_numbers[label] for label in model.transduction_.tolist()], -1
            )
        drawn.scatter(node_places[:, 0], node_places[:, 1], c=class_colours(class_codes[shown_nodes]), **point_style)
        class_legend(drawn, model.classes_.tolist(), unlabelled=bool((class_codes < 0).any()))
    bare(drawn)
    drawn.set_title(type(model).__name__, fontsize=10)
    if len(shown_nodes) < len(class_probabilities):
        drawn.set_xlabel(f"{len(shown_nodes):,} of {len(class_probabilities):,} nodes", fontsize=7)
    return drawn


def _points(count: int) -> NDArray[np.int64]:
    """The nodes that a map draws, all if there are few."""
    if count <= MAX_POINTS:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, MAX_POINTS, replace=False))


def _fitted_graph(model: Any) -> MultilayerGraph:
    graph: MultilayerGraph | None = vars(model).get("graph_")
    if graph is None:
        raise DataError("a loaded model does not hold the graph it was fitted on; leave y out")
    return graph


def _rows(model: NodeClassifier, shares: NDArray[np.float32], chosen: NDArray[np.int64]) -> NDArray[Any]:
    if isinstance(model, GrammeAuto):
        return model.evidence(chosen)
    embedding = getattr(model, "embedding_", None)
    return (shares if embedding is None else np.asarray(embedding))[chosen]


def plot_layers(model: NodeClassifier, *, ax: Axes | None = None) -> Axes:
    """Draw how much the predictions depend on each layer; called as ``model.plot_layers()``.

    The whisker is one standard deviation over the members of an ensemble.
    """
    model.check_fitted()
    layer_shares = getattr(model, "layer_importance_", None)
    if layer_shares is None:
        raise DataError(f"{type(model).__name__} does not say which layers it relies on")
    leading_layers = layer_shares.sort_values(ascending=False, kind="stable").head(_MAX_BARS)[::-1]
    member_shares = getattr(model, "layer_importances_", None)
    share_spread = None
    if member_shares is not None and len(member_shares) > 1:
        share_spread = member_shares.std(axis=0, ddof=1)[leading_layers.index].to_numpy()
    drawn = axes(ax, (5.0, 0.8 + 0.28 * len(leading_layers)))
    layer_names = [shortened(str(name), 30) for name in leading_layers.index]
    drawn.barh(range(len(leading_layers)), 100 * leading_layers.to_numpy(), color=COLOURS[0], height=0.7)
    if share_spread is not None:
        whisker_style = {"xerr": 100 * share_spread, "fmt": "none", "ecolor": "#333333", "linewidth": 1}
        drawn.errorbar(100 * leading_layers.to_numpy(), range(len(leading_layers)), **whisker_style)
    drawn.set_yticks(range(len(leading_layers)), layer_names)
    drawn.set_xlabel("share of the prediction in %")
    drawn.set_xlim(left=0)
    quiet(drawn, "x")
    if len(leading_layers) < len(layer_shares):
        drawn.set_title(f"the {len(leading_layers)} most important of {len(layer_shares)} layers", fontsize=9)
    return drawn


def plot_confusion(model: NodeClassifier, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw which classes are mistaken for which; called as ``model.plot_confusion()``.

    A row per true class, a column per prediction, numbers of nodes; the darker, the larger the share of the row.
    """
    out_of_fold = _tested(model, y)
    class_names = [str(label) for label in model.classes_.tolist()]
    is_known = out_of_fold.codes >= 0
    predicted_codes = out_of_fold.probabilities.argmax(axis=1)
    confusion_counts = np.zeros((len(class_names), len(class_names)), dtype=np.int64)
    np.add.at(confusion_counts, (out_of_fold.codes[is_known], predicted_codes[is_known]), 1)
    if len(class_names) > _MAX_CLASSES:
        kept_classes = np.sort(np.argsort(-confusion_counts.sum(axis=1), kind="stable")[:_MAX_CLASSES])
        confusion_counts, class_names = (
            confusion_counts[np.ix_(kept_classes, kept_classes)],
            [class_names[place] for place in kept_classes],
        )
    row_shares = confusion_counts / np.maximum(confusion_counts.sum(axis=1, keepdims=True), 1)
    figure_side = 1.6 + 0.55 * len(class_names)
    drawn = axes(ax, (figure_side + 0.6, figure_side))
    drawn.imshow(row_shares, cmap="Blues", vmin=0, vmax=1)
    for (row, column), count in np.ndenumerate(confusion_counts):
        if count:
            text_colour = "white" if row_shares[row, column] > 0.55 else "#1c2430"
            drawn.text(column, row, f"{count:,}", ha="center", va="center", color=text_colour, fontsize=8)
    short_names = [shortened(name, 14) for name in class_names]
    rotation = 45 if max(map(len, short_names)) > 3 else 0
    drawn.set_xticks(range(len(class_names)), short_names, rotation=rotation, ha="right" if rotation else "center")
    drawn.set_yticks(range(len(class_names)), short_names)
    drawn.set_xlabel("predicted")
    drawn.set_ylabel("true")
    drawn.spines[:].set_visible(False)
    right_share = float((predicted_codes == out_of_fold.codes).mean()) if out_of_fold.codes.size else float("nan")
    drawn.set_title(f"{right_share:.1%} of {out_of_fold.codes.size:,} right", fontsize=9)
    return drawn


def plot_reliability(model: NodeClassifier, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw whether the probabilities hold; called as ``model.plot_reliability()``.

    A point stands for equally many nodes: across the probability their predictions were given, upwards the share of
    them that is right, with its 95 % interval. On the dashed line both are equal.
    """
    out_of_fold = _tested(model, y)
    reliability_bins = reliability_table(out_of_fold.probabilities, out_of_fold.codes)
    drawn = axes(ax, (4.2, 3.8))
    drawn.plot([0, 1], [0, 1], linestyle="--", color=FAINT, linewidth=1)
    said_probabilities, right_shares = reliability_bins["probability"], reliability_bins["right"]
    interval_reach = np.maximum([right_shares - reliability_bins["low"], reliability_bins["high"] - right_shares], 0)
    drawn.errorbar(
        said_probabilities, right_shares, yerr=interval_reach, marker="o", markersize=4, color=COLOURS[0], linewidth=1.2
    )
    axis_start = float(min(said_probabilities.min(), reliability_bins["low"].min())) if len(reliability_bins) else 0.0
    drawn.set_xlim(max(0, axis_start - 0.05), 1.01)
    drawn.set_ylim(max(0, axis_start - 0.05), 1.02)
    drawn.set_xlabel("probability of the prediction")
    drawn.set_ylabel("share right")
    drawn.set_title(f"{out_of_fold.codes.size:,} nodes", fontsize=9)
    quiet(drawn)
    return drawn


def _tested(model: NodeClassifier, y: Any) -> OutOfFold:
    """Nodes with a label that the model had not learned from, and what it, or a copy of it, says about them."""
    model.check_fitted()
    if y is None:
        return model.out_of_fold()
    nodes, codes = coded_labels(_fitted_graph(model), y, model.classes_, "true", strict=False)
    not_learned = ~model.labelled_[nodes]
    if not not_learned.any():
        raise DataError("the model has learned from all these labels; leave y out")
    return OutOfFold(nodes[not_learned], codes[not_learned], model.predict_proba()[nodes[not_learned]])


def plot_history(model: NodeClassifier, *, ax: Axes | None = None) -> Axes:
    """Draw the training epoch by epoch; called as ``model.plot_history()``.

    Losses on the left scale, accuracies in percent on the right one. Accuracy is on the nodes the model learned from.
    """
    model.check_fitted()
    history = getattr(model, "history_", None)
    if history is None or not len(history):
        raise DataError(f"{type(model).__name__} has no epochs to show")
    step_column = next((name for name in ("epoch", "iteration", "step") if name in history), None)
    step_values = history[step_column] if step_column else range(1, len(history) + 1)
    value_columns = [name for name in history if name not in (step_column, "member") and history[name].notna().any()]
    share_columns = [name for name in value_columns if "accuracy" in name or "f1" in name]
    drawn = axes(ax, (5.2, 3.4))
    loss_columns = [name for name in value_columns if name not in share_columns]
    for place, name in enumerate(loss_columns):
        drawn.plot(step_values, history[name], color=COLOURS[place % len(COLOURS)], label=name.replace("_", " "))
    drawn.set_xlabel(step_column or "step")
    drawn.set_ylabel("loss")
    quiet(drawn)
    drawn_lines = drawn.get_lines()
    if share_columns:
        share_axes = drawn.twinx()
        for place, name in enumerate(share_columns, start=len(loss_columns)):
            colour = COLOURS[place % len(COLOURS)]
            drawn_lines += share_axes.plot(
                step_values, 100 * history[name], color=colour, ls="--", label=name.replace("_", " ")
            )
        share_axes.set_ylabel("%")
        share_axes.set_ylim(0, 102)
        share_axes.spines[["top"]].set_visible(False)
    drawn.legend(handles=drawn_lines, frameon=False, fontsize=8)
    return drawn


def plot_predictions(model: GrammeRegressor, y: Any = None, *, coverage: float = 0.9, ax: Axes | None = None) -> Axes:
    """Draw predicted against true numbers; called as ``model.plot_predictions()``.

    On the dashed line both are equal; the band is the interval that holds ``coverage`` of the true numbers.
    """
    half_width = model.half_width(coverage)
    if y is None:
        true_numbers, predicted_numbers = model.known_values_, model.unseen_
    else:
        given_numbers = known_numbers(_fitted_graph(model), y)
        not_learned = ~np.isin(given_numbers.nodes, model.known_)
        if not not_learned.any():
            raise DataError("the model has learned from all these numbers; leave y out")
        true_numbers, predicted_numbers = (
            given_numbers.values[not_learned],
            model.predict()[given_numbers.nodes[not_learned]],
        )
    shown_nodes = _points(true_numbers.size)
    drawn = axes(ax, (4.6, 4.2))
    axis_ends = np.array(
        [min(true_numbers.min(), predicted_numbers.min()), max(true_numbers.max(), predicted_numbers.max())]
    )
    if math.isfinite(half_width):
        drawn.fill_between(
            axis_ends, axis_ends - half_width, axis_ends + half_width, color=COLOURS[0], alpha=0.12, linewidth=0
        )
    drawn.plot(axis_ends, axis_ends, linestyle="--", color=FAINT, linewidth=1)
    point_size = float(np.clip(4000 / shown_nodes.size, 3, 24))
    point_style: Any = {"s": point_size, "color": COLOURS[0], "linewidths": 0.3, "edgecolors": "white"}
    drawn.scatter(predicted_numbers[shown_nodes], true_numbers[shown_nodes], **point_style)
    drawn.set_xlabel("predicted")
    drawn.set_ylabel("true")
    sample_words = "" if shown_nodes.size == true_numbers.size else f" ({shown_nodes.size:,} drawn)"
    mean_error = float(np.abs(true_numbers - predicted_numbers).mean())
    drawn.set_title(
        f"{true_numbers.size:,} nodes{sample_words}: {mean_error:.3g} off on average, R² "
        f"{explained(true_numbers, predicted_numbers):.2f}",
        fontsize=9,
    )
    quiet(drawn)
    return drawn


def plot_ingredients(model: GrammeRegressor, *, ax: Axes | None = None) -> Axes:
    """Draw the weight of each ingredient; called as ``model.plot_ingredients()``.

    Beside each bar stands how far the ingredient alone is off on average, on numbers it had not seen.
    """
    model.check_fitted()
    ingredient_rows = model.ingredients_.sort_values("weight", kind="stable")
    ingredient_weights = 100 * ingredient_rows["weight"].to_numpy()
    drawn = axes(ax, (5.0, 0.8 + 0.32 * len(ingredient_rows)))
    drawn.barh(range(len(ingredient_rows)), ingredient_weights, color=COLOURS[0], height=0.7)
    for place, (weight, error) in enumerate(
        zip(ingredient_weights, ingredient_rows["mean_absolute_error"], strict=True)
    ):
        drawn.text(weight + 1, place, f"{error:.3g} off alone", va="center", fontsize=8, color="#333333")
    drawn.set_yticks(range(len(ingredient_rows)), ingredient_rows["ingredient"].tolist())
    drawn.set_xlim(0, max(float(ingredient_weights.max()) * 1.35, 1))
    drawn.set_xlabel("weight in %")
    quiet(drawn, "x")
    return drawn
