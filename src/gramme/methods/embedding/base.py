"""What the embedding baselines share: an embedding that sees no labels, then logistic regression on the known ones.

The embedding depends on the graph, the settings and the seed only, so it is kept on disk and serves every split and
training percentage (:mod:`gramme.methods.embedding.base`). A method with several candidate settings chooses among
them by cross-validation on the training labels.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import time
import zipfile
import zlib
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from gramme.datasets.files import cache_folder
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import checksum
from gramme.io.atomic import write_files
from gramme.methods.base import GraphEstimator, NodeClassifier
from gramme.methods.labels import KnownLabels, stratified_folds
from gramme.methods.linear.logistic import class_shares, fitted_regression
from gramme.methods.params import PositiveFloat, RandomSeed, WholeNumber
from gramme.methods.persistence import Learned, SavedArray, SavedField, SavedValue, Sizes
from gramme.methods.prepare import refuse_many_layers

# Embeddings on disk: they see no labels, so one serves every split of a graph.


MAX_CACHE_BYTES = 2 << 30  # bytes of all entries together
CACHE_VERSION = 1  # raise it when the same settings come to mean another embedding

Embedding = NDArray[np.float32]
_DAMAGE = (OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError)


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
    graph: MultilayerGraph,
    settings: Mapping[str, Any],
    compute: Callable[[], Embedding],
    *,
    limit: int = MAX_CACHE_BYTES,
) -> Kept:
    """The embedding from the cache, or computed and kept, with what it cost.

    Parameters
    ----------
    graph : MultilayerGraph
    settings : mapping
        All that decides the embedding beside the graph, the seed included, as JSON can hold it.
    compute : callable
        Makes the embedding, shape (nodes, columns).
    limit : int
        Bytes that all entries together may take.
    """
    path = folder() / f"{_key(graph, settings)}.npz"
    found = _read(path, graph.num_nodes)
    if found is not None:
        with contextlib.suppress(OSError):
            os.utime(path)  # used just now
        return found
    cpu, wall = time.process_time(), time.perf_counter()
    embedding = np.ascontiguousarray(compute(), dtype=np.float32)
    made = Kept(embedding, time.process_time() - cpu, time.perf_counter() - wall, fresh=True)
    if embedding.nbytes <= limit:
        _write(path, made, settings)
        _make_room(path.parent, limit)
    return made


def _key(graph: MultilayerGraph, settings: Mapping[str, Any]) -> str:
    told = json.dumps({"version": CACHE_VERSION, "graph": checksum(graph)} | dict(settings), sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def _read(path: Path, nodes: int) -> Kept | None:
    try:
        with np.load(path, allow_pickle=False) as file:
            embedding = file["embedding"]
            cpu, wall = file["seconds"].astype(np.float64).tolist()
    except (*_DAMAGE, TypeError, zipfile.BadZipFile, zlib.error, struct.error):
        return None
    whole = embedding.dtype == np.float32 and embedding.ndim == 2 and len(embedding) == nodes
    if not whole or not bool(np.isfinite(embedding).all()):
        return None
    return Kept(embedding, cpu, wall, fresh=False)


def _write(path: Path, made: Kept, settings: Mapping[str, Any]) -> None:
    """Keep an embedding; a folder that cannot be written costs time later, nothing else."""
    seconds = np.array([made.cpu_seconds, made.wall_seconds])
    about = np.frombuffer(json.dumps(dict(settings), sort_keys=True).encode(), dtype=np.uint8)

    def fill(file: BinaryIO) -> None:
        np.savez(file, embedding=made.embedding, seconds=seconds, settings=about)

    with contextlib.suppress(OSError, DataError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_files({path: fill})


def _make_room(place: Path, limit: int) -> None:
    entries: list[tuple[float, int, Path]] = []
    for path in place.glob("*.npz"):
        with contextlib.suppress(OSError):  # another process may be making room too
            known = path.stat()
            entries.append((known.st_mtime, known.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size


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
        inputs = [self._inputs(embedding) for embedding in embeddings]
        best = _best(inputs, known, self.C, seed)
        self.embedding_ = self._in_given_order(embeddings[best])
        self.settings_ = candidates[best]
        everyone = np.arange(graph.num_nodes)
        return _predicted(inputs[best], known, everyone, self.C)

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
    inputs: NDArray[np.float64], known: KnownLabels, wanted: NDArray[np.int64], C: float
) -> NDArray[np.float64]:
    """Class probabilities of the wanted nodes by logistic regression on the given ones; a class not given gets 0."""
    probabilities = np.zeros((wanted.size, len(known.classes)))
    found = np.unique(known.codes)
    if found.size == 1:
        probabilities[:, found] = 1.0
        return probabilities
    learned = fitted_regression(inputs[known.nodes], known.codes, C, MAX_ITERATIONS, weights=known.sample_weight)
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
            inside, outside = known.part(folds != fold), known.part(folds == fold)
            if inside.nodes.size:
                guess = _predicted(values, inside, outside.nodes, C)
                right[place] += outside.weights @ (guess.argmax(axis=1) == outside.codes)
    return int(right.argmax())
