"""Numbers too large or small to compute with: refused before a fit, by column or layer."""

from __future__ import annotations

import numpy as np

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.arrays import plain
from gramme.methods.seen_graph import given_columns, given_features

#: Squares of larger features, and sums of them, overflow in 64 bits.
MAX_FEATURE = 1e100
#: Weights beyond these bounds overflow or vanish when rows are divided by their sums.
MIN_WEIGHT, MAX_WEIGHT = 1e-100, 1e100


def check_number_range(graph: MultilayerGraph) -> None:
    """Refuse features and weights that a regression would turn into infinities."""
    for name, layer in graph.layers.items():
        weight = getattr(layer, "weight", None)
        if weight is None or not weight.size:
            continue
        for one in (float(weight.min()), float(weight.max())):
            if not MIN_WEIGHT <= one <= MAX_WEIGHT:
                raise DataError(
                    f"the layer {name!r} has a weight of {one:g}; weights from {MIN_WEIGHT:g} to {MAX_WEIGHT:g} can be "
                    "computed with, so scale them"
                )
    if not given_columns(graph):
        return
    features = given_features(graph)
    values = features if isinstance(features, np.ndarray) else features.data
    if values.size and max(float(values.max()), -float(values.min())) > MAX_FEATURE:
        dense = features if isinstance(features, np.ndarray) else features.tocoo()
        if isinstance(dense, np.ndarray):
            row, column = np.argwhere(np.abs(dense) > MAX_FEATURE)[0].tolist()
        else:
            place = int(np.flatnonzero(np.abs(dense.data) > MAX_FEATURE)[0])
            row, column = int(dense.row[place]), int(dense.col[place])
        raise DataError(
            f"the feature in column {column} of node {plain(graph.nodes[row])!r} is beyond {MAX_FEATURE:g}; scale the "
            "features"
        )
