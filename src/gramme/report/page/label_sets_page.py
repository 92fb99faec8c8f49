"""The page of a fit with several labels per node: how good each label is, and the least certain nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from gramme._types import Floats
from gramme.graph import MultilayerGraph
from gramme.methods import MultiLabelClassifier
from gramme.methods.multilabel import Flags, KnownLabelSets

from .fit_facts import graph_facts, page_head

MAX_UNCERTAIN_NODES = 30


def label_sets_data(
    model: MultiLabelClassifier,
    graph: MultilayerGraph,
    config: dict[str, Any],
    *,
    training: KnownLabelSets,
    truth: Flags,
    test_probabilities: Floats,
) -> dict[str, Any]:
    """Everything the page shows, as plain values.

    ``training`` has the labels that were learned from, ``truth`` and ``test_probabilities``, both of shape
    (tested nodes, labels), those that were predicted unseen; ``config`` says how the model was fitted.
    """
    label_names = [str(label) for label in model.classes_.tolist()]
    known_counts = training.indicator.sum(axis=0)
    unlearned_nodes = np.flatnonzero(~model.labelled_)
    predicted_labels = model.predict()[unlearned_nodes]
    has_test = truth.size > 0
    test_predictions = test_probabilities >= model.threshold
    label_f1 = f1_score(truth, test_predictions, average=None, zero_division=0) if has_test else []
    label_rows = []
    for column, label in enumerate(label_names):
        tested_count = int(truth[:, column].sum()) if has_test else 0
        label_rows.append(
            {
                "label": label,
                "known": int(known_counts[column]),
                "predicted": int(predicted_labels[:, column].sum()),
                "tested": tested_count,
                "f1": float(label_f1[column]) if tested_count else None,
            }
        )
    labels_per_node = predicted_labels.sum(axis=1)
    return page_head("label-sets", config, graph.name) | {
        "graph": graph_facts(graph),
        "labels": label_rows,
        "training_nodes": int(training.nodes.size),
        "others": int(unlearned_nodes.size),
        "labels_per_node": float(labels_per_node.mean()) if unlearned_nodes.size else None,
        "without_labels": int((labels_per_node == 0).sum()),
        "guess_micro_f1": _guess_micro_f1(truth, known_counts) if has_test else None,
        "uncertain": _least_certain(model, unlearned_nodes, label_names),
    }


def _guess_micro_f1(truth: Flags, known_counts: np.ndarray) -> float:
    """The best micro-F1 of giving every node the same labels: the most frequent one, the two most frequent, and so on.

    >>> round(_guess_micro_f1(np.array([[True, False], [True, True]]), np.array([5, 2])), 3)
    0.857
    """
    frequent_first = np.argsort(-known_counts, kind="stable")
    hits = truth.sum(axis=0)[frequent_first].cumsum()
    given_labels = len(truth) * np.arange(1, truth.shape[1] + 1)
    return float((2 * hits / (given_labels + truth.sum())).max())


def _least_certain(model: MultiLabelClassifier, nodes: np.ndarray, label_names: list[str]) -> list[dict[str, Any]]:
    """The nodes with a label whose probability is nearest to the threshold, the nearest first."""
    probabilities = model.predict_proba()[nodes].astype(np.float64)
    distances = np.abs(probabilities - model.threshold)
    doubtful_columns = distances.argmin(axis=1)
    nearest_first = np.argsort(distances.min(axis=1, initial=1.0), kind="stable")[:MAX_UNCERTAIN_NODES]
    return [
        {
            "node": str(model.nodes_[nodes[row]]),
            "predicted": [
                label for label, share in zip(label_names, probabilities[row], strict=True) if share >= model.threshold
            ],
            "label": label_names[doubtful_columns[row]],
            "probability": float(probabilities[row, doubtful_columns[row]]),
        }
        for row in nearest_first
    ]
