"""Nodes with several labels at once: a model per label, over one graph that is prepared once for all of them.

A paper has topics, a person has hobbies. Each label is a question of its own, whether a node has it or not (one versus
the rest), and any method answers it. The graph in the order of its names, its matrices, and embeddings that know no
labels are made once and serve all of them. The rest of the cost is that of a fit per label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import f1_score, label_ranking_loss

from gramme._progress import part
from gramme._types import Floats
from gramme.errors import DataError, NotFittedError
from gramme.graph import MultilayerGraph, checked_graph, sorted_labels
from gramme.graph.arrays import loose_index

from .base import NodeClassifier
from .labels import labels_within, warn_of_twins
from .params import SHARE
from .persistence import Learned, MisfitError, from_json, natural_array, plain_name, to_json, write_model

Flags = NDArray[np.bool_]
DEFAULT_THRESHOLD = 0.5
"""The probability from which on a node is said to have a label."""


@dataclass(frozen=True)
class KnownLabelSets:
    """Which labels some nodes have.

    Attributes
    ----------
    nodes : array of int, shape (labelled,)
        Positions of the nodes of which it is known.
    indicator : array of bool, shape (labelled, labels)
    labels : array
    """

    nodes: NDArray[np.int64]
    indicator: Flags
    labels: NDArray[Any]


def known_label_sets(
    graph: MultilayerGraph, y: Any = None, *, mask: str | None = None, separator: str | None = None
) -> KnownLabelSets:
    """The nodes whose labels are known, from the forms in which they are given.

    Parameters
    ----------
    graph : MultilayerGraph
    y : DataFrame, array, mapping or sequence, optional
        An indicator (a DataFrame with a row per node and a column per label, or such an array), of which rows with a
        missing value are unknown; or a list, tuple or set of labels for each node, in node order or by name. None means
        unknown, and an empty one that a node has none of the labels. The graph's own labels if not given.
    mask : str, optional
        One of the graph's masks: other nodes are unknown.
    separator : str, optional
        What stands between the labels where they are one text, like ``"a;b"``.

    Examples
    --------
    >>> from gramme import EdgeLayer
    >>> g = MultilayerGraph({"a": EdgeLayer(3, [0], [1])}, nodes=["Ann", "Bo", "Cy"])
    >>> known_label_sets(g, {"Ann": ["x", "y"], "Bo": ["y"]}).indicator.astype(int).tolist()
    [[1, 1], [0, 1]]
    >>> known_label_sets(g, ["x; y", "", None], separator=";").labels.tolist()
    ['x', 'y']
    """
    if isinstance(y, pd.DataFrame) or (isinstance(y, np.ndarray) and y.ndim == 2):
        label_sets = _from_indicator(graph, y)
    else:
        label_sets = _from_sets(graph, y, separator)
    if mask is not None:
        wanted_nodes = labels_within(graph, np.ones(graph.num_nodes), mask)
        kept_rows = np.array([wanted_nodes[node] is not None for node in label_sets.nodes], dtype=bool)
        label_sets = KnownLabelSets(label_sets.nodes[kept_rows], label_sets.indicator[kept_rows], label_sets.labels)
    if label_sets.nodes.size < 2:
        raise DataError(f"the labels of {label_sets.nodes.size} nodes are known; at least two are needed")
    if not label_sets.labels.size:
        raise DataError("no node has any label")
    warn_of_twins(label_sets.labels.tolist())
    return label_sets


def _from_indicator(graph: MultilayerGraph, y: Any) -> KnownLabelSets:
    frame = pd.DataFrame(y)
    if len(set(frame.columns)) < frame.shape[1]:
        raise DataError("the columns of the indicator are the labels, and two have the same name")
    if isinstance(y, pd.DataFrame) and not isinstance(y.index, pd.RangeIndex):
        _refuse_strangers(graph, frame.index)
        frame = frame.reindex(graph.nodes)
    elif len(frame) != graph.num_nodes:
        raise DataError(f"the indicator has {len(frame)} rows for {graph.num_nodes} nodes")
    values = frame.apply(pd.to_numeric, errors="coerce").to_numpy(np.float64)
    known_rows = ~np.isnan(values).any(axis=1)
    if not np.isin(values[known_rows], (0, 1)).all():
        raise DataError("an indicator of labels holds 0 and 1 (or False and True), nothing else")
    return KnownLabelSets(np.flatnonzero(known_rows), values[known_rows] == 1, natural_array(frame.columns.tolist()))


def _from_sets(graph: MultilayerGraph, y: Any, separator: str | None) -> KnownLabelSets:
    if y is None and graph.labels is None:
        raise DataError("the graph has no labels and none were given; pass y")
    given_labels = graph.labels if y is None else y
    if not isinstance(given_labels, (Mapping, pd.Series)):
        listed = list(given_labels)
        if len(listed) != graph.num_nodes:
            raise DataError(f"{len(listed)} sets of labels were given for {graph.num_nodes} nodes")
        given_labels = dict(zip(graph.nodes, listed, strict=True))
    _refuse_strangers(graph, given_labels.keys())
    label_sets = {}
    for node, name in enumerate(graph.nodes):
        node_labels = given_labels.get(name)
        if (
            node_labels is not None
            and node_labels is not pd.NA
            and not (isinstance(node_labels, float) and np.isnan(node_labels))
        ):
            label_sets[node] = _label_set(node_labels, separator)
    distinct = list(dict.fromkeys(label for labels in label_sets.values() for label in labels))
    labels = sorted_labels(np.array([*distinct, None], dtype=object)[:-1])
    column = {label: label_index for label_index, label in enumerate(labels)}
    indicator = np.zeros((len(label_sets), len(labels)), dtype=bool)
    for row, label_set in enumerate(label_sets.values()):
        indicator[row, [column[label] for label in label_set]] = True
    return KnownLabelSets(np.array(list(label_sets), dtype=np.int64), indicator, natural_array(labels))


def _refuse_strangers(graph: MultilayerGraph, names: Iterable[Any]) -> None:
    stranger = next((name for name in names if name not in graph.nodes), None)
    if stranger is not None:
        raise DataError(f"labels were given for {stranger!r}, which is no node of the graph")


def label_texts(graph: MultilayerGraph, separator: str) -> NDArray[np.object_]:
    """The graph's labels as one text per node; None where they are unknown, which an empty text means too.

    >>> from gramme import EdgeLayer
    >>> g = MultilayerGraph({"a": EdgeLayer(3, [0], [1])}, labels=["x;y", ("y", "z"), ""])
    >>> label_texts(g, ";").tolist()
    ['x;y', 'y;z', None]
    """
    texts = np.full(graph.num_nodes, None, dtype=object)
    for node, value in enumerate([] if graph.labels is None else graph.align(graph.labels, "label")):
        if value is not None:
            several = isinstance(value, (list, tuple, set, frozenset))
            texts[node] = (separator.join(sorted(map(str, value))) if several else str(value)) or None
    return texts


def _label_set(value: Any, separator: str | None) -> list[Any]:
    """The labels of a node."""
    if isinstance(value, str):
        value = [part.strip() for part in (value.split(separator) if separator else [value])]
        return [label for label in dict.fromkeys(value) if label]
    several = isinstance(value, Iterable) and not isinstance(value, (Mapping, bytes))
    return list(dict.fromkeys(value)) if several else [value]


def multilabel_scores(
    truth: Flags, probabilities: NDArray[np.floating[Any]], threshold: float = DEFAULT_THRESHOLD
) -> dict[str, float]:
    """How well several labels per node are predicted.

    Parameters
    ----------
    truth : array of bool, shape (nodes, labels)
    probabilities : array, shape (nodes, labels)
    threshold : float, default=0.5
        The probability from which on a node is said to have a label.

    Returns
    -------
    dict
        ``macro_f1`` (the mean over the labels), ``micro_f1`` (over all pairs of node and label), ``exact`` (the share
        of nodes with all labels right), and ``ranking_loss``: how often a label that a node lacks is held more probable
        than one it has (0 is perfect; NaN where no node has some labels and lacks others).

    Examples
    --------
    >>> truth = np.array([[True, False], [True, True]])
    >>> multilabel_scores(truth, np.array([[0.9, 0.2], [0.8, 0.4]]))["micro_f1"]
    0.8
    """
    predicted = probabilities >= threshold
    mixed = truth.any(axis=1) & ~truth.all(axis=1)
    ranking = float(label_ranking_loss(truth[mixed], probabilities[mixed])) if mixed.any() else float("nan")
    return {
        "macro_f1": float(f1_score(truth, predicted, average="macro", zero_division=0)),
        "micro_f1": float(f1_score(truth, predicted, average="micro", zero_division=0)),
        "exact": float((truth == predicted).all(axis=1).mean()),
        "ranking_loss": ranking,
    }


class MultiLabelClassifier(BaseEstimator):
    """Predict which of several labels each node has, by any method, one versus the rest.

    Parameters
    ----------
    estimator : NodeClassifier
        Cloned for each label, such as ``GrammeAuto(random_state=0)``.
    threshold : float, default=0.5
        The probability from which on a node is predicted to have a label.

    Attributes
    ----------
    classes_ : array
        The labels.
    models_ : dict
        The fitted method of each label; of a label that all known nodes have, or none, its share, 1.0 or 0.0.
    probabilities_ : array of float32, shape (nodes, labels)
    nodes_ : pandas.Index
    labelled_ : array of bool, shape (nodes,)

    Examples
    --------
    >>> from gramme import MembershipLayer
    >>> from gramme.methods import OneHotLogistic
    >>> codes = np.arange(40) % 4
    >>> g = MultilayerGraph({"club": MembershipLayer.from_codes(codes)})
    >>> y = [[["even"], [], ["even", "high"], ["high"]][c] if i < 20 else None for i, c in enumerate(codes)]
    >>> model = MultiLabelClassifier(OneHotLogistic(random_state=0)).fit(g, y)
    >>> model.predict()[20:24].astype(int).tolist()
    [[1, 0], [0, 0], [1, 1], [0, 1]]
    >>> model.predict_sets()[22]
    ('even', 'high')
    """

    def __init__(self, estimator: NodeClassifier, *, threshold: float = DEFAULT_THRESHOLD) -> None:
        self.estimator = estimator
        self.threshold = threshold

    def fit(
        self,
        graph: MultilayerGraph,
        y: Any = None,
        *,
        mask: str | None = None,
        sample_weight: Any = None,
        separator: str | None = None,
    ) -> Self:
        """Learn each label from the nodes whose labels are known.

        Parameters
        ----------
        graph : MultilayerGraph
        y : DataFrame, array, mapping or sequence, optional
            As for :func:`gramme.methods.multilabel.known_label_sets`: an indicator, or the labels of each node; None is
            unknown, empty is none.
        mask : str, optional
        sample_weight : sequence, mapping or Series, optional
            How much each node counts.
        separator : str, optional
            What stands between labels that are one text.
        """
        if not isinstance(self.estimator, NodeClassifier):
            raise DataError(f"estimator must be a method that predicts classes, not {type(self.estimator).__name__}")
        SHARE.check("threshold", self.threshold)
        label_sets = known_label_sets(checked_graph(graph), y, mask=mask, separator=separator)
        unlabelled_graph = graph.replace(labels=None)
        self.classes_, self.nodes_, self.graph_ = label_sets.labels, graph.nodes, unlabelled_graph
        self.labelled_ = np.isin(np.arange(graph.num_nodes), label_sets.nodes)
        self.models_: dict[Any, NodeClassifier | float] = {}
        for label_index, label in enumerate(label_sets.labels.tolist()):
            has_label = label_sets.indicator[:, label_index]
            if has_label.all() or not has_label.any():
                self.models_[label] = float(has_label[0])
                continue
            answers = np.full(graph.num_nodes, None, dtype=object)
            answers[label_sets.nodes] = has_label.tolist()
            with part(str(label), 1 / len(label_sets.labels)):
                self.models_[label] = clone(self.estimator).fit(unlabelled_graph, answers, sample_weight=sample_weight)
        self.probabilities_ = self._probabilities(None)
        return self

    def _probabilities(self, graph: MultilayerGraph | None) -> NDArray[np.float32]:
        node_count = len(self.nodes_) if graph is None else graph.num_nodes
        label_columns = [
            np.full(node_count, model, dtype=np.float32)
            if isinstance(model, float)
            else model.predict_proba(graph)[:, 1]
            for model in self.models_.values()
        ]
        return np.stack(label_columns, axis=1)

    def check_fitted(self) -> None:
        """Raise a ``NotFittedError`` unless it is fitted."""
        if not hasattr(self, "probabilities_"):
            raise NotFittedError("this MultiLabelClassifier is not fitted yet; call fit first")

    def predict_proba(self, graph: MultilayerGraph | None = None) -> NDArray[np.float32]:
        """The probability of each label, shape (nodes, labels); rows need not sum to 1."""
        self.check_fitted()
        if graph is None or graph is vars(self).get("graph_"):
            return self.probabilities_.copy()
        return self._probabilities(graph)

    def predict(self, graph: MultilayerGraph | None = None) -> Flags:
        """Which labels each node has: an indicator, shape (nodes, labels)."""
        likely: Flags = self.predict_proba(graph) >= self.threshold
        return likely

    def predict_sets(self, graph: MultilayerGraph | None = None) -> list[tuple[Any, ...]]:
        """The labels of each node."""
        names = np.array([*self.classes_.tolist(), None], dtype=object)[:-1]
        return [tuple(names[row]) for row in self.predict(graph)]

    def fit_predict(self, graph: MultilayerGraph, y: Any = None, **options: Any) -> Flags:
        """The indicator of all nodes, after a fit with the same arguments."""
        return self.fit(graph, y, **options).predict()

    def score(
        self, graph: MultilayerGraph | None = None, y: Any = None, *, metric: str = "micro_f1", mask: str | None = None
    ) -> float:
        """One of :func:`gramme.methods.multilabel.multilabel_scores` on labelled nodes, those learned from left out.

        Parameters
        ----------
        graph : MultilayerGraph, optional
        y : DataFrame, array, mapping or sequence, optional
            As for :meth:`fit`. Labels that were not learned about are left out.
        metric : {"micro_f1", "macro_f1", "exact", "ranking_loss"}
        mask : str, optional
        """
        self.check_fitted()
        target = vars(self).get("graph_") if graph is None else graph
        if target is None:
            raise DataError("a loaded model does not hold the graph it was fitted on; pass it")
        label_sets = known_label_sets(target, y, mask=mask)
        fitted = target is vars(self).get("graph_")
        kept_nodes = ~self.labelled_[label_sets.nodes] if fitted else np.ones(label_sets.nodes.size, dtype=bool)
        if not kept_nodes.any():
            raise DataError("all these nodes were learned from, which says nothing about the quality of predictions")
        truth = np.zeros((int(kept_nodes.sum()), len(self.classes_)), dtype=bool)
        column_of_label = {label: column for column, label in enumerate(label_sets.labels.tolist())}
        for column, label in enumerate(self.classes_.tolist()):
            if label in column_of_label:
                truth[:, column] = label_sets.indicator[kept_nodes, column_of_label[label]]
        scores = multilabel_scores(truth, self.predict_proba(graph)[label_sets.nodes[kept_nodes]], self.threshold)
        if metric not in scores:
            raise DataError(f"there is no metric {metric!r} for several labels; there are: {', '.join(scores)}")
        return scores[metric]

    def predict_set(
        self, graph: MultilayerGraph | None = None, *, coverage: float = 0.9, by_class: bool = False
    ) -> Flags:
        """Which answers are plausible for each label: that a node lacks it, that it has it, or both.

        The promise, as for :meth:`gramme.methods.NodeClassifier.predict_set`, is one for each label by itself: the true
        answer is among them with a probability of ``coverage``. Nothing is promised about all labels of a node at once.

        Returns
        -------
        array of bool, shape (nodes, labels, 2)
            Whether a node may lack each label, and whether it may have it.
        """
        self.check_fitted()
        node_count = len(self.nodes_) if graph is None else graph.num_nodes
        answers = np.zeros((node_count, len(self.classes_), 2), dtype=bool)
        for column, model in enumerate(self.models_.values()):
            if isinstance(model, float):
                answers[:, column, int(model)] = True
            else:
                answers[:, column] = model.predict_set(graph, coverage=coverage, by_class=by_class)
        return answers

    def predictions_frame(self, graph: MultilayerGraph | None = None) -> pd.DataFrame:
        """A row per node: ``predicted``, a tuple of labels, and ``probability_<label>`` for each label."""
        node_names = self.nodes_ if graph is None else graph.nodes
        shares = self.predict_proba(graph)
        frame_columns: dict[str, Any] = {
            "predicted": pd.Series(self.predict_sets(graph), index=node_names, dtype=object)
        }
        frame_columns |= {
            f"probability_{label}": shares[:, label_index] for label_index, label in enumerate(self.classes_.tolist())
        }
        return pd.DataFrame(frame_columns, index=node_names.rename("node"))

    def out_of_fold(self) -> tuple[NDArray[np.int64], Floats]:
        """Positions of labelled nodes, and the probability of each label by models that had not learned from the node.

        Mixtures have them already; for other methods the first call fits five further models for each label.
        """
        self.check_fitted()
        shares = np.full((len(self.nodes_), len(self.classes_)), np.nan)
        for label_index, model in enumerate(self.models_.values()):
            if isinstance(model, float):
                shares[self.labelled_, label_index] = model
            else:
                fold_predictions = model.out_of_fold()
                shares[fold_predictions.nodes, label_index] = fold_predictions.probabilities[:, 1]
        complete_nodes = np.flatnonzero(~np.isnan(shares).any(axis=1))
        return complete_nodes, shares[complete_nodes]

    # Saving

    def save(self, path: Any) -> None:
        """Write the fitted model to a safetensors file; :func:`gramme.load` reads it back."""
        self.check_fitted()
        record: dict[str, Any] = {
            "estimator": type(self.estimator).__name__,
            "classes": [to_json(label, "a label") for label in self.classes_.tolist()],
            "nodes": [plain_name(name) for name in self.nodes_],
            "labelled": np.flatnonzero(self.labelled_).tolist(),
            "models": [],
        }
        tensors: dict[str, Any] = {}
        for label_index, model in enumerate(self.models_.values()):
            learned_fields = Learned() if isinstance(model, float) else model._learned()
            tensors |= {
                f"{label_index}/{tensor_name}": tensor_value
                for tensor_name, tensor_value in learned_fields.tensors.items()
            }
            record["models"].append(model if isinstance(model, float) else learned_fields.record)
        parameters = {"threshold": self.threshold} | self.estimator.get_params()
        write_model(path, type(self).__name__, parameters, Learned(record, tensors))

    @classmethod
    def _restored(cls, kind: type[NodeClassifier], parameters: Mapping[str, Any], learned: Learned) -> Self:
        """A fitted model from what its file holds; ``kind`` is the class of its method."""
        record = learned.record
        settings = {
            setting_name: setting_value
            for setting_name, setting_value in parameters.items()
            if setting_name != "threshold"
        }
        model = cls(kind(**settings), threshold=SHARE.check("threshold", parameters["threshold"]))
        model.classes_ = natural_array(from_json(record["classes"]))
        model.nodes_ = loose_index(from_json(record["nodes"]))
        if len(record["models"]) != len(model.classes_):
            raise MisfitError("there must be a model for each label")
        model.labelled_ = np.isin(np.arange(len(model.nodes_)), record["labelled"])
        model.models_ = {}
        for label_index, (label, label_record) in enumerate(
            zip(model.classes_.tolist(), record["models"], strict=True)
        ):
            tensor_prefix = f"{label_index}/"
            tensors = {
                setting_name.removeprefix(tensor_prefix): tensor_value
                for setting_name, tensor_value in learned.tensors.items()
                if setting_name.startswith(tensor_prefix)
            }
            label_model = (
                float(label_record)
                if isinstance(label_record, float)
                else kind._restored(settings, Learned(label_record, tensors))
            )
            if isinstance(label_model, NodeClassifier) and list(label_model.nodes_) != list(model.nodes_):
                raise MisfitError("the models of two labels have other nodes")
            model.models_[label] = label_model
        model.probabilities_ = model._probabilities(None)
        return model


def compare_label_sets(
    graph: MultilayerGraph,
    methods: Mapping[str, NodeClassifier],
    y: Any = None,
    *,
    train: float = 20.0,
    repeats: int = 5,
    separator: str | None = None,
) -> pd.DataFrame:
    """Compare methods on nodes with several labels, on the same random splits.

    Parameters
    ----------
    graph : MultilayerGraph
    methods : mapping of name to NodeClassifier
        Each becomes the method of a :class:`MultiLabelClassifier`.
    y, separator
        As for :func:`known_label_sets`.
    train : float, default=20.0
        Percentage of the nodes with known labels that are learned from; all others are tested on.
    repeats : int, default=5
        Realisations; number r has the nodes that ``gramme benchmark`` would take in its realisation r.

    Returns
    -------
    DataFrame
        A row per method and realisation with the scores of :func:`multilabel_scores`.
    """
    label_sets = known_label_sets(graph, y, separator=separator)
    score_rows = []
    for realisation in range(repeats):
        order = np.random.default_rng(realisation).permutation(label_sets.nodes.size)
        count = max(2, round(label_sets.nodes.size * train / 100))
        training_labels = np.full(graph.num_nodes, None, dtype=object)
        for row in order[:count]:
            training_labels[label_sets.nodes[row]] = label_sets.labels[label_sets.indicator[row]].tolist()
        tested_rows = np.sort(order[count:])
        for name, estimator in methods.items():
            model = MultiLabelClassifier(clone(estimator)).fit(graph.replace(labels=None), training_labels)
            probabilities = np.zeros((tested_rows.size, len(label_sets.labels)))
            label_columns = pd.Index(label_sets.labels).get_indexer(model.classes_)
            probabilities[:, label_columns] = model.predict_proba()[label_sets.nodes[tested_rows]]
            scores = multilabel_scores(label_sets.indicator[tested_rows], probabilities)
            score_rows.append({"method": name, "realisation": realisation} | scores)
    return pd.DataFrame(score_rows)
