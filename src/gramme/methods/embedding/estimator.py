"""What the embedding baselines share: an embedding that sees no labels, then logistic regression on the known ones.

The embedding depends on the graph, the settings and the seed only, so it is kept on disk and serves every split and
training percentage (:mod:`gramme.methods.embedding.cache`). A method with several candidate settings chooses among
them by cross-validation on the training labels.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from gramme.graph import MultilayerGraph
from gramme.methods.base import NodeClassifier
from gramme.methods.embedding.cache import Embedding, cached
from gramme.methods.folds import stratified_folds
from gramme.methods.graph_estimator import GraphEstimator
from gramme.methods.labels import KnownLabels
from gramme.methods.linear.logistic import class_shares, fitted_regression
from gramme.methods.parameters import POSITIVE, Flag, RandomState, Rule, WholeNumber
from gramme.methods.saved_fields import SavedArray, SavedField, SavedValue, Sizes
from gramme.methods.saving import Learned
from gramme.methods.seen_graph import refuse_many_layers

Settings = dict[str, Any]
FOLDS = 5
MAX_ITERATIONS = 2000  # of the regression


class SavedSettings(SavedField):
    """The settings of an embedding, as JSON."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = json.dumps(getattr(model, self.attribute))

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        try:
            settings = json.loads(entry)
        except (TypeError, ValueError) as error:
            raise self.misfit("JSON", entry) from error
        if not isinstance(settings, dict):
            raise self.misfit("a mapping", entry)
        setattr(model, self.attribute, settings)


class EmbeddingModel(NodeClassifier):
    """Base of the methods that embed and then classify.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the logistic regression's penalty, as in scikit-learn.
    standardise : bool, default=True
        Give every column of the embedding mean 0 and variance 1 over all nodes before the regression.
    cache : bool, default=True
        Keep the embedding on disk and use one that is there. Only with a number as ``random_state``.
    random_state : int, numpy generator or None, default=None
        The same number gives the same bits on the same machine.

    Attributes
    ----------
    embedding_ : array of float32, shape (nodes, columns)
        Zero for a node without a neighbour in any layer.
    settings_ : dict
        The settings of the embedding, chosen ones included.
    saved_seconds_ : pair of float
        CPU and wall seconds that embeddings found in the cache had cost when they were made: what this fit was spared.
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "C": POSITIVE,
        "standardise": Flag(),
        "cache": Flag(),
        "random_state": RandomState(),
    }
    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedSettings("settings"),
        SavedValue("seed", WholeNumber(0)),
        SavedArray("embedding", np.float32, ("nodes", "embedding columns")),
    )

    embedding_: Embedding
    seed_: int
    settings_: Settings
    saved_seconds_: tuple[float, float]

    def __init__(self, *, C: float, standardise: bool, cache: bool, random_state: Any) -> None:
        self.C = C
        self.standardise = standardise
        self.cache = cache
        self.random_state = random_state

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        refuse_many_layers(graph, type(self).__name__)

    @abstractmethod
    def _candidates(self) -> list[Settings]:
        """Settings to choose from, each all that decides an embedding, as JSON can hold it."""

    @abstractmethod
    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        """The embedding of a graph's nodes, shape (nodes, columns)."""

    def _fit(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int
    ) -> NDArray[np.floating[Any]]:
        candidates = self._candidates()
        self.seed_, self.saved_seconds_ = seed, (0.0, 0.0)
        embeddings = [self._embedding(graph, settings) for settings in candidates]
        inputs = [self._inputs(embedding) for embedding in embeddings]
        best = _best(inputs, known, self.C, seed)
        self.embedding_ = self._in_given_order(embeddings[best])
        self.settings_ = candidates[best]
        everyone = np.arange(graph.num_nodes)
        return _predicted(
            inputs[best], known.nodes, known.codes, everyone, len(known.classes), self.C
        )

    def _embedding(self, graph: MultilayerGraph, settings: Settings) -> Embedding:
        def compute() -> Embedding:
            return self._embed(graph, settings, self.seed_)

        if not self.cache or not isinstance(self.random_state, (int, np.integer)):
            return compute()
        kept = cached(graph, settings | {"seed": self.seed_}, compute)
        if not kept.fresh:
            cpu, wall = self.saved_seconds_
            self.saved_seconds_ = (cpu + kept.cpu_seconds, wall + kept.wall_seconds)
        return kept.embedding

    def _inputs(self, embedding: Embedding) -> NDArray[np.float64]:
        """What the regression sees; labels play no part in it."""
        values = embedding.astype(np.float64)
        return StandardScaler().fit_transform(values) if self.standardise else values


def layer_mean(vectors: Sequence[Embedding]) -> Embedding:
    """The mean of a node's vectors over the layers where it has one; zero where it has none.

    A node that is absent from a layer, or alone in it, has the vector zero there, which says nothing about it.
    """
    total = np.sum(vectors, axis=0, dtype=np.float64)
    placed = np.sum([np.any(one != 0, axis=1) for one in vectors], axis=0)
    mean: Embedding = (total / np.maximum(placed, 1)[:, None]).astype(np.float32)
    return mean


def _predicted(
    inputs: NDArray[np.float64],
    nodes: NDArray[np.int64],
    codes: NDArray[np.int64],
    wanted: NDArray[np.int64],
    classes: int,
    C: float,
) -> NDArray[np.float64]:
    """Class probabilities of the wanted nodes by logistic regression on the given ones; a class not given gets 0."""
    probabilities = np.zeros((wanted.size, classes))
    found = np.unique(codes)
    if found.size == 1:
        probabilities[:, found] = 1.0
        return probabilities
    learned = fitted_regression(inputs[nodes], codes, C, MAX_ITERATIONS)
    probabilities[:, found] = class_shares(inputs[wanted], *learned)
    return probabilities


def _best(inputs: Sequence[NDArray[np.float64]], known: KnownLabels, C: float, seed: int) -> int:
    """The place of the inputs that do best in cross-validation on the known labels; the first among equals."""
    if len(inputs) == 1:
        return 0
    folds = stratified_folds(known.codes, FOLDS, seed)
    right = np.zeros(len(inputs))
    for place, values in enumerate(inputs):
        for fold in range(int(folds.max()) + 1):
            inside, outside = known.nodes[folds != fold], known.nodes[folds == fold]
            if not inside.size:
                continue
            codes = known.codes[folds != fold]
            guess = _predicted(values, inside, codes, outside, len(known.classes), C)
            right[place] += (guess.argmax(axis=1) == known.codes[folds == fold]).sum()
    return int(right.argmax())
