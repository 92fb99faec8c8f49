"""Who is near whom in each layer, and how much each is attended to, in a form small enough for a page.

With a_j the attention that node j receives in a layer relative to the average node, node i hears its neighbour j to
the share c_ij a_j / (a_i + sum_k c_ik a_k) of all it hears, itself counted once. A layer of edges keeps the few
neighbours with the largest shares. A membership layer keeps who is in which group and each group's sum of a, from
which the page finds the same shares: its edges are never listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.graph.layer import Layer
from gramme.methods import NodeClassifier
from gramme.methods.auto.gramme_auto import GrammeAuto
from gramme.report.page.html import shorten
from gramme.report.page.pack import Packed, pack_floats, pack_integers, pack_shares

MAX_NODE_LAYERS = 1_000_000
"""Nodes times layers that a page holds; of more layers, the most important ones."""
MAX_NEIGHBOURS = 30
"""Neighbours of a node that a page holds in a layer of edges."""

_MAX_NEIGHBOUR_ENTRIES = 400_000  # neighbours that a page holds in all layers of edges together
_ATTENTION_WORK = (
    20_000_000  # nodes x layers x layers shown, beyond which attention is left out of a page
)
_MAX_GROUP_NAMES = 20_000  # groups of a layer whose names a page holds
_MAX_NAME_CHARACTERS = 120

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def neighbourhoods(
    model: NodeClassifier, graph: MultilayerGraph, chosen: Places, order: Sequence[str]
) -> list[dict[str, Any]]:
    """The layers that a page holds, in the order given (most important first).

    Parameters
    ----------
    model : NodeClassifier
        Fitted on ``graph``.
    graph : MultilayerGraph
    chosen : array of int
        The nodes the page shows.
    order : sequence of str
        Names of layers.
    """
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
    return hasattr(model, "node_attention") and (
        not isinstance(model, GrammeAuto) or hasattr(model, "attention_")
    )


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
        "self": None
        if attention is None
        else pack_shares(heard[chosen] / np.maximum(total, 1e-300)),
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
    texts = [
        shorten(one, _MAX_NAME_CHARACTERS) for one in layer.group_names[used[:_MAX_GROUP_NAMES]]
    ]
    record: dict[str, Any] = {
        "kind": "groups",
        "groups": pack_integers(renumbered),
        "names": texts,
        "sizes": pack_integers(layer.sizes[used]),
        "sums": pack_floats(sums[used]),
    }
    single: Packed = pack_integers(counts)
    return record | {"counts": single}
