"""What the embedding baselines share: an embedding that sees no labels, then logistic regression on the known ones.

The embedding depends on the graph, the settings and the seed only, so it is kept on disk and serves every split and
training percentage. A method with several candidate settings chooses among
them by cross-validation on the training labels.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from gramme.datasets.files import cache_folder
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import checksum
from gramme.io.atomic import write_files
from gramme.methods.base import NodeClassifier
from gramme.methods.labels import KnownLabels, stratified_folds
from gramme.methods.linear.logistic import class_shares, fitted_regression
from gramme.methods.params import PositiveFloat, RandomSeed, WholeNumber
from gramme.methods.persistence import Learned, SavedArray, SavedField, SavedValue, Sizes
from gramme.methods.prepare import refuse_many_layers

Embedding = NDArray[np.float32]
Settings = dict[str, Any]


# Embeddings on disk: they see no labels, so one serves every split of a graph.


class Kept(NamedTuple):
    """An embedding, the CPU and wall seconds it cost when it was made, and whether that was just now."""

    embedding: Embedding
    cpu_seconds: float
    wall_seconds: float
    fresh: bool


def folder() -> Path:
    """Where the entries are."""
    return cache_folder() / "embeddings"


def cached(
    graph: MultilayerGraph, settings: Settings, compute: Callable[[], Embedding], *, limit: int = 2 << 30
) -> Kept:
    """The embedding from the cache, or computed and kept, with what it cost.

    ``settings`` are all that decides it beside the graph, the seed included, as JSON can hold it; ``limit`` is how many
    bytes all entries together may take: those not used for longest go first.
    """
    entry_text = json.dumps({"version": 1, "graph": checksum(graph)} | settings, sort_keys=True)
    entry_path = folder() / f"{hashlib.sha256(entry_text.encode()).hexdigest()}.npz"
    with contextlib.suppress(Exception):  # whatever a damaged entry sets off, the embedding is made anew
        with np.load(entry_path, allow_pickle=False) as file:
            embedding = file["embedding"]
            cpu_seconds, wall_seconds = file["seconds"].astype(np.float64).tolist()
        is_fitting = embedding.dtype == np.float32 and embedding.ndim == 2 and len(embedding) == graph.num_nodes
        if is_fitting and np.isfinite(embedding).all():
            with contextlib.suppress(OSError):
                os.utime(entry_path)  # used just now
            return Kept(embedding, cpu_seconds, wall_seconds, fresh=False)
    cpu_start, wall_start = time.process_time(), time.perf_counter()
    embedding = np.ascontiguousarray(compute(), dtype=np.float32)
    made_entry = Kept(embedding, time.process_time() - cpu_start, time.perf_counter() - wall_start, fresh=True)
    if embedding.nbytes <= limit:
        with contextlib.suppress(OSError, DataError):  # what cannot be written costs time later, nothing else
            entry_path.parent.mkdir(parents=True, exist_ok=True)
            write_files(
                {entry_path: lambda file: np.savez(file, embedding=embedding, seconds=np.array(made_entry[1:3]))}
            )
            _make_room(entry_path.parent, limit)
    return made_entry


def _make_room(place: Path, limit: int) -> None:
    entries = [(path.stat().st_mtime, path.stat().st_size, path) for path in place.glob("*.npz")]
    kept_bytes = 0
    for _, size, path in sorted(entries, reverse=True):
        kept_bytes += size
        if kept_bytes > limit:
            path.unlink(missing_ok=True)  # another process may be making room too


class SavedSettings(SavedField):
    """The settings of an embedding, as JSON."""

    def save(self, model: Any, learned: Learned) -> None:
        learned.record[self.name] = json.dumps(model.settings_)

    def load(self, model: Any, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        try:
            model.settings_ = dict(json.loads(entry))
        except (TypeError, ValueError) as error:
            raise self.misfit("a mapping as JSON", entry) from error


@dataclass(kw_only=True, eq=False, repr=False)
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

    C: PositiveFloat = 1.0
    standardise: bool = True
    cache: bool = True
    random_state: RandomSeed = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedSettings("settings"),
        SavedValue("seed", WholeNumber(0)),
        SavedArray("embedding", np.float32, ("nodes", "embedding columns")),
    )

    embedding_: Embedding = field(init=False)
    seed_: int = field(init=False)
    settings_: Settings = field(init=False)
    saved_seconds_: tuple[float, float] = field(init=False)

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        refuse_many_layers(graph, type(self).__name__)

    @abstractmethod
    def _candidates(self) -> list[Settings]:
        """Settings to choose from, each all that decides an embedding, as JSON can hold it."""

    @abstractmethod
    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        """The embedding of a graph's nodes, shape (nodes, columns)."""

    def _fit(self, graph: MultilayerGraph, known: KnownLabels, seed: int) -> NDArray[np.floating[Any]]:
        candidates = self._candidates()
        self.seed_, self.saved_seconds_ = seed, (0.0, 0.0)
        embeddings = [self._embedding(graph, settings) for settings in candidates]
        regression_inputs = [self._inputs(embedding) for embedding in embeddings]
        best_candidate = _best(regression_inputs, known, self.C, seed)
        self.embedding_ = self._in_given_order(embeddings[best_candidate])
        self.settings_ = candidates[best_candidate]
        all_nodes = np.arange(graph.num_nodes)
        return _predicted(regression_inputs[best_candidate], known, all_nodes, self.C)

    def _embedding(self, graph: MultilayerGraph, settings: Settings) -> Embedding:
        def compute() -> Embedding:
            return self._embed(graph, settings, self.seed_)

        if not self.cache or not isinstance(self.random_state, (int, np.integer)):
            return compute()
        cache_entry = cached(graph, settings | {"seed": self.seed_}, compute)
        if not cache_entry.fresh:
            saved_cpu, saved_wall = self.saved_seconds_
            self.saved_seconds_ = (saved_cpu + cache_entry.cpu_seconds, saved_wall + cache_entry.wall_seconds)
        return cache_entry.embedding

    def _inputs(self, embedding: Embedding) -> NDArray[np.float64]:
        """What the regression sees; labels play no part in it."""
        values = embedding.astype(np.float64)
        return StandardScaler().fit_transform(values) if self.standardise else values


def layer_mean(vectors: Sequence[Embedding]) -> Embedding:
    """The mean of a node's vectors over the layers where it has one; zero where it has none.

    A node that is absent from a layer, or alone in it, has the vector zero there, which says nothing about it.
    """
    vector_sums = np.sum(vectors, axis=0, dtype=np.float64)
    layer_counts = np.sum([np.any(layer_vectors != 0, axis=1) for layer_vectors in vectors], axis=0)
    mean_vectors: Embedding = (vector_sums / np.maximum(layer_counts, 1)[:, None]).astype(np.float32)
    return mean_vectors


def _predicted(
    inputs: NDArray[np.float64], known: KnownLabels, wanted: NDArray[np.int64], C: float
) -> NDArray[np.float64]:
    """Class probabilities of the wanted nodes by logistic regression on the given ones; a class not given gets 0."""
    probabilities = np.zeros((wanted.size, len(known.classes)))
    known_codes = np.unique(known.codes)
    if known_codes.size == 1:
        probabilities[:, known_codes] = 1.0
        return probabilities
    fitted_coefficients = fitted_regression(inputs[known.nodes], known.codes, C, 2000, weights=known.sample_weight)
    probabilities[:, known_codes] = class_shares(inputs[wanted], *fitted_coefficients)
    return probabilities


def _best(inputs: Sequence[NDArray[np.float64]], known: KnownLabels, C: float, seed: int) -> int:
    """The place of the inputs that do best in cross-validation on the known labels; the first among equals."""
    if len(inputs) == 1:
        return 0
    fold_of_label = stratified_folds(known.codes, 5, seed)
    correct_weights = np.zeros(len(inputs))
    for candidate_number, candidate_inputs in enumerate(inputs):
        for fold_number in range(int(fold_of_label.max()) + 1):
            is_held_out = fold_of_label == fold_number
            training_labels, held_out_labels = known.part(~is_held_out), known.part(is_held_out)
            if training_labels.nodes.size:
                fold_probabilities = _predicted(candidate_inputs, training_labels, held_out_labels.nodes, C)
                correct_weights[candidate_number] += held_out_labels.weights @ (
                    fold_probabilities.argmax(axis=1) == held_out_labels.codes
                )
    return int(correct_weights.argmax())
