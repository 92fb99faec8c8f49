"""Ways to choose which nodes to label: the one that gramme offers and those it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramme._types import Floats, Ints
from gramme.errors import DataError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.grouping import cover
from gramme.grouping.label_choice import to_nearest
from gramme.methods import LabelPropagation
from gramme.ranking import rank

MAX_DENSE_NODES = 6_000
"""Nodes up to which strategies that need a matrix of all pairs are run."""
REGULARISER, NOISE = 0.01, 1.0
"""Of the Gaussian field of V- and Sigma-optimality: what is added to the Laplacian, and the variance of a label."""
PROPAGATION_STEPS = 2
"""Steps over which FeatProp propagates features."""


@dataclass(frozen=True)
class LabelRequest:
    """What a strategy may see."""

    graph: MultilayerGraph  # without labels
    pool: Ints  # the nodes that can be asked
    count: int  # how many to choose
    classes: int  # strategies that go by a model begin with as many random labels
    answer: Callable[[Ints], Ints]
    """The classes of some nodes. Only those of chosen nodes may be asked for, except by ``balanced``, which says so."""
    random: np.random.Generator
    seed: int


@dataclass(frozen=True)
class AskStrategy:
    """A named way to choose nodes, with what it is in words."""

    name: str
    meaning: str
    choose: Callable[[LabelRequest], Ints]


def _random(request: LabelRequest) -> Ints:
    return request.random.choice(request.pool, request.count, replace=False)


def _balanced(request: LabelRequest) -> Ints:
    """Equally many of each class: a choice that nobody can make before the labels are known."""
    order = request.random.permutation(request.pool)
    codes = request.answer(order)
    turn = np.empty(order.size)
    for code in np.unique(codes):
        mine = np.flatnonzero(codes == code)
        turn[mine] = np.arange(mine.size) + request.random.random() * 0.5
    return order[np.argsort(turn, kind="stable")[: request.count]]


def _top(values: Floats, request: LabelRequest) -> Ints:
    lots = request.random.random(request.pool.size)
    return request.pool[np.lexsort((lots, -values[request.pool]))[: request.count]]


def _by_rank(measure: str) -> Callable[[LabelRequest], Ints]:
    return lambda request: _top(rank(request.graph, [measure])[measure].to_numpy(), request)


def _uncertain(request: LabelRequest, doubt: Callable[[Floats], Floats]) -> Ints:
    """Begin with a random label per class, then label as many as there are classes where the model doubts most."""
    first = min(request.classes, request.count)
    chosen = request.random.choice(request.pool, first, replace=False)
    while chosen.size < request.count:
        codes = request.answer(chosen)
        left = np.setdiff1d(request.pool, chosen)
        lots = request.random.random(left.size)
        if np.unique(codes).size > 1:
            known = np.full(request.graph.num_nodes, -1)
            known[chosen] = codes
            model = LabelPropagation(random_state=request.seed).fit(request.graph, known.tolist())
            order = np.lexsort((lots, -doubt(model.predict_proba()[left])))
        else:
            order = np.argsort(lots)
        take = min(request.classes, request.count - chosen.size)
        chosen = np.concatenate([chosen, left[order[:take]]])
    return chosen


def _margin(probabilities: Floats) -> Floats:
    best = np.sort(probabilities, axis=1)
    return np.asarray(best[:, -2] - best[:, -1])


def _entropy(probabilities: Floats) -> Floats:
    safe = np.maximum(probabilities, 1e-12)
    return np.asarray(-(safe * np.log(safe)).sum(axis=1))


def mean_step(graph: MultilayerGraph) -> Floats:
    """The mean over the layers of D^(-1/2) A D^(-1/2), as a dense matrix."""
    if graph.num_nodes > MAX_DENSE_NODES:
        raise DataError(
            f"this choice needs a matrix of all pairs of {graph.num_nodes:,} nodes; it is run up to {MAX_DENSE_NODES:,}"
        )
    total = np.zeros((graph.num_nodes, graph.num_nodes))
    for layer in graph.layers.values():
        adjacency = layer.to_scipy()
        if layer.directed:
            adjacency = sp.csr_array(adjacency + adjacency.T)
        degree = np.asarray(adjacency.sum(axis=1))
        scale = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1e-300)), 0.0)
        total += adjacency.toarray() * scale[:, None] * scale[None]
    found: Floats = total / max(graph.num_layers, 1)
    return found


def _optimal(request: LabelRequest, power: int) -> Ints:
    """Greedy experimental design on a Gaussian field: each label the one that lowers the risk most.

    With power 2 the risk is the sum of all variances (V-optimal), with 1 the variance of the mean (Sigma-optimal).
    """
    count = request.graph.num_nodes
    laplacian = (1 + REGULARISER) * np.eye(count) - mean_step(request.graph)
    covariance: Floats = np.linalg.inv(laplacian).astype(np.float64)
    chosen: list[int] = []
    left = request.pool
    for _ in range(request.count):
        variance = covariance[left, left] + NOISE
        gain = (covariance[:, left] ** power).sum(axis=0) ** (2 // power) / variance
        best = int(left[int(gain.argmax())])
        chosen.append(best)
        left = left[left != best]
        column = covariance[:, best].copy()
        covariance -= np.outer(column, column) / (column[best] + NOISE)
    return np.array(chosen, dtype=np.int64)


def _medoids(request: LabelRequest) -> Ints:
    """k-medoids of propagated features; of a graph without features, of the walk itself."""
    step = mean_step(request.graph)
    features = request.graph.features
    rows: Any = np.eye(step.shape[0]) if features is None else features
    rows = rows.toarray() if isinstance(rows, sp.csr_array) else np.asarray(rows, dtype=np.float64)
    for _ in range(PROPAGATION_STEPS):
        rows = step @ rows
    rows = rows[request.pool]
    medoids = request.random.choice(rows.shape[0], request.count, replace=False)
    for _ in range(20):
        nearest, _ = to_nearest(rows, rows[medoids])
        after = medoids.copy()
        for place in range(request.count):
            mine = np.flatnonzero(nearest == place)
            if mine.size:
                # the member nearest to the mean has the least sum of squared distances to the others
                middle = rows[mine].mean(axis=0)
                after[place] = mine[int(((rows[mine] - middle) ** 2).sum(axis=1).argmin())]
        if np.array_equal(after, medoids):
            break
        medoids = after
    return request.pool[medoids]


def _cover(request: LabelRequest, turns: int = 1) -> Ints:
    """In several turns, each knows the ones before: as when somebody asks again."""
    known = np.zeros(request.graph.num_nodes, dtype=bool)
    askable = known.copy()
    askable[request.pool] = True
    chosen = np.zeros(0, dtype=np.int64)
    for turn in range(turns):
        count = -(-(request.count - chosen.size) // (turns - turn))
        if count:
            some = cover(request.graph, known, askable, count, random_state=request.seed).nodes
            chosen = np.concatenate([chosen, some])
            known[some], askable[some] = True, False
    return chosen


ASK_STRATEGIES: Mapping[str, AskStrategy] = MappingProxyType(
    {
        one.name: one
        for one in (
            AskStrategy("cover", "gramme.ask: k-means on eigenvectors of weighted layers", _cover),
            AskStrategy("cover-in-turns", "gramme.ask twice, half of the nodes each time", partial(_cover, turns=2)),
            AskStrategy("random", "a choice at random", _random),
            AskStrategy("balanced", "equally many of each class at random; needs the labels", _balanced),
            AskStrategy("degree", "the nodes with most ties", _by_rank("degree")),
            AskStrategy("pagerank", "the highest PageRank over all layers", _by_rank("pagerank")),
            AskStrategy("margin", "where propagation wavers between two classes", partial(_uncertain, doubt=_margin)),
            AskStrategy("entropy", "where propagation is least sure", partial(_uncertain, doubt=_entropy)),
            AskStrategy("v-optimal", "least sum of variances of a Gaussian field", partial(_optimal, power=2)),
            AskStrategy("sigma-optimal", "least variance of the mean of a Gaussian field", partial(_optimal, power=1)),
            AskStrategy("k-medoids", "FeatProp: k-medoids of propagated features", _medoids),
        )
    }
)


def ask_strategy(name: str) -> AskStrategy:
    """A strategy by name; an unknown one is an error that suggests the nearest."""
    if name not in ASK_STRATEGIES:
        raise DataError(f"there is no way {name!r} to ask; {did_you_mean(name, ASK_STRATEGIES)}")
    return ASK_STRATEGIES[name]
