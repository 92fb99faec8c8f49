"""What the page shows about each node: name, label, prediction, how certain, and whether its label looks wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier
from gramme.report.page.html import shorten
from gramme.report.page.pack import pack_integers, pack_shares

MAX_PAGE_NODES = 100_000
"""Nodes that a page shows; of more, a random sample."""

_ALWAYS_SHOWN = 500  # least certain nodes, and as many doubtful labels, that a sample must hold
_MAX_TEXT_CHARACTERS = 5_000_000  # characters of names that a page may hold
_MAX_NAME_CHARACTERS = 80

UNLABELLED, LEARNED, HELD_OUT = 0, 1, 2
"""What a node's label was used for."""


@dataclass(frozen=True)
class NodeTable:
    """One row per node of the graph, all as arrays in node order.

    Attributes
    ----------
    names : list of str
    labels : list of str
        The distinct labels, classes first.
    label, predicted, judged : array of int
        Positions among ``labels``, counted from 1; 0 for none. ``judged`` is what a model predicts that had not learned
        from the node's label.
    use : array of int
        0 without label, 1 learned from, 2 held out.
    probability : array of float
        Of the predicted class.
    judged_probability, own : array of float
        The probability that this model gives to what it predicts, and to the node's own label.
    doubtful : array of bool
        Whether the label looks wrong: then ``judged`` is suggested in its place.
    """

    names: list[str]
    labels: list[str]
    label: NDArray[np.int64]
    predicted: NDArray[np.int64]
    use: NDArray[np.int64]
    probability: NDArray[np.float64]
    judged: NDArray[np.int64]
    judged_probability: NDArray[np.float64]
    own: NDArray[np.float64]
    doubtful: NDArray[np.bool_]

    def chosen(self, most: int = MAX_PAGE_NODES) -> NDArray[np.int64]:
        """The nodes a page shows: all, or the least certain, the doubtful and a random sample of the others."""
        count = len(self.names)
        if count <= most:
            return np.arange(count)
        first = np.argsort(self.probability, kind="stable")[: min(_ALWAYS_SHOWN, most // 4)]
        doubtful = np.flatnonzero(self.doubtful)
        order = np.argsort(-self.judged_probability[doubtful], kind="stable")
        worst = doubtful[order][: min(_ALWAYS_SHOWN, most // 4)]
        fixed = np.union1d(first, worst)
        others = np.setdiff1d(np.arange(count), fixed, assume_unique=True)
        drawn = np.random.default_rng(0).choice(others, most - fixed.size, replace=False)
        return np.sort(np.concatenate([fixed, drawn]))

    def packed(self, chosen: NDArray[np.int64]) -> dict[str, Any]:
        """The rows of some nodes as the page's script reads them."""
        names = [self.names[place] for place in chosen.tolist()]
        shortened = sum(map(len, names)) > _MAX_TEXT_CHARACTERS
        if shortened:
            names = [shorten(one, _MAX_NAME_CHARACTERS) for one in names]
        return {
            "count": len(names),
            "total": len(self.names),
            "shortened": shortened,
            "names": names,
            "labels": self.labels,
            "label": pack_integers(self.label[chosen]),
            "predicted": pack_integers(self.predicted[chosen]),
            "use": pack_integers(self.use[chosen]),
            "probability": pack_shares(self.probability[chosen]),
            "judged": pack_integers(self.judged[chosen]),
            "judged_probability": pack_shares(self.judged_probability[chosen]),
            "own": pack_shares(self.own[chosen]),
            "doubtful": pack_integers(self.doubtful[chosen]),
        }


def packed_sets(sets: NDArray[np.bool_], classes: list[str]) -> dict[str, Any]:
    """Sets of classes as the page's script reads them: the distinct sets in words, and which of them each node has.

    >>> packed_sets(np.array([[True, True], [False, True]]), ["a", "b"])["names"]
    ['b', 'a or b']
    """
    distinct, which = np.unique(sets, axis=0, return_inverse=True)
    names = [
        " or ".join(name for name, there in zip(classes, row, strict=True) if there)
        for row in distinct.tolist()
    ]
    return {"names": names, "of": pack_integers(which.ravel())}


def node_table(
    model: NodeClassifier,
    graph: MultilayerGraph,
    known: Iterable[Any] | None,
    predictions: Mapping[Any, Any] | None,
) -> NodeTable:
    """What is known about each node.

    Parameters
    ----------
    model : NodeClassifier
        Fitted on ``graph``.
    graph : MultilayerGraph
    known : array of object, optional
        The labels it learned from, None where unknown; the graph's own if not given.
    predictions : mapping, optional
        For labelled nodes, by name: what a model that had not learned from this label says, as in
        :meth:`gramme.evaluation.Estimate.predictions`.
    """
    count = graph.num_nodes
    own_labels = np.full(count, None) if graph.labels is None else graph.labels
    learned = list(own_labels if known is None else known)
    labels = [str(label) for label in model.classes_.tolist()]
    number = {label: place for place, label in enumerate(labels, start=1)}

    def code(value: Any) -> int:
        if value is None or value is pd.NA or value != value:  # NaN is not itself
            return 0
        text = str(value)
        if text not in number:
            labels.append(text)
            number[text] = len(labels)
        return number[text]

    taught = np.array([code(value) for value in learned], dtype=np.int64)
    graph_codes = np.array([code(value) for value in own_labels], dtype=np.int64)
    label = np.where(taught > 0, taught, graph_codes)
    use = np.where(taught > 0, LEARNED, np.where(graph_codes > 0, HELD_OUT, UNLABELLED))

    probabilities = model.predict_proba().astype(np.float64)
    predicted = probabilities.argmax(axis=1) + 1 if count else np.zeros(0, dtype=np.int64)
    judged = np.zeros(count, dtype=np.int64)
    judged_probability, own = np.zeros(count), np.zeros(count)
    doubtful = np.zeros(count, dtype=bool)
    names = [str(one) for one in graph.nodes]
    for place, (node, text) in enumerate(zip(graph.nodes, names, strict=True)):
        found = predictions and (predictions.get(text) or predictions.get(node))
        if found and label[place] > 0:
            judged[place] = code(found["predicted"])
            judged_probability[place] = float(found["probability"])
            own[place] = float(found["own"])
            doubtful[place] = found["suggested"] is not None
    return NodeTable(
        names=names,
        labels=labels,
        label=label,
        predicted=predicted,
        use=use,
        probability=probabilities.max(axis=1) if count else np.zeros(0),
        judged=judged,
        judged_probability=judged_probability,
        own=own,
        doubtful=doubtful,
    )
