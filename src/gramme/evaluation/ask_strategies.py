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
    shuffled_pool = request.random.permutation(request.pool)
    label_codes = request.answer(shuffled_pool)
    turn_of_node = np.empty(shuffled_pool.size)
    for class_code in np.unique(label_codes):
        class_positions = np.flatnonzero(label_codes == class_code)
        turn_of_node[class_positions] = np.arange(class_positions.size) + request.random.random() * 0.5
    return shuffled_pool[np.argsort(turn_of_node, kind="stable")[: request.count]]


def _top(values: Floats, request: LabelRequest) -> Ints:
    tie_breakers = request.random.random(request.pool.size)
    return request.pool[np.lexsort((tie_breakers, -values[request.pool]))[: request.count]]


def _by_rank(measure: str) -> Callable[[LabelRequest], Ints]:
    return lambda request: _top(rank(request.graph, [measure])[measure].to_numpy(), request)


def _uncertain(request: LabelRequest, doubt: Callable[[Floats], Floats]) -> Ints:
    """Begin with a random label per class, then label as many as there are classes where the model doubts most."""
    num_random = min(request.classes, request.count)
    chosen_nodes = request.random.choice(request.pool, num_random, replace=False)
    while chosen_nodes.size < request.count:
        label_codes = request.answer(chosen_nodes)
        nodes_left = np.setdiff1d(request.pool, chosen_nodes)
        tie_breakers = request.random.random(nodes_left.size)
        if np.unique(label_codes).size > 1:
            known_codes = np.full(request.graph.num_nodes, -1)
            known_codes[chosen_nodes] = label_codes
            model = LabelPropagation(random_state=request.seed).fit(request.graph, known_codes.tolist())
            doubt_order = np.lexsort((tie_breakers, -doubt(model.predict_proba()[nodes_left])))
        else:
            doubt_order = np.argsort(tie_breakers)
        batch_size = min(request.classes, request.count - chosen_nodes.size)
        chosen_nodes = np.concatenate([chosen_nodes, nodes_left[doubt_order[:batch_size]]])
    return chosen_nodes


def _margin(probabilities: Floats) -> Floats:
    sorted_probabilities = np.sort(probabilities, axis=1)
    return np.asarray(sorted_probabilities[:, -2] - sorted_probabilities[:, -1])


def _entropy(probabilities: Floats) -> Floats:
    positive_probabilities = np.maximum(probabilities, 1e-12)
    return np.asarray(-(positive_probabilities * np.log(positive_probabilities)).sum(axis=1))


def mean_step(graph: MultilayerGraph) -> Floats:
    """The mean over the layers of D^(-1/2) A D^(-1/2), as a dense matrix."""
    if graph.num_nodes > MAX_DENSE_NODES:
        raise DataError(
            f"this choice needs a matrix of all pairs of {graph.num_nodes:,} nodes; it is run up to {MAX_DENSE_NODES:,}"
        )
    step_sum = np.zeros((graph.num_nodes, graph.num_nodes))
    for layer in graph.layers.values():
        adjacency = layer.to_scipy()
        if layer.directed:
            adjacency = sp.csr_array(adjacency + adjacency.T)
        degree = np.asarray(adjacency.sum(axis=1))
        inverse_roots = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1e-300)), 0.0)
        step_sum += adjacency.toarray() * inverse_roots[:, None] * inverse_roots[None]
    mean_matrix: Floats = step_sum / max(graph.num_layers, 1)
    return mean_matrix


def _optimal(request: LabelRequest, power: int) -> Ints:
    """Greedy experimental design on a Gaussian field: each label the one that lowers the risk most.

    With power 2 the risk is the sum of all variances (V-optimal), with 1 the variance of the mean (Sigma-optimal).
    """
    num_nodes = request.graph.num_nodes
    laplacian = (1 + REGULARISER) * np.eye(num_nodes) - mean_step(request.graph)
    covariance: Floats = np.linalg.inv(laplacian).astype(np.float64)
    chosen_nodes: list[int] = []
    nodes_left = request.pool
    for _ in range(request.count):
        variance = covariance[nodes_left, nodes_left] + NOISE
        expected_gain = (covariance[:, nodes_left] ** power).sum(axis=0) ** (2 // power) / variance
        best_node = int(nodes_left[int(expected_gain.argmax())])
        chosen_nodes.append(best_node)
        nodes_left = nodes_left[nodes_left != best_node]
        covariance_column = covariance[:, best_node].copy()
        covariance -= np.outer(covariance_column, covariance_column) / (covariance_column[best_node] + NOISE)
    return np.array(chosen_nodes, dtype=np.int64)


def _medoids(request: LabelRequest) -> Ints:
    """k-medoids of propagated features; of a graph without features, of the walk itself."""
    mean_matrix = mean_step(request.graph)
    features = request.graph.features
    feature_rows: Any = np.eye(mean_matrix.shape[0]) if features is None else features
    feature_rows = (
        feature_rows.toarray() if isinstance(feature_rows, sp.csr_array) else np.asarray(feature_rows, dtype=np.float64)
    )
    for _ in range(2):  # steps over which FeatProp propagates features
        feature_rows = mean_matrix @ feature_rows
    feature_rows = feature_rows[request.pool]
    medoids = request.random.choice(feature_rows.shape[0], request.count, replace=False)
    for _ in range(20):
        nearest_medoid, _ = to_nearest(feature_rows, feature_rows[medoids])
        new_medoids = medoids.copy()
        for medoid_number in range(request.count):
            cluster_nodes = np.flatnonzero(nearest_medoid == medoid_number)
            if cluster_nodes.size:
                # the member nearest to the mean has the least sum of squared distances to the others
                cluster_mean = feature_rows[cluster_nodes].mean(axis=0)
                new_medoids[medoid_number] = cluster_nodes[
                    int(((feature_rows[cluster_nodes] - cluster_mean) ** 2).sum(axis=1).argmin())
                ]
        if np.array_equal(new_medoids, medoids):
            break
        medoids = new_medoids
    return request.pool[medoids]


def _cover(request: LabelRequest, turns: int = 1) -> Ints:
    """In several turns, each knows the ones before: as when somebody asks again."""
    is_known = np.zeros(request.graph.num_nodes, dtype=bool)
    is_askable = is_known.copy()
    is_askable[request.pool] = True
    chosen_nodes = np.zeros(0, dtype=np.int64)
    for turn in range(turns):
        turn_size = -(-(request.count - chosen_nodes.size) // (turns - turn))
        if turn_size:
            turn_nodes = cover(request.graph, is_known, is_askable, turn_size, random_state=request.seed).nodes
            chosen_nodes = np.concatenate([chosen_nodes, turn_nodes])
            is_known[turn_nodes], is_askable[turn_nodes] = True, False
    return chosen_nodes


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
