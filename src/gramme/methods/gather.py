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
    whole_seen = None if whole is None else model._seen(whole)
    if isinstance(model, AttentionModel):
        _ = model.layer_importances_  # asked of all processes, and remembered
        whole_embedding = part.at_first(model.embedding_)
        if whole_embedding is not None:
            model.__dict__["embedding_"] = whole_embedding
        if model.profile_ is not None:
            model.profile_ = _joined_profile(model.profile_, part, whole_seen)
    if isinstance(model, SpectralLogistic):
        whole_rows = part.at_first(model.placed_)
        model.placed_ = model.placed_ if whole_rows is None else whole_rows
        model.profile_ = _joined_profile(model.profile_, part, whole_seen)
    if isinstance(model, OneHotLogistic):
        model.columns_ = [replace(one, places=None) for one in model.columns_]
    if isinstance(model, GrammeAuto):
        _ = model.layer_importance_
        for inner in model.models_.values():
            join_model(inner, whole)
    known_by = part.at_first(np.asarray(part.places))
    position_of_place: Ints | None = None
    if known_by is not None:
        position_of_place = np.empty_like(known_by)
        position_of_place[known_by] = np.arange(known_by.size)
        if isinstance(model, LabelPropagation):
            model.known_ = position_of_place[model.known_]
        if hasattr(model, "tested_nodes_"):
            model.tested_nodes_ = position_of_place[model.tested_nodes_]
    _join_results(model, part, whole, whole_seen)
    return position_of_place


def _join_results(
    model: NodeClassifier, part: PartGraph, whole: MultilayerGraph | None, seen: MultilayerGraph | None
) -> None:
    code_of_class = {label: code for code, label in enumerate(model.classes_.tolist())}
    local_codes = np.array([code_of_class[one] for one in model.transduction_.tolist()], dtype=np.int64)
    joined_arrays = [part.at_first(rows) for rows in (model.probabilities_, local_codes, model.labelled_)]
    if whole is None or seen is None:
        return
    probabilities, node_codes, is_labelled = joined_arrays
    assert probabilities is not None
    assert node_codes is not None
    assert is_labelled is not None
    model.probabilities_, model.labelled_ = probabilities, is_labelled
    model.transduction_ = model.classes_[node_codes]
    model.graph_, model.given_graph_, model.nodes_ = seen, whole, whole.nodes
    model.layers_ = list(seen.layers)
    for name in ("layer_importance_", "layer_weights_", "layer_importances_"):
        by_layer = vars(model).get(name)
        if isinstance(by_layer, pd.Series | pd.DataFrame):  # parts have layers in the order of names
            model.__dict__[name] = by_layer[model.layers_]


def _joined_profile(profile: WalkProfile, part: PartGraph, whole: MultilayerGraph | None) -> WalkProfile:
    """The vectors of all nodes and groups at the first process; a part's at the others."""
    whole_vectors = part.at_first(profile.vectors)
    joined_groups: dict[str, GroupVectors] = {}
    for name, group in profile.groups.items():
        layer = part.layers[name]
        assert isinstance(layer, PartGroups)
        group_places = part.communicator.gather_to_first(np.asarray(layer.group_place))
        gathered_rows = [
            part.communicator.gather_to_first(np.ascontiguousarray(each))
            for each in (group.sizes, group.reach, group.vectors)
        ]
        if whole is None or group_places is None:
            continue
        joined_rows = []
        for row_parts in gathered_rows:
            assert row_parts is not None
            whole_rows = np.zeros((layer.groups_in_all, *row_parts[0].shape[1:]), dtype=row_parts[0].dtype)
            for part_places, part_rows in zip(group_places, row_parts, strict=True):
                whole_rows[part_places] = part_rows
            joined_rows.append(whole_rows)
        group_names = in_name_order(whole).graph.layers[name].group_names
        assert group_names is not None
        joined_groups[name] = GroupVectors(LayerColumns(name, "groups", group_names), *joined_rows)
    if whole is None or whole_vectors is None:
        return profile
    return WalkProfile(profile.values, whole.nodes, whole_vectors, joined_groups, profile.weights)
