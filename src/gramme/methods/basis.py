"""What a prediction for a node of another graph is based on: neighbours, groups or features that the model knows.

A model knows the nodes of its fit by their names, and linear models know groups by theirs. A node that shares none of
these, and has no features the model can read, is a stranger: any prediction for it is a guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gramme.graph import MultilayerGraph
from gramme.methods.graph_estimator import GraphEstimator
from gramme.methods.linear.neighbourhood_logistic import NeighbourhoodLogistic
from gramme.methods.linear.one_hot_logistic import OneHotLogistic
from gramme.methods.linear.spectral_logistic import SpectralLogistic
from gramme.methods.regression.ridges import GroupsRidge, WalksRidge

NEIGHBOURS, GROUPS, FEATURES, NOTHING = "neighbours", "groups", "features", "nothing"

Flags = NDArray[np.bool_]


def prediction_basis(model: GraphEstimator, graph: MultilayerGraph) -> NDArray[np.object_]:
    """What the prediction for each node of a graph is based on: the first of these that applies.

    ``"neighbours"``: it is a node of the fit, or edges lead to one over any number of steps. ``"groups"``: it is in a
    group that the model learned about, or that leads to a node of the fit. ``"features"``: it has features and the
    model reads them. ``"nothing"``: none of these.

    Parameters
    ----------
    model : GraphEstimator
        A fitted model.
    graph : MultilayerGraph
        With the layers of the fit; its nodes may be others.
    """
    graph = model._seen(graph).select_layers(model.layers_)
    met = np.asarray(graph.nodes.isin(model.nodes_), dtype=bool)
    basis = np.full(graph.num_nodes, NOTHING, dtype=object)
    if (graph.features is not None or graph.layer_features) and any(
        map(_reads_features, _parts(model))
    ):
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
    source = getattr(
        model, "source_", ""
    )  # of attention: one kind of features, or several joined by +
    return isinstance(model, NeighbourhoodLogistic) or "given" in source or source == "both"


def _in_known_group(model: GraphEstimator, graph: MultilayerGraph) -> Flags:
    """Nodes in a group whose name a linear model has learned something about."""
    found = np.zeros(graph.num_nodes, dtype=bool)
    for part in _parts(model):
        columns: list[Any] = []
        if isinstance(part, (OneHotLogistic, GroupsRidge)):
            columns = list(part.columns_)
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
