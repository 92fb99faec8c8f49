"""What the page of a fit holds of each node: its row, its neighbours, why it is predicted so, and the leading groups.

Why a node is predicted as it is adds up over the groups it is in (:mod:`gramme.methods.explain`). Added up over the
nodes, without regard to sign, that says how much of all log-odds came through a group. With regard to sign it says for
which class the group speaks: what it adds to a class where that is predicted, less what it adds against it where that
is the runner-up, and less what a membership of the layer adds on average, which is all groups' doing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gramme._types import Floats
from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.graph.layer import Layer
from gramme.methods import NodeClassifier
from gramme.methods.auto.gramme_auto import GrammeAuto
from gramme.methods.auto.ingredients import INGREDIENTS
from gramme.methods.contributions import GROUPS, NEIGHBOURS
from gramme.methods.explain import Part, Reasons

from .html import pack_floats, pack_integers, pack_shares, shorten

# What the page shows about each node: name, label, prediction, how certain, and whether its label
# looks wrong.


MAX_PAGE_NODES = 12_000
"""Nodes that a page lists; of more, a random sample, so that the page of Debian's packages stays below 4 MB."""

_ALWAYS_SHOWN = 500  # least certain nodes, and as many doubtful labels, that a sample must hold
_MAX_TEXT_CHARACTERS = 5_000_000  # characters of names that a page may hold
_MAX_NAME_CHARACTERS = 80

UNLABELLED, LEARNED, HELD_OUT = 0, 1, 2
"""What a node's label was used for."""


@dataclass(frozen=True)
class NodeTable:
    """One row per node of the graph, all as arrays in node order.

    Labels are positions among ``labels``, counted from 1; 0 for none. ``judged`` is what a model predicts that had not
    learned from the node's label.
    """

    names: list[str]
    labels: list[str]  # the distinct ones, classes first
    label: NDArray[np.int64]
    predicted: NDArray[np.int64]
    use: NDArray[np.int64]  # 0 without label, 1 learned from, 2 held out
    probability: NDArray[np.float64]  # of the predicted class
    judged: NDArray[np.int64]
    judged_probability: NDArray[np.float64]
    own: NDArray[np.float64]  # the probability that the same model gives to the node's own label
    doubtful: NDArray[np.bool_]  # whether the label looks wrong: then ``judged`` is suggested in its place

    def learned_labels(self) -> NDArray[np.object_]:
        """The labels that were learned from, None elsewhere."""
        learned_label_names = np.full(self.label.size, None, dtype=object)
        for place in np.flatnonzero(self.use == LEARNED).tolist():
            learned_label_names[place] = self.labels[self.label[place] - 1]
        return learned_label_names

    def chosen(self, most: int = MAX_PAGE_NODES) -> NDArray[np.int64]:
        """The nodes a page shows: all, or the least certain, the doubtful and a random sample of the others."""
        node_count = len(self.names)
        if node_count <= most:
            return np.arange(node_count)
        least_certain = np.argsort(self.probability, kind="stable")[: min(_ALWAYS_SHOWN, most // 4)]
        doubtful_nodes = np.flatnonzero(self.doubtful)
        doubt_order = np.argsort(-self.judged_probability[doubtful_nodes], kind="stable")
        most_doubtful = doubtful_nodes[doubt_order][: min(_ALWAYS_SHOWN, most // 4)]
        fixed_nodes = np.union1d(least_certain, most_doubtful)
        other_nodes = np.setdiff1d(np.arange(node_count), fixed_nodes, assume_unique=True)
        drawn_nodes = np.random.default_rng(0).choice(other_nodes, most - fixed_nodes.size, replace=False)
        return np.sort(np.concatenate([fixed_nodes, drawn_nodes]))

    def packed(self, chosen: NDArray[np.int64]) -> dict[str, Any]:
        """The rows of some nodes as the page's script reads them."""
        node_names = [self.names[place] for place in chosen.tolist()]
        names_shortened = sum(map(len, node_names)) > _MAX_TEXT_CHARACTERS
        if names_shortened:
            node_names = [shorten(one, _MAX_NAME_CHARACTERS) for one in node_names]
        return {
            "count": len(node_names),
            "total": len(self.names),
            "shortened": names_shortened,
            "names": node_names,
            "labels": self.labels,
            "label": pack_integers(self.label[chosen]),
            "predicted": pack_integers(self.predicted[chosen]),
            "use": pack_integers(self.use[chosen]),
            "probability": pack_shares(self.probability[chosen]),
            "judged": pack_integers(self.judged[chosen]),
            "judged_probability": pack_shares(self.judged_probability[chosen]),
            "own": pack_shares(self.own[chosen]),
            "doubtful": pack_integers(self.doubtful[chosen]),
        }


def packed_sets(sets: NDArray[np.bool_], classes: list[str]) -> dict[str, Any]:
    """Sets of classes as the page's script reads them: the distinct sets in words, and which of them each node has.

    >>> packed_sets(np.array([[True, True], [False, True]]), ["a", "b"])["names"]
    ['b', 'a or b']
    """
    distinct_sets, set_of_node = np.unique(sets, axis=0, return_inverse=True)
    set_names = [
        " or ".join(name for name, there in zip(classes, row, strict=True) if there) for row in distinct_sets.tolist()
    ]
    return {"names": set_names, "of": pack_integers(set_of_node.ravel())}


def node_table(
    model: NodeClassifier, graph: MultilayerGraph, known: Iterable[Any] | None, predictions: Mapping[Any, Any] | None
) -> NodeTable:
    """What is known about each node.

    ``known`` are the labels that were learned from, None where unknown (the graph's own if not given), ``predictions``
    what models that had not learned from a node's label say, as in :meth:`gramme.evaluation.Estimate.predictions`.
    """
    node_count = graph.num_nodes
    own_labels = np.full(node_count, None) if graph.labels is None else graph.labels
    learned_values = list(own_labels if known is None else known)
    label_names = [str(label) for label in model.classes_.tolist()]
    label_numbers = {label: place for place, label in enumerate(label_names, start=1)}

    def code(value: Any) -> int:
        if value is None or value is pd.NA or value != value:  # NaN is not itself
            return 0
        text = str(value)
        if text not in label_numbers:
            label_names.append(text)
            label_numbers[text] = len(label_names)
        return label_numbers[text]

    learned_codes = np.array([code(value) for value in learned_values], dtype=np.int64)
    graph_codes = np.array([code(value) for value in own_labels], dtype=np.int64)
    label_codes = np.where(learned_codes > 0, learned_codes, graph_codes)
    label_use = np.where(learned_codes > 0, LEARNED, np.where(graph_codes > 0, HELD_OUT, UNLABELLED))

    probabilities = model.predict_proba().astype(np.float64)
    predicted_codes = probabilities.argmax(axis=1) + 1 if node_count else np.zeros(0, dtype=np.int64)
    judged_codes = np.zeros(node_count, dtype=np.int64)
    judged_probability, own_probability = np.zeros(node_count), np.zeros(node_count)
    is_doubtful = np.zeros(node_count, dtype=bool)
    node_names = [str(one) for one in graph.nodes]
    for place, (node, text) in enumerate(zip(graph.nodes, node_names, strict=True)):
        unseen_prediction = predictions and (predictions.get(text) or predictions.get(node))
        if unseen_prediction and label_codes[place] > 0:
            judged_codes[place] = code(unseen_prediction["predicted"])
            judged_probability[place] = float(unseen_prediction["probability"])
            own_probability[place] = float(unseen_prediction["own"])
            is_doubtful[place] = unseen_prediction["suggested"] is not None
    return NodeTable(
        names=node_names,
        labels=label_names,
        label=label_codes,
        predicted=predicted_codes,
        use=label_use,
        probability=probabilities.max(axis=1) if node_count else np.zeros(0),
        judged=judged_codes,
        judged_probability=judged_probability,
        own=own_probability,
        doubtful=is_doubtful,
    )


# Who is near whom in each layer, and how much each is attended to, in a form small enough for a page.

MAX_NODE_LAYERS = 1_000_000
"""Nodes times layers that a page holds; of more layers, the most important ones."""
MAX_NEIGHBOURS = 30
"""Neighbours of a node that a page holds in a layer of edges."""

_MAX_NEIGHBOUR_ENTRIES = 200_000  # neighbours that a page holds in all layers of edges together
_ATTENTION_WORK = 20_000_000  # nodes x layers x layers shown, beyond which attention is left out of a page
_MAX_GROUP_NAMES = 20_000  # groups of a layer whose names a page holds
_NEIGHBOURS_MAX_NAME_CHARACTERS = 120

Places = NDArray[np.int64]


def neighbourhoods(
    model: NodeClassifier, graph: MultilayerGraph, chosen: Places, order: Sequence[str]
) -> list[dict[str, Any]]:
    """The layers that a page holds, in the order given (most important first), for the nodes it shows."""
    kept_layers = list(order)[: max(1, MAX_NODE_LAYERS // max(chosen.size, 1))]
    edge_layers = sum(graph.layers[layer].made_of == "edges" for layer in kept_layers)
    max_neighbours = int(np.clip(_MAX_NEIGHBOUR_ENTRIES // max(chosen.size * edge_layers, 1), 3, MAX_NEIGHBOURS))
    # each layer's attention takes a pass of the model over all layers
    attention_affordable = graph.num_nodes * graph.num_layers * len(kept_layers) <= _ATTENTION_WORK
    left_out = not attention_affordable and tells_attention(model)
    layer_records = []
    for layer_name in kept_layers:
        layer = graph.layers[layer_name]
        attention = attention_received(model, layer_name) if attention_affordable else None
        group_layer = layer.as_groups()
        if group_layer is None:
            layer_record = _edges(layer, attention, chosen, max_neighbours)
        else:
            layer_record = _groups(group_layer, attention, chosen)
        packed_attention = None if attention is None else pack_floats(np.nan_to_num(attention[chosen]))
        layer_records.append({"name": layer_name, "attention": packed_attention, "left_out": left_out} | layer_record)
    return layer_records


def tells_attention(model: NodeClassifier) -> bool:
    """Whether a method attends to neighbours; a mixture does only with an attention model among its ingredients."""
    return hasattr(model, "node_attention") and (not isinstance(model, GrammeAuto) or hasattr(model, "attention_"))


def attention_received(model: NodeClassifier, layer: str) -> Floats | None:
    """How much each node of a layer is attended to relative to the average; None if a method cannot tell."""
    if not tells_attention(model):
        return None
    ask: Any = model.node_attention
    received: Floats = ask(layer).to_numpy(dtype=np.float64)
    return received


def _edges(layer: Layer, attention: Floats | None, chosen: Places, most: int) -> dict[str, Any]:
    adjacency = layer.to_scipy()
    attention_weights = np.ones(layer.num_nodes) if attention is None else np.nan_to_num(attention)
    shown_rows = sp.csr_array(adjacency[chosen])
    attention_totals = attention_weights[chosen] + shown_rows @ attention_weights
    row_of_entry = np.repeat(np.arange(chosen.size), np.diff(shown_rows.indptr))
    entry_shares = (
        shown_rows.data * attention_weights[shown_rows.indices] / np.maximum(attention_totals[row_of_entry], 1e-300)
    )

    place_of_node = np.full(layer.num_nodes, -1, dtype=np.int64)
    place_of_node[chosen] = np.arange(chosen.size)
    is_shown = place_of_node[shown_rows.indices] >= 0
    row_of_entry, entry_shares, neighbour_places = (
        row_of_entry[is_shown],
        entry_shares[is_shown],
        place_of_node[shown_rows.indices[is_shown]],
    )
    entry_order = np.lexsort((neighbour_places, -entry_shares, row_of_entry))
    row_of_entry, entry_shares, neighbour_places = (
        row_of_entry[entry_order],
        entry_shares[entry_order],
        neighbour_places[entry_order],
    )
    row_starts = np.concatenate([[0], np.cumsum(np.bincount(row_of_entry, minlength=chosen.size))])
    is_leading = np.arange(row_of_entry.size) - row_starts[row_of_entry] < most
    neighbour_counts = np.bincount(row_of_entry[is_leading], minlength=chosen.size)
    return {
        "kind": "edges",
        "directed": layer.directed,
        "most": most,
        "degree": pack_integers(np.diff(shown_rows.indptr)),
        "counts": pack_integers(neighbour_counts),
        "neighbours": pack_integers(neighbour_places[is_leading]),
        "shares": None if attention is None else pack_shares(entry_shares[is_leading]),
        "self": None
        if attention is None
        else pack_shares(attention_weights[chosen] / np.maximum(attention_totals, 1e-300)),
        "colour": _edge_colours(adjacency, layer, chosen),
    }


def _edge_colours(matrix: sp.csr_array, layer: Layer, chosen: Places) -> dict[str, Any]:
    """Groups by which a layer of edges can be coloured: its connected parts, or where it is one piece, degrees."""
    _, node_parts = connected_components(matrix, directed=False)
    node_degrees = layer.degrees()
    part_sizes = np.bincount(node_parts[node_degrees > 0]) if (node_degrees > 0).any() else np.zeros(1, dtype=np.int64)
    large_parts = np.flatnonzero(part_sizes >= max(2, 0.02 * layer.num_nodes))
    if large_parts.size > 1:
        ranked_parts = large_parts[np.argsort(-part_sizes[large_parts], kind="stable")][:9]
        part_codes = np.full(part_sizes.size, ranked_parts.size + 1, dtype=np.int64)
        part_codes[ranked_parts] = np.arange(1, ranked_parts.size + 1)
        node_codes = np.where(node_degrees > 0, part_codes[np.minimum(node_parts, part_sizes.size - 1)], 0)
        part_names = [f"part {number} ({part_sizes[one]:,} nodes)" for number, one in enumerate(ranked_parts, 1)]
        return _colour("connected parts", node_codes[chosen], [*part_names, "a small part"])
    degree_bounds = [1, 2, 3, 5, 9, 17, 33, 65]
    node_codes = np.digitize(node_degrees, degree_bounds)
    degree_words = ["1", "2", "3 to 4", "5 to 8", "9 to 16", "17 to 32", "33 to 64", "65 or more"]
    return _colour("number of neighbours", node_codes[chosen], degree_words) | {"ordered": True}


def _colour(what: str, codes: NDArray[Any], names: list[str]) -> dict[str, Any]:
    return {"what": what, "codes": pack_integers(codes), "names": names}


def _groups(layer: MembershipLayer, attention: Floats | None, chosen: Places) -> dict[str, Any]:
    shown_rows = layer.incidence()[chosen]
    group_counts = np.diff(shown_rows.indptr)
    attention_weights = np.ones(layer.num_nodes) if attention is None else np.nan_to_num(attention)
    group_sums = layer.incidence().T @ attention_weights
    used_groups, new_group_numbers = np.unique(shown_rows.indices, return_inverse=True)
    group_names = [
        shorten(one, _NEIGHBOURS_MAX_NAME_CHARACTERS) for one in layer.group_names[used_groups[:_MAX_GROUP_NAMES]]
    ]
    return {
        "kind": "groups",
        "groups": pack_integers(new_group_numbers),
        "names": group_names,
        "sizes": pack_integers(layer.sizes[used_groups]),
        "sums": pack_floats(group_sums[used_groups]),
        "counts": pack_integers(group_counts),
    }


# Why each node is predicted as it is, in a form small enough for a page: the parts of its log-odds.

MAX_THROUGH_PER_PART = 6
"""Neighbours and groups of a node that a page holds for each ingredient."""
MAX_PAGE_THROUGH = 200_000  # of all nodes together


def why(model: NodeClassifier, graph: MultilayerGraph, chosen: Places, found: Reasons | None) -> dict[str, Any] | None:
    """The reasons of the nodes that a page shows, None if there are none to show.

    Each part has ``value``, what it adds to the log-odds of the predicted class against the runner-up, and the largest
    of what that came through: ``layer``, ``thing`` (the neighbour's place on the page, or the group's, counted from 1;
    0 for a node that is not on the page) and ``amount``.
    """
    if found is None:
        return None
    max_through = int(np.clip(MAX_PAGE_THROUGH // (chosen.size * len(found.parts)), 1, MAX_THROUGH_PER_PART))
    layer_names = list(graph.layers)
    page_numbers = {layer: _page_numbers(graph, layer, chosen) for layer in layer_names}
    inner_models = getattr(model, "models_", {})
    return {
        "against": pack_integers(found.against + 1),
        "layers": layer_names,
        "parts": [
            {
                "name": part.name,
                "words": INGREDIENTS[part.name].in_words(inner_models[part.name])
                if part.name in inner_models
                else part.name,
                "weight": part.weight,
                "value": pack_floats(part.log_odds),
            }
            | _largest(part, layer_names, page_numbers, max_through)
            for part in found.parts
        ],
    }


def _page_numbers(graph: MultilayerGraph, name: str, chosen: Places) -> Places:
    """The number on the page of each neighbour or group of a layer, counted from 1; 0 for those that are not there."""
    layer = graph.layers[name]
    layer_incidence = layer.incidence()
    if layer_incidence is not None:
        used_positions = np.unique(layer_incidence[chosen].indices).astype(np.int64)
        page_numbers = np.zeros(layer_incidence.shape[1], dtype=np.int64)
    else:
        used_positions = chosen
        page_numbers = np.zeros(graph.num_nodes, dtype=np.int64)
    page_numbers[used_positions] = np.arange(1, used_positions.size + 1)
    return page_numbers


def _largest(part: Part, layers: list[str], names: dict[str, Places], most: int) -> dict[str, Any]:
    """The largest of what a part came through, for each row."""
    row_parts, layer_parts, thing_parts, amount_parts = [], [], [], []
    for one in part.through:
        part_entries = sp.coo_array(one.parts)
        is_nonzero = part_entries.data != 0
        row_parts.append(part_entries.row[is_nonzero])
        layer_parts.append(np.full(int(is_nonzero.sum()), layers.index(one.layer)))
        thing_parts.append(names[one.layer][part_entries.col[is_nonzero]])
        amount_parts.append(part_entries.data[is_nonzero])
    if not row_parts:
        return {"counts": None}
    entry_rows, entry_amounts = np.concatenate(row_parts), np.concatenate(amount_parts)
    entry_layers, entry_things = np.concatenate(layer_parts), np.concatenate(thing_parts)
    entry_order = np.lexsort((-np.abs(entry_amounts), entry_rows))
    entry_rows, entry_amounts, entry_layers, entry_things = (
        entry_rows[entry_order],
        entry_amounts[entry_order],
        entry_layers[entry_order],
        entry_things[entry_order],
    )
    row_starts = np.searchsorted(entry_rows, np.arange(part.log_odds.size))
    is_leading = np.arange(entry_rows.size) - row_starts[entry_rows] < most
    return {
        "counts": pack_integers(np.bincount(entry_rows[is_leading], minlength=part.log_odds.size)),
        "layer": pack_integers(entry_layers[is_leading]),
        "thing": pack_integers(entry_things[is_leading]),
        "amount": pack_floats(entry_amounts[is_leading]),
        "kinds": {one.layer: one.kind == NEIGHBOURS for one in part.through},
    }


MAX_LAYERS = 12
"""Layers with a row, those through which most came."""
MAX_GROUPS = 6
"""Groups named in a layer."""

_LEAST_SHARE = 0.02  # of what came through a layer, below which a group is not named
_LEADING_GROUPS_MAX_NAME_CHARACTERS = 60


def leading_groups(found: Reasons | None, graph: MultilayerGraph, classes: list[str]) -> dict[str, Any] | None:
    """The groups through which most of the predictions came, by layer; None if a method does not tell."""
    if found is None:
        return None
    parts_by_layer: dict[str, sp.csr_array] = {}
    for part in found.parts:
        for one in part.through:
            if one.kind == GROUPS:
                earlier_parts = parts_by_layer.get(one.layer)
                parts_by_layer[one.layer] = one.parts if earlier_parts is None else earlier_parts + one.parts
    layer_records: list[dict[str, Any]] = []
    for layer, parts in parts_by_layer.items():
        group_amounts = np.asarray(abs(parts).sum(axis=0)).ravel()
        amount_total = float(group_amounts.sum())
        if not amount_total > 0:
            continue
        class_contributions = _for_classes(parts, found, len(classes))
        group_names = graph.layers[layer].group_names
        leading_positions = np.argsort(-group_amounts, kind="stable")[:MAX_GROUPS]
        layer_records.append(
            {
                "layer": layer,
                "groups": int((group_amounts > 0).sum()),
                "amount": amount_total / max(found.rows.size, 1),
                "leading": [
                    {
                        "group": shorten(group_names[place], _LEADING_GROUPS_MAX_NAME_CHARACTERS),  # type: ignore[index]
                        "share": float(group_amounts[place] / amount_total),
                        "class": classes[int(class_contributions[place].argmax())],
                    }
                    for place in leading_positions.tolist()
                    if group_amounts[place] >= _LEAST_SHARE * amount_total
                ],
            }
        )
    layer_records.sort(key=lambda row: -row["amount"])
    return {"layers": layer_records[:MAX_LAYERS], "total_layers": len(layer_records)} if layer_records else None


def _for_classes(parts: sp.csr_array, found: Reasons, classes: int) -> np.ndarray:
    """What each group adds to each class, more than the layer's groups do on average, (groups, classes)."""
    row_numbers = np.arange(found.rows.size)
    unit_weights = np.ones(row_numbers.size)
    shape = (row_numbers.size, classes)
    class_signs = sp.csr_array((unit_weights, (row_numbers, found.predicted)), shape=shape) - sp.csr_array(
        (unit_weights, (row_numbers, found.against)), shape=shape
    )
    added_by_class = np.asarray((parts.T @ class_signs).todense())
    group_sizes = np.bincount(parts.tocoo().col, minlength=parts.shape[1])
    mean_contribution = added_by_class.sum(axis=0) / max(int(group_sizes.sum()), 1)
    found_more: np.ndarray = added_by_class - group_sizes[:, None] * mean_contribution
    return found_more
