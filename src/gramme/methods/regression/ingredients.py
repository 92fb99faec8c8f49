"""What GrammeRegressor mixes: each learns from some known numbers of a graph and predicts all nodes.

The tables they look at need no labels and are made once for all folds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods.linear.walk_profile import WalkProfile
from gramme.methods.probability import Floats
from gramme.methods.propagation.series import propagate, walk_of

Places = NDArray[np.int64]
Predictor = Callable[[Places, Floats], Floats]
"""From positions and values of known nodes to values of all nodes."""

ALPHAS = (0.3, 0.6, 0.9)
PENALTIES = (3.0, 10.0, 30.0, 100.0, 300.0)
INNER_FOLDS = 5
WALK_DIM = 32
PRIOR_LABELS = 0.5  # labels' worth of belief in the mean of all, against what reaches a node


def inner_folds(count: int, folds: int = INNER_FOLDS) -> NDArray[np.int64]:
    """The fold of each of so many labels, dealt like cards in the order they come."""
    return np.arange(count) % max(2, min(folds, count))


def chosen(
    candidates: list[Predictor], nodes: Places, values: Floats
) -> Callable[[Places, Floats], Floats]:
    """The candidate with the least squared error on labels it has not seen."""
    if nodes.size < 4:
        return candidates[0]
    fold = inner_folds(nodes.size)
    errors = []
    for candidate in candidates:
        error = 0.0
        for number in range(int(fold.max()) + 1):
            held = fold == number
            found = candidate(nodes[~held], values[~held])[nodes[held]]
            error += float(((found - values[held]) ** 2).sum())
        errors.append(error)
    return candidates[int(np.argmin(errors))]


def propagation(graph: MultilayerGraph) -> list[Predictor]:
    """Harmonic functions: known numbers spread to neighbours, and a node takes the mean of what reaches it.

    With F = alpha P F + Y for the known numbers' differences from their mean and for ones, a node's value is the mean
    plus the first divided by the second; the fewer labels reach a node, the nearer it stays to the mean.
    """
    walk = walk_of(graph)
    weights = np.full((graph.num_layers, 2), 1 / graph.num_layers)

    def with_alpha(alpha: float) -> Predictor:
        def predict(nodes: Places, values: Floats) -> Floats:
            mean = float(values.mean())
            start = np.column_stack([values - mean, np.ones(values.size)])
            rows = np.arange(graph.num_nodes)
            found = propagate(
                walk, nodes, start, weights, [alpha], rows, tolerance=1e-5, most=200
            ).values[0]
            # what a node hears on average stands for so many labels
            heard = max(float(found[:, 1].mean()), 1e-12)
            spread: Floats = mean + found[:, 0] / (found[:, 1] + PRIOR_LABELS * heard)
            return spread

        return predict

    return [with_alpha(alpha) for alpha in ALPHAS]


def _ridges(table: Any) -> list[Predictor]:
    def with_penalty(penalty: float) -> Predictor:
        def predict(nodes: Places, values: Floats) -> Floats:
            model = Ridge(alpha=penalty).fit(table[nodes], values)
            found: Floats = model.predict(table)
            return found

        return predict

    return [with_penalty(penalty) for penalty in PENALTIES]


def groups_ridge(graph: MultilayerGraph) -> list[Predictor]:
    """Ridge regressions on a column per group, per neighbour and per feature."""
    parts: list[Any] = []
    for layer in graph.layers.values():
        matrix = layer.incidence() if isinstance(layer, MembershipLayer) else layer.to_scipy()
        parts.append(sp.csr_array(matrix))
    if graph.features is not None:
        features = np.asarray(
            graph.features.toarray() if sp.issparse(graph.features) else graph.features
        )
        spread = features.std(axis=0)
        parts.append(
            sp.csr_array((features - features.mean(axis=0)) / np.where(spread > 0, spread, 1))
        )
    return _ridges(sp.csr_array(sp.hstack(parts, format="csr")))


def walks_ridge(graph: MultilayerGraph) -> list[Predictor]:
    """Ridge regressions on where walks over all layers lead from each node."""
    profile = WalkProfile.of(graph, WALK_DIM)
    table = profile.table(profile.placed(graph)).astype(np.float64)
    return _ridges(table * np.sqrt(graph.num_nodes))


INGREDIENTS: dict[str, Callable[[MultilayerGraph], list[Predictor]]] = {
    "propagation": propagation,
    "groups-ridge": groups_ridge,
    "walks-ridge": walks_ridge,
}
"""All ingredients by name, each a list of candidates."""
