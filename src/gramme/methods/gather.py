"""Putting a model that several processes fitted together at the first one, as if it had been fitted there alone.

What a model knows of each node lies at the node's owner. The first process receives it in the order of the whole graph;
weights, settings and coefficients are the same everywhere and stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from gramme._types import Ints
from gramme.distributed import PartGraph
from gramme.distributed.part_graph import PartGroups
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import in_name_order
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.auto.gramme_auto import GrammeAuto
from gramme.methods.linear.one_hot import LayerColumns
from gramme.methods.linear.one_hot_logistic import OneHotLogistic
from gramme.methods.linear.spectral_logistic import SpectralLogistic
from gramme.methods.linear.walk_profile import GroupVectors, WalkProfile
from gramme.methods.propagation.label_propagation import LabelPropagation

from .base import NodeClassifier


def join_model(model: NodeClassifier, whole: MultilayerGraph | None) -> Ints | None:
    """Put a model together at the first process. All processes must call this; only the first has a model then.

    ``model``: Fitted on a part; ``whole``: The whole graph at the first process, None at the others.

    Returns array of int, or None at the other processes: Where each node stands in the whole graph, for the positions
    that parts know it by.
    """
    part = model.graph_
    assert isinstance(part, PartGraph)
    seen = None if whole is None else model._seen(whole)
    if isinstance(model, AttentionModel):
        _ = model.layer_importances_  # asked of all processes, and remembered
        embedding = part.at_first(model.embedding_)
        if embedding is not None:
            model.__dict__["embedding_"] = embedding
        if model.profile_ is not None:
            model.profile_ = _joined_profile(model.profile_, part, seen)
    if isinstance(model, SpectralLogistic):
        placed = part.at_first(model.placed_)
        model.placed_ = model.placed_ if placed is None else placed
        model.profile_ = _joined_profile(model.profile_, part, seen)
    if isinstance(model, OneHotLogistic):
        model.columns_ = [replace(one, places=None) for one in model.columns_]
    if isinstance(model, GrammeAuto):
        _ = model.layer_importance_
        for inner in model.models_.values():
            join_model(inner, whole)
    known_by = part.at_first(np.asarray(part.places))
    back: Ints | None = None
    if known_by is not None:
        back = np.empty_like(known_by)
        back[known_by] = np.arange(known_by.size)
        if isinstance(model, LabelPropagation):
            model.known_ = back[model.known_]
        if hasattr(model, "tested_nodes_"):
            model.tested_nodes_ = back[model.tested_nodes_]
    _join_results(model, part, whole, seen)
    return back


def _join_results(
    model: NodeClassifier, part: PartGraph, whole: MultilayerGraph | None, seen: MultilayerGraph | None
) -> None:
    number = {label: code for code, label in enumerate(model.classes_.tolist())}
    mine = np.array([number[one] for one in model.transduction_.tolist()], dtype=np.int64)
    found = [part.at_first(rows) for rows in (model.probabilities_, mine, model.labelled_)]
    if whole is None or seen is None:
        return
    probabilities, codes, labelled = found
    assert probabilities is not None
    assert codes is not None
    assert labelled is not None
    model.probabilities_, model.labelled_ = probabilities, labelled
    model.transduction_ = model.classes_[codes]
    model.graph_, model.given_graph_, model.nodes_ = seen, whole, whole.nodes
    model.layers_ = list(seen.layers)
    for name in ("layer_importance_", "layer_weights_", "layer_importances_"):
        by_layer = vars(model).get(name)
        if isinstance(by_layer, pd.Series | pd.DataFrame):  # parts have layers in the order of names
            model.__dict__[name] = by_layer[model.layers_]


def _joined_profile(profile: WalkProfile, part: PartGraph, whole: MultilayerGraph | None) -> WalkProfile:
    """The vectors of all nodes and groups at the first process; a part's at the others."""
    vectors = part.at_first(profile.vectors)
    groups: dict[str, GroupVectors] = {}
    for name, group in profile.groups.items():
        layer = part.layers[name]
        assert isinstance(layer, PartGroups)
        places = part.communicator.gather_to_first(np.asarray(layer.group_place))
        rows = [
            part.communicator.gather_to_first(np.ascontiguousarray(each))
            for each in (group.sizes, group.reach, group.vectors)
        ]
        if whole is None or places is None:
            continue
        joined = []
        for parts in rows:
            assert parts is not None
            every = np.zeros((layer.groups_in_all, *parts[0].shape[1:]), dtype=parts[0].dtype)
            for place, some in zip(places, parts, strict=True):
                every[place] = some
            joined.append(every)
        names = in_name_order(whole).graph.layers[name].group_names
        assert names is not None
        groups[name] = GroupVectors(LayerColumns(name, "groups", names), *joined)
    if whole is None or vectors is None:
        return profile
    return WalkProfile(profile.values, whole.nodes, vectors, groups, profile.weights)
