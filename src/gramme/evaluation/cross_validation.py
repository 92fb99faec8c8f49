"""Cross-validation: estimate how good a model is when every label is needed for learning.

The labelled nodes are dealt into folds. Each fold in turn is predicted by a model that learned from the labels of the
others alone, so every label is tested once and none is ever seen by the model that predicts it. The price is a fit per
fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from gramme._progress import part
from gramme._wording import setting
from gramme.errors import DataError
from gramme.evaluation.estimate import Estimate, UnseenPredictions, joined_estimate
from gramme.evaluation.holdout import labelled_places
from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier
from gramme.methods.folds import dealt_in_turn

DEFAULT_FOLDS = 5
LARGE_NODE_LAYERS, VERY_LARGE_NODE_LAYERS = 1_000_000, 5_000_000
"""Above these numbers of nodes times layers, only two of the folds, or one, are tested by default."""


def deal_folds(
    labels: NDArray[np.object_], folds: int, random_state: int, nodes: pd.Index | None = None
) -> tuple[list[NDArray[np.int64]], list[Any]]:
    """Positions of the labelled nodes in each fold, and the classes that have a single label.

    Each class is shuffled and dealt like cards, going on where the last class ended: every fold gets its share of
    every class, and every class of two labels or more keeps some outside each fold. The only label of a class is in no
    fold, since without it the class would be unknown. With the names of the nodes given, a node's fold depends on names
    alone.

    >>> folds, single = deal_folds(np.array([*"aabbbc", None], dtype=object), 2, random_state=0)
    >>> sorted(np.concatenate(folds).tolist()), [len(fold) for fold in folds], single
    ([0, 1, 2, 3, 4], [3, 2], ['c'])
    """
    if folds < 2:
        raise DataError(f"folds must be a whole number of at least 2, not {folds!r}")
    known = labelled_places(labels, nodes)
    members: dict[Any, list[int]] = {}
    for position in known.tolist():
        members.setdefault(labels[position], []).append(position)
    random = np.random.default_rng([random_state, 5])
    single = [label for label, mine in members.items() if len(mine) == 1]
    dealt = [random.permutation(mine) for mine in members.values() if len(mine) > 1]
    cards = np.concatenate([*dealt, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    fold = dealt_in_turn(np.arange(cards.size), folds)
    return [np.sort(cards[fold == number]) for number in range(min(folds, cards.size))], single


def folds_to_test(graph: MultilayerGraph, folds: int) -> int:
    """How many of the folds to test: all, except in large data, where some of them have enough labels."""
    size = graph.num_nodes * graph.num_layers
    return min(
        folds, folds if size < LARGE_NODE_LAYERS else 2 if size < VERY_LARGE_NODE_LAYERS else 1
    )


def cross_validate(
    model: NodeClassifier,
    graph: MultilayerGraph,
    labels: NDArray[np.object_],
    *,
    folds: int | None = None,
    random_state: int = 0,
    balanced: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> Estimate:
    """Predict every labelled node by a model that did not see its label.

    Parameters
    ----------
    model : NodeClassifier
        Its parameters are what counts; it is neither fitted nor changed.
    graph : MultilayerGraph
    labels : array of object, shape (nodes,)
        The known labels, None where unknown.
    folds : int, optional
        How many folds, all of them tested. If not given, 5, of which only two or one are tested in large data.
    random_state : int, default=0
        Which labels go to which fold.
    balanced : bool, default=False
        Whether every class counts alike (:meth:`~gramme.methods.NodeClassifier.balance_classes`).
    tell : callable, optional
        Called with the number of folds done and of folds to do, before each.

    Raises
    ------
    KeyboardInterrupt
        Also if a method would end its training early and keep what it has: half a fold says nothing.
    """
    dealt, single = deal_folds(
        labels, DEFAULT_FOLDS if folds is None else folds, random_state, graph.nodes
    )
    if not dealt:
        return Estimate("none", "every class has a single label, so none can be tested")
    count = folds_to_test(graph, len(dealt)) if folds is None else len(dealt)
    parts = []
    for place, fold in enumerate(dealt[:count]):
        if tell is not None:
            tell(place, count)
        train = labels.copy()
        train[fold] = None
        with warnings.catch_warnings(), part(f"fit {place + 1} of {count}", 1 / count):
            warnings.simplefilter("ignore")
            one = clone(model).fit(graph, train)
        if one.interrupted_:
            raise KeyboardInterrupt
        if balanced:
            one.balance_classes()
        parts.append(UnseenPredictions.of(fold, labels, one.classes_, one.predict_proba()))
    note = fold_note(len(dealt), count, single)
    return joined_estimate(
        "cross-validation",
        note,
        parts,
        folds=len(dealt),
        folds_tested=count,
        to_predict=nodes_without_label(labels),
    )


def nodes_without_label(labels: NDArray[np.object_]) -> int:
    """How many nodes there are to predict."""
    return int(sum(label is None for label in labels))


def fold_note(folds: int, tested: int, single: list[Any]) -> str:
    """How the accuracy was estimated, in words."""
    note = (
        f"the labelled nodes were divided into {folds} parts, and each part was predicted by a model that learned "
        "from the other parts only"
    )
    if tested < folds:
        which = "one of them was" if tested == 1 else f"{tested} of them were"
        note += (
            f"; since the data are large, only {which} tested ({setting('folds', folds)} tests all)"
        )
    return note + untested_note(single)


def untested_note(single: list[Any]) -> str:
    """The end of a note on an estimate: which classes could not be tested; nothing where all were."""
    if not single:
        return ""
    names = ", ".join(repr(label) for label in single[:5]) + (", ..." if len(single) > 5 else "")
    if len(single) == 1:
        return f"; a class with a single label cannot be tested and counts nowhere here: {names}"
    return f"; classes with a single label cannot be tested and count nowhere here: {names}"
