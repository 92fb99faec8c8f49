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
from .contributions import GROUPS, NEIGHBOURS, Pair, Through, hearings, kind_of, logarithmic_mean
from .labels import class_prior
from .prepare import with_layers_of_fit

# What a prediction for a node of another graph is based on: neighbours, groups or features that the model knows.
FEATURES, NOTHING = "features", "nothing"

Flags = NDArray[np.bool_]


def prediction_basis(model: GraphEstimator, graph: MultilayerGraph) -> NDArray[np.object_]:
    """What the prediction for each node of a graph is based on: the first of these that applies.

    ``"neighbours"``: it is a node of the fit, or edges lead to one over any number of steps. ``"groups"``: it is in a
    group that the model learned about, or that leads to a node of the fit. ``"features"``: it has features and the
    model reads them. ``"nothing"``: none of these.

    ``model``: A fitted model; ``graph``: With the layers of the fit; its nodes may be others.
    """
    graph = model._seen(graph).select_layers(model.layers_)
    is_known_node = np.asarray(graph.nodes.isin(model.nodes_), dtype=bool)
    basis_of_node = np.full(graph.num_nodes, NOTHING, dtype=object)
    if (graph.features is not None or graph.layer_features) and any(map(_reads_features, _parts(model))):
        basis_of_node[:] = FEATURES
    basis_of_node[_in_known_group(model, graph) | _reaching(graph, is_known_node, groups=True)] = GROUPS
    basis_of_node[_reaching(graph, is_known_node, groups=False)] = NEIGHBOURS
    return basis_of_node


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
    feature_source = getattr(model, "source_", "")  # of attention: one kind of features, or several joined by +
    return isinstance(model, NeighbourhoodLogistic) or "given" in feature_source or feature_source == "both"


def _in_known_group(model: GraphEstimator, graph: MultilayerGraph) -> Flags:
    """Nodes in a group whose name a linear model has learned something about."""
    in_known_group = np.zeros(graph.num_nodes, dtype=bool)
    for part_model in _parts(model):
        known_columns: list[Any] = []
        if isinstance(part_model, (OneHotLogistic, GroupsRidge)):
            known_columns = list(part_model.columns_)
        elif isinstance(part_model, TreesOnTable):
            known_columns = list(part_model.statistics_.layers)
        elif isinstance(part_model, (SpectralLogistic, WalksRidge)):
            known_columns = [group.columns for group in part_model.profile_.groups.values()]
        for layer_columns in known_columns:
            layer = graph.layers[layer_columns.layer]
            membership_matrix, group_names = layer.columns(graph.nodes)
            if layer.made_of == "groups":
                is_known_group = np.asarray(group_names.isin(layer_columns.names), dtype=float)
                in_known_group |= (membership_matrix @ is_known_group) > 0
    return in_known_group


def _reaching(graph: MultilayerGraph, met: Flags, *, groups: bool) -> Flags:
    """Nodes that were met, or from which edges, and perhaps groups, lead to one."""
    edge_blocks = [sp.csr_array((graph.num_nodes, graph.num_nodes))]
    member_blocks = []
    for layer in graph.layers.values():
        incidence = layer.incidence()
        if incidence is not None:
            member_blocks.append(incidence)
        else:
            edge_blocks.append(layer.to_scipy())
    joined_matrix: Any = sum(edge_blocks[1:], start=edge_blocks[0])
    if groups and member_blocks:  # a group is a place that leads from each member to all others
        member_matrix = sp.hstack(member_blocks, format="csr")
        joined_matrix = sp.block_array([[joined_matrix, member_matrix], [member_matrix.T, None]], format="csr")
    _, component_of_node = connected_components(joined_matrix, directed=False)
    component_of_node = component_of_node[: graph.num_nodes]
    is_reached: Flags = np.bincount(component_of_node, weights=met, minlength=1)[component_of_node] > 0
    return is_reached


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
        summed_log_odds: Floats = np.sum([part.log_odds for part in self.parts], axis=0)
        return summed_log_odds


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
    chosen_rows = np.arange(graph.num_nodes) if rows is None else rows
    class_probabilities = model.predict_proba()[chosen_rows].astype(np.float64)
    class_order = np.argsort(-class_probabilities, axis=1, kind="stable")
    class_pair = Pair(chosen_rows, class_order[:, 0], class_order[:, 1])
    if isinstance(model, GrammeAuto):
        mixture_parts = list(_mixture_parts(model, graph, class_pair))
        if hasattr(model, "class_weights_"):
            log_weights = np.log(model.class_weights_)
            mixture_parts.append(
                Part(CLASS_WEIGHTS, 0.0, log_weights[class_pair.first] - log_weights[class_pair.second])
            )
        return Reasons(chosen_rows, class_pair.first, class_pair.second, mixture_parts)
    whole_log_odds = class_pair.log_odds(class_probabilities)
    single_part = Part(
        type(model).__name__, 1.0, whole_log_odds, _through(model, graph, class_pair, np.ones(len(whole_log_odds)))
    )
    return Reasons(chosen_rows, class_pair.first, class_pair.second, [single_part])


def _mixture_parts(model: GrammeAuto, graph: MultilayerGraph, pair: Pair) -> Iterator[Part]:
    class_shares = class_prior(model.class_counts_)
    weight_of_ingredient = dict(zip(model.ingredients_["ingredient"], model.ingredients_["weight"], strict=True))
    for name, inner in model.models_.items():
        class_probabilities = inner.predict_proba()[pair.rows].astype(np.float64)
        pooling_power = model.exponent_ * float(weight_of_ingredient[name])
        mixed_log_odds = pair.log_odds(mixed_with_prior(class_probabilities, class_shares))
        own_log_odds = pair.log_odds(class_probabilities)
        # a little doubt is mixed into what an ingredient says, which takes the edge off all that it rests on
        softened_share = np.divide(
            mixed_log_odds, own_log_odds, out=np.ones_like(mixed_log_odds), where=np.abs(own_log_odds) > 1e-9
        )
        row_scale = pooling_power * np.clip(softened_share, 0, 1)
        through = _through(inner, graph, pair, row_scale)
        yield Part(name, float(weight_of_ingredient[name]), pooling_power * mixed_log_odds, through)


def _through(model: NodeClassifier, graph: MultilayerGraph, pair: Pair, scale: Floats) -> list[Through]:
    """The log-odds of one method by neighbours and groups, each row times a factor."""
    layer_position = {name: place for place, name in enumerate(graph.layers)}
    graph = with_layers_of_fit(graph, model.layer_order_)
    taken_apart = next((way for kind, way in _WAYS.items() if isinstance(model, kind)), None)
    if taken_apart is None:
        return []
    scale_matrix = sp.diags_array(scale)
    layer_parts = sorted(taken_apart(model, graph, pair), key=lambda one: layer_position[one.layer])
    return [Through(one.layer, one.kind, sp.csr_array(scale_matrix @ one.parts)) for one in layer_parts]


def _linear(model: OneHotLogistic, graph: MultilayerGraph, pair: Pair) -> Iterator[Through]:
    first_column = 0
    for columns in model.columns_:
        layer = graph.layers[columns.layer]
        last_column = first_column + len(columns.names)
        column_entries = sp.csr_array(columns.matrix(graph)[pair.rows]).tocoo()
        coefficients = model.coefficients_[first_column:last_column]
        first_column = last_column
        entry_values = column_entries.data * (
            coefficients[column_entries.col, pair.first[column_entries.row]]
            - coefficients[column_entries.col, pair.second[column_entries.row]]
        )
        _, column_names = layer.columns(graph.nodes)
        entry_columns = column_names.get_indexer(columns.names)[column_entries.col]
        part_shape = (pair.rows.size, len(column_names))
        part = sp.csr_array((entry_values, (column_entries.row, entry_columns)), shape=part_shape)
        yield Through(columns.layer, kind_of(layer), part)


def _boosted(model: TableBoosting, graph: MultilayerGraph, pair: Pair) -> Iterator[Through]:
    """What trees make of a layer, shared alike by a node's groups, or by its neighbours."""
    first_class, second_class = np.zeros((2, graph.num_nodes), dtype=np.int64)
    first_class[pair.rows], second_class[pair.rows] = pair.first, pair.second
    for name, added_log_odds in model.layer_contributions(graph, first_class, second_class).items():
        layer_matrix, _ = graph.layers[name].columns(graph.nodes)
        row_entries = sp.csr_array(layer_matrix[pair.rows]).astype(np.float64)
        row_entries.data[:] = 1.0
        entry_counts = np.diff(row_entries.indptr)
        entry_share = np.divide(
            added_log_odds[pair.rows], entry_counts, out=np.zeros(entry_counts.size), where=entry_counts > 0
        )
        layer_parts = sp.csr_array(sp.diags_array(entry_share) @ row_entries)
        yield Through(name, kind_of(graph.layers[name]), layer_parts)


def _propagated(model: LabelPropagation, graph: MultilayerGraph, pair: Pair) -> Iterator[Through]:
    heard_scores = model.heard(graph)
    score_totals = heard_scores[pair.rows].sum(axis=1, keepdims=True)
    class_shares = class_prior(model._known_of_fit(graph.nodes).counts)
    num_labels = model.known_.size
    score_shares = np.divide(
        heard_scores[pair.rows], score_totals, out=np.tile(class_shares, (len(score_totals), 1)), where=score_totals > 0
    )
    mixed_shares = (num_labels * score_shares + class_shares) / (num_labels + 1)
    row_numbers = np.arange(pair.rows.size)
    mean_shares = logarithmic_mean(mixed_shares[row_numbers, pair.first], mixed_shares[row_numbers, pair.second])
    inverse_totals = np.where(score_totals[:, 0] > 0, 1 / np.where(score_totals[:, 0] > 0, score_totals[:, 0], 1), 0.0)
    row_factor = model.sharpness_ * num_labels / (num_labels + 1) * inverse_totals / mean_shares * model.alpha_
    all_ones = np.ones((graph.num_nodes, 1))
    class_direction = pair.direction(len(model.classes_)) * row_factor[:, None]
    layer_weights = model.layer_weights_[list(graph.layers)]
    for layer_hearing, layer_weight in zip(hearings(graph, pair.rows), layer_weights, strict=True):
        yield layer_hearing.through(
            layer_hearing.parts(heard_scores, class_direction * layer_weight / layer_hearing.sums(all_ones))
        )


def _averaged(model: NeighbourhoodLogistic, graph: MultilayerGraph, pair: Pair) -> Iterator[Through]:
    total_scores, own_scores, passed_scores = model.heard(graph)
    pair_means = [pair.logarithmic_mean(values[pair.rows]) for values in (own_scores, total_scores)]
    class_direction = pair.direction(len(model.classes_)) * model.sharpness_
    known_itself = class_direction * (pair_means[0] / pair_means[1])[:, None]
    smoothed_direction = class_direction * (model.alpha_ / pair_means[1])[:, None]
    all_ones = np.ones((graph.num_nodes, 1))
    for layer_number, (layer_hearing, (neighbour_values, neighbour_scales)) in enumerate(
        zip(hearings(graph, pair.rows), model.neighbour_scores(graph), strict=True)
    ):
        entry_parts = [
            layer_hearing.parts(values, known_itself * scale[pair.rows, None])
            for values, scale in zip(neighbour_values, neighbour_scales, strict=True)
        ]
        if model.alpha_ > 0:
            layer_weight = model.layer_weights_[layer_number]
            entry_parts.append(
                layer_hearing.parts(passed_scores, smoothed_direction * layer_weight / layer_hearing.sums(all_ones))
            )
        yield layer_hearing.through(np.sum(entry_parts, axis=0))


def _walked(model: SpectralLogistic, graph: MultilayerGraph, pair: Pair) -> Iterator[Through]:
    walk_profile = model.profile_
    pair_coefficients = model.coefficients_.T[pair.first] - model.coefficients_.T[pair.second]
    row_direction = walk_profile.direction(walk_profile.placed(graph)[pair.rows], pair_coefficients)
    for name, matrix, vectors in walk_profile.sources(graph):
        layer_entries = sp.csr_array(matrix[pair.rows]).tocoo()
        entry_values = layer_entries.data * np.einsum(
            "ij,ij->i", vectors[layer_entries.col], row_direction[layer_entries.row]
        )
        layer = graph.layers[name]
        part = sp.csr_array((entry_values, (layer_entries.row, layer_entries.col)), layer_entries.shape)
        yield Through(name, kind_of(layer), part)


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
