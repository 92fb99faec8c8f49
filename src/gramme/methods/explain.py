"""Why a node is predicted as it is: its log-odds by ingredient, and by the neighbours and groups they came through.

For a node let c be the class it is predicted to have and d the runner-up. A mixture pools the probabilities of its
ingredients as a geometric mean, so its log-odds are a sum,

    log p(c) / p(d)  =  sum over ingredients i of  t w_i log p_i(c) / p_i(d),

with the weights w and the exponent t. What an ingredient adds is taken apart further where that is a sum as well:

- a linear model of groups and neighbours adds a coefficient for each of them;
- label propagation averages what neighbours say: F_i = sum over j of m_ij, and by the logarithmic mean L,
  log F_i(c) / F_i(d) = sum over j of (m_ij(c) - m_ij(d)) / L(F_i(c), F_i(d)), exactly;
- the spectral model adds up, for each neighbour and group, the product of its vector with the node's coefficients;
- the model of features in the surroundings adds up a mean over neighbours, given its length; where its predictions are
  smoothed, they are taken apart as those of label propagation;
- the model of neighbours' labels adds up, in its last round, what each neighbour's label says, in the same way;
- boosted trees add, for each layer, the steps that they take on its columns, shared alike by a node's groups;
- attention, given how much everybody is heard, adds up what neighbours say (:mod:`gramme.methods.attention.explain`).

What is left, mostly how frequent the classes are and what a node knows by itself, is the difference to the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gramme._types import Floats
from gramme.graph import MultilayerGraph
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.auto.gramme_auto import GrammeAuto
from gramme.methods.auto.mixture import mixed_with_prior
from gramme.methods.boosting.table_boosting import TableBoosting, TreesOnTable
from gramme.methods.linear.label_shares import LabelShares
from gramme.methods.linear.neighbourhood_logistic import NeighbourhoodLogistic
from gramme.methods.linear.one_hot_logistic import OneHotLogistic
from gramme.methods.linear.spectral_logistic import SpectralLogistic
from gramme.methods.propagation.label_propagation import LabelPropagation
from gramme.methods.regression.ingredients import GroupsRidge, WalksRidge

from .base import GraphEstimator, NodeClassifier
from .contributions import Pair, Through, hearings, kind_of, logarithmic_mean
from .labels import class_prior
from .prepare import with_layers_of_fit

# What a prediction for a node of another graph is based on: neighbours, groups or features that the model knows.
NEIGHBOURS, GROUPS, FEATURES, NOTHING = "neighbours", "groups", "features", "nothing"

Flags = NDArray[np.bool_]


def prediction_basis(model: GraphEstimator, graph: MultilayerGraph) -> NDArray[np.object_]:
    """What the prediction for each node of a graph is based on: the first of these that applies.

    ``"neighbours"``: it is a node of the fit, or edges lead to one over any number of steps. ``"groups"``: it is in a
    group that the model learned about, or that leads to a node of the fit. ``"features"``: it has features and the
    model reads them. ``"nothing"``: none of these.

    ``model``: A fitted model; ``graph``: With the layers of the fit; its nodes may be others.
    """
    graph = model._seen(graph).select_layers(model.layers_)
    met = np.asarray(graph.nodes.isin(model.nodes_), dtype=bool)
    basis = np.full(graph.num_nodes, NOTHING, dtype=object)
    if (graph.features is not None or graph.layer_features) and any(map(_reads_features, _parts(model))):
        basis[:] = FEATURES
    basis[_in_known_group(model, graph) | _reaching(graph, met, groups=True)] = GROUPS
    basis[_reaching(graph, met, groups=False)] = NEIGHBOURS
    return basis


def _parts(model: GraphEstimator) -> Iterator[GraphEstimator]:
    """The model and, of a mixture, its ingredients."""
    yield model
    for inner in getattr(model, "models_", {}).values():
        yield from _parts(inner)


def _reads_features(model: GraphEstimator) -> bool:
    if isinstance(model, OneHotLogistic):
        return bool(model.scale_.size)
    if isinstance(model, GroupsRidge):
        return bool(model.feature_scale_.size)
    if isinstance(model, TreesOnTable):
        return bool(model.statistics_.numbers)
    source = getattr(model, "source_", "")  # of attention: one kind of features, or several joined by +
    return isinstance(model, NeighbourhoodLogistic) or "given" in source or source == "both"


def _in_known_group(model: GraphEstimator, graph: MultilayerGraph) -> Flags:
    """Nodes in a group whose name a linear model has learned something about."""
    found = np.zeros(graph.num_nodes, dtype=bool)
    for part in _parts(model):
        columns: list[Any] = []
        if isinstance(part, (OneHotLogistic, GroupsRidge)):
            columns = list(part.columns_)
        elif isinstance(part, TreesOnTable):
            columns = list(part.statistics_.layers)
        elif isinstance(part, (SpectralLogistic, WalksRidge)):
            columns = [group.columns for group in part.profile_.groups.values()]
        for one in columns:
            layer = graph.layers[one.layer]
            inside, names = layer.columns(graph.nodes)
            if layer.made_of == "groups":
                found |= (inside @ np.asarray(names.isin(one.names), dtype=float)) > 0
    return found


def _reaching(graph: MultilayerGraph, met: Flags, *, groups: bool) -> Flags:
    """Nodes that were met, or from which edges, and perhaps groups, lead to one."""
    blocks = [sp.csr_array((graph.num_nodes, graph.num_nodes))]
    members = []
    for layer in graph.layers.values():
        incidence = layer.incidence()
        if incidence is not None:
            members.append(incidence)
        else:
            blocks.append(layer.to_scipy())
    joined: Any = sum(blocks[1:], start=blocks[0])
    if groups and members:  # a group is a place that leads from each member to all others
        side = sp.hstack(members, format="csr")
        joined = sp.block_array([[joined, side], [side.T, None]], format="csr")
    _, part = connected_components(joined, directed=False)
    part = part[: graph.num_nodes]
    reached: Flags = np.bincount(part, weights=met, minlength=1)[part] > 0
    return reached


CLASS_WEIGHTS = "rare classes counted like frequent ones"


@dataclass(frozen=True)
class Part:
    """What one ingredient adds to the log-odds of each row, and the neighbours and groups it came through."""

    name: str
    weight: float
    log_odds: Floats
    through: list[Through] = field(default_factory=list)


@dataclass(frozen=True)
class Reasons:
    """Why some nodes are predicted as they are.

    ``rows``: Positions of the nodes; ``predicted``, ``against``: The predicted class of each and the runner-up, as
    positions among the model's classes; ``parts``: Their log-odds add up to :attr:`log_odds`.
    """

    rows: NDArray[np.int64]
    predicted: NDArray[np.int64]
    against: NDArray[np.int64]
    parts: list[Part]

    @property
    def log_odds(self) -> Floats:
        """The logarithm of the predicted class's probability divided by the runner-up's."""
        total: Floats = np.sum([part.log_odds for part in self.parts], axis=0)
        return total


def reasons(model: NodeClassifier, graph: MultilayerGraph, rows: NDArray[np.int64] | None = None) -> Reasons:
    """Why a model predicts some nodes of the graph it was fitted on as it does.

    ``model``: Fitted on ``graph``; ``rows``: Positions of nodes; all if not given.

    Examples
    --------
    >>> from gramme import datasets
    >>> from gramme.methods import LabelPropagation
    >>> g = datasets.load("balance_scale")
    >>> model = LabelPropagation(random_state=0).fit(g)
    >>> found = reasons(model, g, np.arange(3))
    >>> p = np.sort(model.predict_proba()[:3].astype(float), axis=1)
    >>> bool(np.allclose(found.log_odds, np.log(p[:, -1] / p[:, -2]), atol=1e-4))
    True
    """
    chosen = np.arange(graph.num_nodes) if rows is None else rows
    shares = model.predict_proba()[chosen].astype(np.float64)
    order = np.argsort(-shares, axis=1, kind="stable")
    pair = Pair(chosen, order[:, 0], order[:, 1])
    if isinstance(model, GrammeAuto):
        parts = list(_mixture_parts(model, graph, pair))
        if hasattr(model, "class_weights_"):
            weights = np.log(model.class_weights_)
            parts.append(Part(CLASS_WEIGHTS, 0.0, weights[pair.first] - weights[pair.second]))
        return Reasons(chosen, pair.first, pair.second, parts)
    whole = pair.log_odds(shares)
    part = Part(type(model).__name__, 1.0, whole, _through(model, graph, pair, np.ones(len(whole))))
    return Reasons(chosen, pair.first, pair.second, [part])


def _mixture_parts(model: GrammeAuto, graph: MultilayerGraph, pair: Pair) -> Iterator[Part]:
    prior = class_prior(model.class_counts_)
    weights = dict(zip(model.ingredients_["ingredient"], model.ingredients_["weight"], strict=True))
    for name, inner in model.models_.items():
        shares = inner.predict_proba()[pair.rows].astype(np.float64)
        power = model.exponent_ * float(weights[name])
        mixed = pair.log_odds(mixed_with_prior(shares, prior))
        alone = pair.log_odds(shares)
        # a little doubt is mixed into what an ingredient says, which takes the edge off all that it rests on
        kept = np.divide(mixed, alone, out=np.ones_like(mixed), where=np.abs(alone) > 1e-9)
        scale = power * np.clip(kept, 0, 1)
        yield Part(name, float(weights[name]), power * mixed, _through(inner, graph, pair, scale))


def _through(model: NodeClassifier, graph: MultilayerGraph, pair: Pair, scale: Floats) -> list[Through]:
    """The log-odds of one method by neighbours and groups, each row times a factor."""
    places = {name: place for place, name in enumerate(graph.layers)}
    graph = with_layers_of_fit(graph, model.layer_order_)
    taken_apart = next((way for kind, way in _WAYS.items() if isinstance(model, kind)), None)
    if taken_apart is None:
        return []
    factor = sp.diags_array(scale)
    given = sorted(taken_apart(model, graph, pair), key=lambda one: places[one.layer])
    return [Through(one.layer, one.kind, sp.csr_array(factor @ one.parts)) for one in given]


def _linear(model: OneHotLogistic, graph: MultilayerGraph, pair: Pair) -> Iterator[Through]:
    start = 0
    for columns in model.columns_:
        layer = graph.layers[columns.layer]
        stop = start + len(columns.names)
        part = sp.csr_array(columns.matrix(graph)[pair.rows]).tocoo()
        coefficients = model.coefficients_[start:stop]
        start = stop
        values = part.data * (
            coefficients[part.col, pair.first[part.row]] - coefficients[part.col, pair.second[part.row]]
        )
        _, names = layer.columns(graph.nodes)
        place = names.get_indexer(columns.names)[part.col]
        shape = (pair.rows.size, len(names))
        yield Through(columns.layer, kind_of(layer), sp.csr_array((values, (part.row, place)), shape=shape))


def _boosted(model: TableBoosting, graph: MultilayerGraph, pair: Pair) -> Iterator[Through]:
    """What trees make of a layer, shared alike by a node's groups, or by its neighbours."""
    first, second = np.zeros((2, graph.num_nodes), dtype=np.int64)
    first[pair.rows], second[pair.rows] = pair.first, pair.second
    for name, added in model.layer_contributions(graph, first, second).items():
        matrix, _ = graph.layers[name].columns(graph.nodes)
        here = sp.csr_array(matrix[pair.rows]).astype(np.float64)
        here.data[:] = 1.0
        count = np.diff(here.indptr)
        shares = np.divide(added[pair.rows], count, out=np.zeros(count.size), where=count > 0)
        parts = sp.csr_array(sp.diags_array(shares) @ here)
        yield Through(name, kind_of(graph.layers[name]), parts)


def _propagated(model: LabelPropagation, graph: MultilayerGraph, pair: Pair) -> Iterator[Through]:
    scores = model.heard(graph)
    total = scores[pair.rows].sum(axis=1, keepdims=True)
    prior = class_prior(model._known_of_fit(graph.nodes).counts)
    labels = model.known_.size
    share = np.divide(scores[pair.rows], total, out=np.tile(prior, (len(total), 1)), where=total > 0)
    mixed = (labels * share + prior) / (labels + 1)
    at = np.arange(pair.rows.size)
    mean = logarithmic_mean(mixed[at, pair.first], mixed[at, pair.second])
    reached = np.where(total[:, 0] > 0, 1 / np.where(total[:, 0] > 0, total[:, 0], 1), 0.0)
    factor = model.sharpness_ * labels / (labels + 1) * reached / mean * model.alpha_
    everyone = np.ones((graph.num_nodes, 1))
    direction = pair.direction(len(model.classes_)) * factor[:, None]
    weights = model.layer_weights_[list(graph.layers)]
    for one, weight in zip(hearings(graph, pair.rows), weights, strict=True):
        yield one.through(one.parts(scores, direction * weight / one.sums(everyone)))


def _averaged(model: NeighbourhoodLogistic, graph: MultilayerGraph, pair: Pair) -> Iterator[Through]:
    total, own, passed = model.heard(graph)
    means = [pair.logarithmic_mean(values[pair.rows]) for values in (own, total)]
    direction = pair.direction(len(model.classes_)) * model.sharpness_
    known_itself = direction * (means[0] / means[1])[:, None]
    smoothed = direction * (model.alpha_ / means[1])[:, None]
    everyone = np.ones((graph.num_nodes, 1))
    for place, (one, (said, scales)) in enumerate(
        zip(hearings(graph, pair.rows), model.neighbour_scores(graph), strict=True)
    ):
        parts = [
            one.parts(values, known_itself * scale[pair.rows, None]) for values, scale in zip(said, scales, strict=True)
        ]
        if model.alpha_ > 0:
            weight = model.layer_weights_[place]
            parts.append(one.parts(passed, smoothed * weight / one.sums(everyone)))
        yield one.through(np.sum(parts, axis=0))


def _walked(model: SpectralLogistic, graph: MultilayerGraph, pair: Pair) -> Iterator[Through]:
    profile = model.profile_
    coefficients = model.coefficients_.T[pair.first] - model.coefficients_.T[pair.second]
    direction = profile.direction(profile.placed(graph)[pair.rows], coefficients)
    for name, matrix, vectors in profile.sources(graph):
        part = sp.csr_array(matrix[pair.rows]).tocoo()
        values = part.data * np.einsum("ij,ij->i", vectors[part.col], direction[part.row])
        layer = graph.layers[name]
        yield Through(name, kind_of(layer), sp.csr_array((values, (part.row, part.col)), part.shape))


def _shared(model: LabelShares, graph: MultilayerGraph, pair: Pair) -> Iterator[Through]:
    for name, parts in model.neighbour_parts(graph, pair):
        yield Through(name, kind_of(graph.layers[name]), parts)


_WAYS: dict[type, Callable[[Any, MultilayerGraph, Pair], Iterable[Through]]] = {
    OneHotLogistic: _linear,
    LabelPropagation: _propagated,
    SpectralLogistic: _walked,
    NeighbourhoodLogistic: _averaged,
    LabelShares: _shared,
    TableBoosting: _boosted,
    AttentionModel: lambda model, graph, pair: model.reasons(graph, pair),
}
"""How what each method says is taken apart."""
