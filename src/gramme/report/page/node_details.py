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
        found = np.full(self.label.size, None, dtype=object)
        for place in np.flatnonzero(self.use == LEARNED).tolist():
            found[place] = self.labels[self.label[place] - 1]
        return found

    def chosen(self, most: int = MAX_PAGE_NODES) -> NDArray[np.int64]:
        """The nodes a page shows: all, or the least certain, the doubtful and a random sample of the others."""
        count = len(self.names)
        if count <= most:
            return np.arange(count)
        first = np.argsort(self.probability, kind="stable")[: min(_ALWAYS_SHOWN, most // 4)]
        doubtful = np.flatnonzero(self.doubtful)
        order = np.argsort(-self.judged_probability[doubtful], kind="stable")
        worst = doubtful[order][: min(_ALWAYS_SHOWN, most // 4)]
        fixed = np.union1d(first, worst)
        others = np.setdiff1d(np.arange(count), fixed, assume_unique=True)
        drawn = np.random.default_rng(0).choice(others, most - fixed.size, replace=False)
        return np.sort(np.concatenate([fixed, drawn]))

    def packed(self, chosen: NDArray[np.int64]) -> dict[str, Any]:
        """The rows of some nodes as the page's script reads them."""
        names = [self.names[place] for place in chosen.tolist()]
        shortened = sum(map(len, names)) > _MAX_TEXT_CHARACTERS
        if shortened:
            names = [shorten(one, _MAX_NAME_CHARACTERS) for one in names]
        return {
            "count": len(names),
            "total": len(self.names),
            "shortened": shortened,
            "names": names,
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
    distinct, which = np.unique(sets, axis=0, return_inverse=True)
    names = [" or ".join(name for name, there in zip(classes, row, strict=True) if there) for row in distinct.tolist()]
    return {"names": names, "of": pack_integers(which.ravel())}


def node_table(
    model: NodeClassifier, graph: MultilayerGraph, known: Iterable[Any] | None, predictions: Mapping[Any, Any] | None
) -> NodeTable:
    """What is known about each node.

    ``known`` are the labels that were learned from, None where unknown (the graph's own if not given), ``predictions``
    what models that had not learned from a node's label say, as in :meth:`gramme.evaluation.Estimate.predictions`.
    """
    count = graph.num_nodes
    own_labels = np.full(count, None) if graph.labels is None else graph.labels
    learned = list(own_labels if known is None else known)
    labels = [str(label) for label in model.classes_.tolist()]
    number = {label: place for place, label in enumerate(labels, start=1)}

    def code(value: Any) -> int:
        if value is None or value is pd.NA or value != value:  # NaN is not itself
            return 0
        text = str(value)
        if text not in number:
            labels.append(text)
            number[text] = len(labels)
        return number[text]

    taught = np.array([code(value) for value in learned], dtype=np.int64)
    graph_codes = np.array([code(value) for value in own_labels], dtype=np.int64)
    label = np.where(taught > 0, taught, graph_codes)
    use = np.where(taught > 0, LEARNED, np.where(graph_codes > 0, HELD_OUT, UNLABELLED))

    probabilities = model.predict_proba().astype(np.float64)
    predicted = probabilities.argmax(axis=1) + 1 if count else np.zeros(0, dtype=np.int64)
    judged = np.zeros(count, dtype=np.int64)
    judged_probability, own = np.zeros(count), np.zeros(count)
    doubtful = np.zeros(count, dtype=bool)
    names = [str(one) for one in graph.nodes]
    for place, (node, text) in enumerate(zip(graph.nodes, names, strict=True)):
        found = predictions and (predictions.get(text) or predictions.get(node))
        if found and label[place] > 0:
            judged[place] = code(found["predicted"])
            judged_probability[place] = float(found["probability"])
            own[place] = float(found["own"])
            doubtful[place] = found["suggested"] is not None
    return NodeTable(
        names=names,
        labels=labels,
        label=label,
        predicted=predicted,
        use=use,
        probability=probabilities.max(axis=1) if count else np.zeros(0),
        judged=judged,
        judged_probability=judged_probability,
        own=own,
        doubtful=doubtful,
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
    kept = list(order)[: max(1, MAX_NODE_LAYERS // max(chosen.size, 1))]
    edges = sum(graph.layers[layer].made_of == "edges" for layer in kept)
    most = int(np.clip(_MAX_NEIGHBOUR_ENTRIES // max(chosen.size * edges, 1), 3, MAX_NEIGHBOURS))
    # each layer's attention takes a pass of the model over all layers
    worth = graph.num_nodes * graph.num_layers * len(kept) <= _ATTENTION_WORK
    left_out = not worth and tells_attention(model)
    found = []
    for layer_name in kept:
        layer = graph.layers[layer_name]
        attention = attention_received(model, layer_name) if worth else None
        groups = layer.as_groups()
        if groups is None:
            record = _edges(layer, attention, chosen, most)
        else:
            record = _groups(groups, attention, chosen)
        received = None if attention is None else pack_floats(np.nan_to_num(attention[chosen]))
        found.append({"name": layer_name, "attention": received, "left_out": left_out} | record)
    return found


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
    matrix = layer.to_scipy()
    heard = np.ones(layer.num_nodes) if attention is None else np.nan_to_num(attention)
    rows = sp.csr_array(matrix[chosen])
    total = heard[chosen] + rows @ heard
    owner = np.repeat(np.arange(chosen.size), np.diff(rows.indptr))
    share = rows.data * heard[rows.indices] / np.maximum(total[owner], 1e-300)

    place = np.full(layer.num_nodes, -1, dtype=np.int64)
    place[chosen] = np.arange(chosen.size)
    shown = place[rows.indices] >= 0
    owner, share, other = owner[shown], share[shown], place[rows.indices[shown]]
    ranked = np.lexsort((other, -share, owner))
    owner, share, other = owner[ranked], share[ranked], other[ranked]
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=chosen.size))])
    top = np.arange(owner.size) - starts[owner] < most
    counts = np.bincount(owner[top], minlength=chosen.size)
    return {
        "kind": "edges",
        "directed": layer.directed,
        "most": most,
        "degree": pack_integers(np.diff(rows.indptr)),
        "counts": pack_integers(counts),
        "neighbours": pack_integers(other[top]),
        "shares": None if attention is None else pack_shares(share[top]),
        "self": None if attention is None else pack_shares(heard[chosen] / np.maximum(total, 1e-300)),
        "colour": _edge_colours(matrix, layer, chosen),
    }


def _edge_colours(matrix: sp.csr_array, layer: Layer, chosen: Places) -> dict[str, Any]:
    """Groups by which a layer of edges can be coloured: its connected parts, or where it is one piece, degrees."""
    _, part = connected_components(matrix, directed=False)
    degrees = layer.degrees()
    sizes = np.bincount(part[degrees > 0]) if (degrees > 0).any() else np.zeros(1, dtype=np.int64)
    large = np.flatnonzero(sizes >= max(2, 0.02 * layer.num_nodes))
    if large.size > 1:
        ranked = large[np.argsort(-sizes[large], kind="stable")][:9]
        code = np.full(sizes.size, ranked.size + 1, dtype=np.int64)
        code[ranked] = np.arange(1, ranked.size + 1)
        codes = np.where(degrees > 0, code[np.minimum(part, sizes.size - 1)], 0)
        names = [f"part {number} ({sizes[one]:,} nodes)" for number, one in enumerate(ranked, 1)]
        return _colour("connected parts", codes[chosen], [*names, "a small part"])
    bounds = [1, 2, 3, 5, 9, 17, 33, 65]
    codes = np.digitize(degrees, bounds)
    words = ["1", "2", "3 to 4", "5 to 8", "9 to 16", "17 to 32", "33 to 64", "65 or more"]
    return _colour("number of neighbours", codes[chosen], words) | {"ordered": True}


def _colour(what: str, codes: NDArray[Any], names: list[str]) -> dict[str, Any]:
    return {"what": what, "codes": pack_integers(codes), "names": names}


def _groups(layer: MembershipLayer, attention: Floats | None, chosen: Places) -> dict[str, Any]:
    rows = layer.incidence()[chosen]
    counts = np.diff(rows.indptr)
    heard = np.ones(layer.num_nodes) if attention is None else np.nan_to_num(attention)
    sums = layer.incidence().T @ heard
    used, renumbered = np.unique(rows.indices, return_inverse=True)
    texts = [shorten(one, _NEIGHBOURS_MAX_NAME_CHARACTERS) for one in layer.group_names[used[:_MAX_GROUP_NAMES]]]
    return {
        "kind": "groups",
        "groups": pack_integers(renumbered),
        "names": texts,
        "sizes": pack_integers(layer.sizes[used]),
        "sums": pack_floats(sums[used]),
        "counts": pack_integers(counts),
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
    most = int(np.clip(MAX_PAGE_THROUGH // (chosen.size * len(found.parts)), 1, MAX_THROUGH_PER_PART))
    layers = list(graph.layers)
    names = {layer: _page_numbers(graph, layer, chosen) for layer in layers}
    inner = getattr(model, "models_", {})
    return {
        "against": pack_integers(found.against + 1),
        "layers": layers,
        "parts": [
            {
                "name": part.name,
                "words": INGREDIENTS[part.name].in_words(inner[part.name]) if part.name in inner else part.name,
                "weight": part.weight,
                "value": pack_floats(part.log_odds),
            }
            | _largest(part, layers, names, most)
            for part in found.parts
        ],
    }


def _page_numbers(graph: MultilayerGraph, name: str, chosen: Places) -> Places:
    """The number on the page of each neighbour or group of a layer, counted from 1; 0 for those that are not there."""
    layer = graph.layers[name]
    incidence = layer.incidence()
    if incidence is not None:
        used = np.unique(incidence[chosen].indices).astype(np.int64)
        numbers = np.zeros(incidence.shape[1], dtype=np.int64)
    else:
        used = chosen
        numbers = np.zeros(graph.num_nodes, dtype=np.int64)
    numbers[used] = np.arange(1, used.size + 1)
    return numbers


def _largest(part: Part, layers: list[str], names: dict[str, Places], most: int) -> dict[str, Any]:
    """The largest of what a part came through, for each row."""
    rows, places, things, amounts = [], [], [], []
    for one in part.through:
        entries = sp.coo_array(one.parts)
        kept = entries.data != 0
        rows.append(entries.row[kept])
        places.append(np.full(int(kept.sum()), layers.index(one.layer)))
        things.append(names[one.layer][entries.col[kept]])
        amounts.append(entries.data[kept])
    if not rows:
        return {"counts": None}
    row, amount = np.concatenate(rows), np.concatenate(amounts)
    place, thing = np.concatenate(places), np.concatenate(things)
    order = np.lexsort((-np.abs(amount), row))
    row, amount, place, thing = row[order], amount[order], place[order], thing[order]
    starts = np.searchsorted(row, np.arange(part.log_odds.size))
    top = np.arange(row.size) - starts[row] < most
    return {
        "counts": pack_integers(np.bincount(row[top], minlength=part.log_odds.size)),
        "layer": pack_integers(place[top]),
        "thing": pack_integers(thing[top]),
        "amount": pack_floats(amount[top]),
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
    through: dict[str, sp.csr_array] = {}
    for part in found.parts:
        for one in part.through:
            if one.kind == GROUPS:
                before = through.get(one.layer)
                through[one.layer] = one.parts if before is None else before + one.parts
    layers: list[dict[str, Any]] = []
    for layer, parts in through.items():
        amount = np.asarray(abs(parts).sum(axis=0)).ravel()
        total = float(amount.sum())
        if not total > 0:
            continue
        speaks = _for_classes(parts, found, len(classes))
        names = graph.layers[layer].group_names
        first = np.argsort(-amount, kind="stable")[:MAX_GROUPS]
        layers.append(
            {
                "layer": layer,
                "groups": int((amount > 0).sum()),
                "amount": total / max(found.rows.size, 1),
                "leading": [
                    {
                        "group": shorten(names[place], _LEADING_GROUPS_MAX_NAME_CHARACTERS),  # type: ignore[index]
                        "share": float(amount[place] / total),
                        "class": classes[int(speaks[place].argmax())],
                    }
                    for place in first.tolist()
                    if amount[place] >= _LEAST_SHARE * total
                ],
            }
        )
    layers.sort(key=lambda row: -row["amount"])
    return {"layers": layers[:MAX_LAYERS], "total_layers": len(layers)} if layers else None


def _for_classes(parts: sp.csr_array, found: Reasons, classes: int) -> np.ndarray:
    """What each group adds to each class, more than the layer's groups do on average, (groups, classes)."""
    rows = np.arange(found.rows.size)
    ones = np.ones(rows.size)
    shape = (rows.size, classes)
    sign = sp.csr_array((ones, (rows, found.predicted)), shape=shape) - sp.csr_array(
        (ones, (rows, found.against)), shape=shape
    )
    added = np.asarray((parts.T @ sign).todense())
    members = np.bincount(parts.tocoo().col, minlength=parts.shape[1])
    mean = added.sum(axis=0) / max(int(members.sum()), 1)
    found_more: np.ndarray = added - members[:, None] * mean
    return found_more
