"""How accurate a model would be with more labels, from models that learn from fewer.

Parts of the known labels are learned from and the others are the test, many times over. The share of wrong
predictions falls with the number n of labels about as b n^(-c) (C. Cortes et al., "Learning curves: asymptotic values
and rate of convergence", NIPS 1993, without the asymptote, which few labels cannot tell from the rate). Line and
interval come from the logarithms; the interval is that of lines through resampled divisions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from gramme._types import Floats, Ints
from gramme.errors import DataError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.grouping.communities import learned_layer_weights
from gramme.methods import LabelPropagation, NodeClassifier
from gramme.methods.labels import known_labels

SHARES = (0.25, 0.4, 0.55, 0.7, 0.85)
"""Shares of the labels that are learned from."""
MIN_LABELS = 12
"""Labels below which no curve is drawn: parts of them are too few to learn from."""
MAX_ENTRIES = 500_000
"""Nodes, memberships and ends of edges up to which commands draw a curve unasked: its 60 fits take a minute there."""


def learning_curve(
    graph: MultilayerGraph,
    y: Any = None,
    *,
    more: Sequence[int] = (10, 20, 40),
    divisions: int = 12,
    random_state: int = 0,
) -> pd.DataFrame:
    """The accuracy to expect with more labels, if they are chosen at random.

    Labels that :func:`gramme.ask` chooses do better at first. The model is label propagation with layer weights that
    are learned without labels, which takes a fraction of a second per fit. Its rise, not its level, is what to take
    from here for another model.

    Parameters
    ----------
    graph : MultilayerGraph
    y : sequence, mapping or Series, default=None
        As for a model's ``fit``.
    more : sequence of int, default=(10, 20, 40)
        How many further labels.
    divisions : int, default=12
        Random divisions of the labels; five models learn from each.
    random_state : int, default=0

    Returns
    -------
    DataFrame
        ``labels``, ``more`` (0 for now), ``accuracy`` from 0 to 1, ``low`` and ``high`` of its 90 % interval. Only as
        many further labels as there are unlabelled nodes.

    Raises
    ------
    DataError
        With fewer than 12 labels.
    """
    known_nodes = known_labels(graph, y)
    num_labels = known_nodes.nodes.size
    if num_labels < MIN_LABELS:
        raise DataError(f"a learning curve needs {MIN_LABELS} labels, not {num_labels}")
    unlabelled_graph = graph.replace(labels=None)
    layer_weights: Any = learned_layer_weights(unlabelled_graph).to_dict()
    random = np.random.default_rng(random_state)
    train_sizes = sorted({max(3, round(share * num_labels)) for share in SHARES})
    error_rates = np.full((len(train_sizes), divisions), np.nan)
    for division in range(divisions):
        shuffled_labels = random.permutation(num_labels)
        for size_number, train_size in enumerate(train_sizes):
            train_rows, test_rows = shuffled_labels[:train_size], shuffled_labels[train_size:]
            model = LabelPropagation(layer_weights=layer_weights, random_state=0)
            found_codes = predicted_codes(
                unlabelled_graph, known_nodes.nodes[train_rows], known_nodes.codes[train_rows], model
            )
            error_rates[size_number, division] = (
                found_codes[known_nodes.nodes[test_rows]] != known_nodes.codes[test_rows]
            ).mean()
    more_labels = [0, *(one for one in more if num_labels + one <= graph.num_nodes)]
    label_counts = np.array([num_labels + one for one in more_labels], dtype=np.float64)
    test_sizes = np.array([num_labels - size for size in train_sizes], dtype=np.float64)
    expected_errors = _extrapolated(train_sizes, error_rates, test_sizes, label_counts)
    resampled_errors = (error_rates[:, random.integers(divisions, size=divisions)] for _ in range(400))
    resampled_curves = np.stack(
        [_extrapolated(train_sizes, some, test_sizes, label_counts) for some in resampled_errors]
    )
    # the labels that are tested are few, whatever is learned from them
    sampling_error = np.sqrt(expected_errors * (1 - expected_errors) / num_labels)
    interval_width = 1.645 * np.sqrt(resampled_curves.std(axis=0) ** 2 + sampling_error**2)
    return pd.DataFrame(
        {
            "labels": label_counts.astype(int),
            "more": more_labels,
            "accuracy": 1 - expected_errors,
            "low": np.clip(1 - expected_errors - interval_width, 0, 1),
            "high": np.clip(1 - expected_errors + interval_width, 0, 1),
        }
    )


def predicted_codes(graph: MultilayerGraph, nodes: Ints, codes: Ints, model: NodeClassifier) -> Ints:
    """The class number of every node, learned from those of some; the only class where they have but one."""
    if np.unique(codes).size == 1:
        return np.full(graph.num_nodes, codes[0])
    known_codes = np.full(graph.num_nodes, -1)
    known_codes[nodes] = codes
    with warnings.catch_warnings():
        # that classes have few labels is what is measured
        warnings.simplefilter("ignore", GrammeWarning)
        return np.asarray(model.fit(graph, known_codes.tolist()).predict()).astype(np.int64)


def _extrapolated(sizes: Sequence[int], wrong: Floats, tested: Floats, at: Floats) -> Floats:
    """B n^(-c) through the mean shares of wrong predictions, never rising with n."""
    # half an error more than there was, so that none at all has a logarithm
    error_shares = (np.nanmean(wrong, axis=1) * tested + 0.5) / (tested + 1)
    log_slope, log_intercept = np.polyfit(np.log(sizes), np.log(error_shares), 1)
    if log_slope > 0:
        log_slope, log_intercept = 0.0, float(np.log(error_shares).mean())
    predicted_errors: Floats = np.minimum(np.exp(log_intercept + log_slope * np.log(at)), 1.0)
    return predicted_errors
