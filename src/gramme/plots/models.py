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
    shares = model.predict_proba()
    chosen = _points(len(shares))
    places = plane(_rows(model, shares, chosen)).places
    drawn = axes(ax, (5.4, 4.2))
    size = float(np.clip(4000 / max(len(chosen), 1), 3, 30))
    look: Any = {"s": size, "linewidths": 0.3, "edgecolors": "white"}
    if colour == "probability":
        shown = drawn.scatter(places[:, 0], places[:, 1], c=shares.max(axis=1)[chosen], cmap="viridis", **look)
        drawn.figure.colorbar(shown, ax=drawn, shrink=0.7, label="probability")
    else:
        codes = shares.argmax(axis=1)
        if colour == "label":
            number = {label: place for place, label in enumerate(model.classes_.tolist())}
            codes = np.where(model.labelled_, [number[label] for label in model.transduction_.tolist()], -1)
        drawn.scatter(places[:, 0], places[:, 1], c=class_colours(codes[chosen]), **look)
        class_legend(drawn, model.classes_.tolist(), unlabelled=bool((codes < 0).any()))
    bare(drawn)
    drawn.set_title(type(model).__name__, fontsize=10)
    if len(chosen) < len(shares):
        drawn.set_xlabel(f"{len(chosen):,} of {len(shares):,} nodes", fontsize=7)
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
    shares = getattr(model, "layer_importance_", None)
    if shares is None:
        raise DataError(f"{type(model).__name__} does not say which layers it relies on")
    order = shares.sort_values(ascending=False, kind="stable").head(_MAX_BARS)[::-1]
    members = getattr(model, "layer_importances_", None)
    spread = None
    if members is not None and len(members) > 1:
        spread = members.std(axis=0, ddof=1)[order.index].to_numpy()
    drawn = axes(ax, (5.0, 0.8 + 0.28 * len(order)))
    names = [shortened(str(name), 30) for name in order.index]
    drawn.barh(range(len(order)), 100 * order.to_numpy(), color=COLOURS[0], height=0.7)
    if spread is not None:
        where = {"xerr": 100 * spread, "fmt": "none", "ecolor": "#333333", "linewidth": 1}
        drawn.errorbar(100 * order.to_numpy(), range(len(order)), **where)
    drawn.set_yticks(range(len(order)), names)
    drawn.set_xlabel("share of the prediction in %")
    drawn.set_xlim(left=0)
    quiet(drawn, "x")
    if len(order) < len(shares):
        drawn.set_title(f"the {len(order)} most important of {len(shares)} layers", fontsize=9)
    return drawn


def plot_confusion(model: NodeClassifier, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw which classes are mistaken for which; called as ``model.plot_confusion()``.

    A row per true class, a column per prediction, numbers of nodes; the darker, the larger the share of the row.
    """
    tested = _tested(model, y)
    names = [str(label) for label in model.classes_.tolist()]
    known = tested.codes >= 0
    guesses = tested.probabilities.argmax(axis=1)
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(counts, (tested.codes[known], guesses[known]), 1)
    if len(names) > _MAX_CLASSES:
        kept = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:_MAX_CLASSES])
        counts, names = counts[np.ix_(kept, kept)], [names[place] for place in kept]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    side = 1.6 + 0.55 * len(names)
    drawn = axes(ax, (side + 0.6, side))
    drawn.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for (row, column), count in np.ndenumerate(counts):
        if count:
            ink = "white" if shares[row, column] > 0.55 else "#1c2430"
            drawn.text(column, row, f"{count:,}", ha="center", va="center", color=ink, fontsize=8)
    words = [shortened(name, 14) for name in names]
    turned = 45 if max(map(len, words)) > 3 else 0
    drawn.set_xticks(range(len(names)), words, rotation=turned, ha="right" if turned else "center")
    drawn.set_yticks(range(len(names)), words)
    drawn.set_xlabel("predicted")
    drawn.set_ylabel("true")
    drawn.spines[:].set_visible(False)
    right = float((guesses == tested.codes).mean()) if tested.codes.size else float("nan")
    drawn.set_title(f"{right:.1%} of {tested.codes.size:,} right", fontsize=9)
    return drawn


def plot_reliability(model: NodeClassifier, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw whether the probabilities hold; called as ``model.plot_reliability()``.

    A point stands for equally many nodes: across the probability their predictions were given, upwards the share of
    them that is right, with its 95 % interval. On the dashed line both are equal.
    """
    tested = _tested(model, y)
    table = reliability_table(tested.probabilities, tested.codes)
    drawn = axes(ax, (4.2, 3.8))
    drawn.plot([0, 1], [0, 1], linestyle="--", color=FAINT, linewidth=1)
    said, right = table["probability"], table["right"]
    reach = np.maximum([right - table["low"], table["high"] - right], 0)
    drawn.errorbar(said, right, yerr=reach, marker="o", markersize=4, color=COLOURS[0], linewidth=1.2)
    least = float(min(said.min(), table["low"].min())) if len(table) else 0.0
    drawn.set_xlim(max(0, least - 0.05), 1.01)
    drawn.set_ylim(max(0, least - 0.05), 1.02)
    drawn.set_xlabel("probability of the prediction")
    drawn.set_ylabel("share right")
    drawn.set_title(f"{tested.codes.size:,} nodes", fontsize=9)
    quiet(drawn)
    return drawn


def _tested(model: NodeClassifier, y: Any) -> OutOfFold:
    """Nodes with a label that the model had not learned from, and what it, or a copy of it, says about them."""
    model.check_fitted()
    if y is None:
        return model.out_of_fold()
    nodes, codes = coded_labels(_fitted_graph(model), y, model.classes_, "true", strict=False)
    new = ~model.labelled_[nodes]
    if not new.any():
        raise DataError("the model has learned from all these labels; leave y out")
    return OutOfFold(nodes[new], codes[new], model.predict_proba()[nodes[new]])


def plot_history(model: NodeClassifier, *, ax: Axes | None = None) -> Axes:
    """Draw the training epoch by epoch; called as ``model.plot_history()``.

    Losses on the left scale, accuracies in percent on the right one. Accuracy is on the nodes the model learned from.
    """
    model.check_fitted()
    history = getattr(model, "history_", None)
    if history is None or not len(history):
        raise DataError(f"{type(model).__name__} has no epochs to show")
    across = next((name for name in ("epoch", "iteration", "step") if name in history), None)
    x = history[across] if across else range(1, len(history) + 1)
    numbers = [name for name in history if name not in (across, "member") and history[name].notna().any()]
    shares = [name for name in numbers if "accuracy" in name or "f1" in name]
    drawn = axes(ax, (5.2, 3.4))
    losses = [name for name in numbers if name not in shares]
    for place, name in enumerate(losses):
        drawn.plot(x, history[name], color=COLOURS[place % len(COLOURS)], label=name.replace("_", " "))
    drawn.set_xlabel(across or "step")
    drawn.set_ylabel("loss")
    quiet(drawn)
    lines = drawn.get_lines()
    if shares:
        right = drawn.twinx()
        for place, name in enumerate(shares, start=len(losses)):
            colour = COLOURS[place % len(COLOURS)]
            lines += right.plot(x, 100 * history[name], color=colour, ls="--", label=name.replace("_", " "))
        right.set_ylabel("%")
        right.set_ylim(0, 102)
        right.spines[["top"]].set_visible(False)
    drawn.legend(handles=lines, frameon=False, fontsize=8)
    return drawn


def plot_predictions(model: GrammeRegressor, y: Any = None, *, coverage: float = 0.9, ax: Axes | None = None) -> Axes:
    """Draw predicted against true numbers; called as ``model.plot_predictions()``.

    On the dashed line both are equal; the band is the interval that holds ``coverage`` of the true numbers.
    """
    half = model.half_width(coverage)
    if y is None:
        true, said = model.known_values_, model.unseen_
    else:
        given = known_numbers(_fitted_graph(model), y)
        new = ~np.isin(given.nodes, model.known_)
        if not new.any():
            raise DataError("the model has learned from all these numbers; leave y out")
        true, said = given.values[new], model.predict()[given.nodes[new]]
    chosen = _points(true.size)
    drawn = axes(ax, (4.6, 4.2))
    ends = np.array([min(true.min(), said.min()), max(true.max(), said.max())])
    if math.isfinite(half):
        drawn.fill_between(ends, ends - half, ends + half, color=COLOURS[0], alpha=0.12, linewidth=0)
    drawn.plot(ends, ends, linestyle="--", color=FAINT, linewidth=1)
    size = float(np.clip(4000 / chosen.size, 3, 24))
    look: Any = {"s": size, "color": COLOURS[0], "linewidths": 0.3, "edgecolors": "white"}
    drawn.scatter(said[chosen], true[chosen], **look)
    drawn.set_xlabel("predicted")
    drawn.set_ylabel("true")
    some = "" if chosen.size == true.size else f" ({chosen.size:,} drawn)"
    off = float(np.abs(true - said).mean())
    drawn.set_title(f"{true.size:,} nodes{some}: {off:.3g} off on average, R² {explained(true, said):.2f}", fontsize=9)
    quiet(drawn)
    return drawn


def plot_ingredients(model: GrammeRegressor, *, ax: Axes | None = None) -> Axes:
    """Draw the weight of each ingredient; called as ``model.plot_ingredients()``.

    Beside each bar stands how far the ingredient alone is off on average, on numbers it had not seen.
    """
    model.check_fitted()
    table = model.ingredients_.sort_values("weight", kind="stable")
    weights = 100 * table["weight"].to_numpy()
    drawn = axes(ax, (5.0, 0.8 + 0.32 * len(table)))
    drawn.barh(range(len(table)), weights, color=COLOURS[0], height=0.7)
    for place, (weight, error) in enumerate(zip(weights, table["mean_absolute_error"], strict=True)):
        drawn.text(weight + 1, place, f"{error:.3g} off alone", va="center", fontsize=8, color="#333333")
    drawn.set_yticks(range(len(table)), table["ingredient"].tolist())
    drawn.set_xlim(0, max(float(weights.max()) * 1.35, 1))
    drawn.set_xlabel("weight in %")
    quiet(drawn, "x")
    return drawn
