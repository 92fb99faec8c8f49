"""A graph at a glance: the summary per layer, the printed form and the HTML form.

Everything is counted without building the edges of a membership layer.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from .coupling import coupling_layer_name
from .edge_layer import EdgeLayer
from .layer import Layer
from .membership_layer import MembershipLayer

if TYPE_CHECKING:
    from .multilayer import MultilayerGraph

SUMMARY = ["kind", "nodes", "edges", "groups", "directed", "weighted", "density", "components"]


def summarise(graph: MultilayerGraph) -> pd.DataFrame:
    """One row per layer, then one per coupling, named ``A~B``.

    ``density`` is the share of possible edges that exist among the nodes present;
    ``components`` counts connected pieces among the nodes present, isolated ones included;
    ``homophily`` is the share of edges between two labelled nodes that join equal labels. In a
    membership layer two nodes have one edge per group they share, in all of these counts.
    """
    classes = None
    if graph.labels is not None:
        codes, _ = pd.factorize(pd.Series(graph.labels, dtype=object))
        classes = codes.astype(np.int64)
    kinds = {"groups": "membership", "edges": "edges"}
    shown = [(name, kinds[layer.made_of], layer, density(layer)) for name, layer in graph.layers.items()]
    for (first, second), coupling in graph.couplings.items():
        pairs = graph.layers[first].num_present * graph.layers[second].num_present
        dense = coupling.num_edges / pairs if pairs else float("nan")
        shown.append((coupling_layer_name(first, second, coupling), "coupling", coupling.to_layer(), dense))
    rows = [
        {
            "layer": name,
            "kind": kind,
            "nodes": layer.num_present,
            "edges": layer.num_edges,
            "groups": None if layer.group_names is None else len(layer.group_names),
            "directed": layer.directed,
            "weighted": layer.weighted,
            "density": dense,
            "components": components(layer),
        }
        | ({} if classes is None else {"homophily": homophily(layer, classes)})
        for name, kind, layer, dense in shown
    ]
    table = pd.DataFrame(rows, columns=["layer", *SUMMARY, *([] if classes is None else ["homophily"])])
    table["groups"] = table["groups"].astype("Int64")
    return table.set_index("layer")


def density(layer: Layer) -> float:
    """Share of possible edges among the nodes present that exist; NaN below two nodes."""
    nodes = layer.num_present
    pairs = nodes * (nodes - 1) if layer.directed else nodes * (nodes - 1) // 2
    return layer.num_edges / pairs if pairs else float("nan")


def components(layer: Layer) -> int:
    """Connected pieces among the nodes present, directions ignored.

    The cost follows the layer's own edges or memberships: of many small layers none looks at all nodes.
    """
    if isinstance(layer, MembershipLayer):
        start, end = layer.node, layer.num_nodes + layer.group.astype(np.int64)
        joined = int(np.unique(start).size)
        pieces = _pieces(start, end)
    else:
        edges = layer.to_edges()
        joined = int(np.unique(np.concatenate([edges.source, edges.target])).size)
        pieces = _pieces(edges.source, edges.target)
    return pieces + layer.num_present - joined


def _pieces(start: NDArray[Any], end: NDArray[Any]) -> int:
    """Connected pieces of what pairs of numbers join."""
    ends, places = np.unique(np.concatenate([start, end]), return_inverse=True)
    ones = np.ones(start.size, dtype=np.int8)
    joined = (places[: start.size], places[start.size :])
    matrix = sp.csr_array((ones, joined), shape=(ends.size, ends.size))
    found, _ = connected_components(matrix, directed=False)
    return int(found)


def homophily(layer: Layer, classes: NDArray[np.int64]) -> float:
    """Share of edges between labelled nodes (class >= 0) that join equal classes; NaN without."""
    if isinstance(layer, MembershipLayer):
        node, group = layer.node, layer.group
        known = classes[node] >= 0
        if not known.any():
            return float("nan")
        counts = sp.csr_array(
            (np.ones(int(known.sum())), (group[known], classes[node[known]])),
            shape=(layer.num_groups, int(classes.max()) + 1),
        )
        counts.sum_duplicates()
        sizes: NDArray[np.float64] = np.asarray(counts.sum(axis=1)).ravel()
        inside = float((counts.data * (counts.data - 1)).sum())
        pairs = float((sizes * (sizes - 1)).sum())
        return inside / pairs if pairs else float("nan")
    edges: EdgeLayer = layer.to_edges()
    start, end = classes[edges.source], classes[edges.target]
    known = (start >= 0) & (end >= 0)
    return float((start == end)[known].mean()) if known.any() else float("nan")


def describe(graph: MultilayerGraph) -> str:
    """The printed form: nodes, layers with their sizes, classes, features."""
    parts = []
    for name, layer in list(graph.layers.items())[:4]:
        if layer.group_names is not None:
            parts.append(f"{name} {_plural(len(layer.group_names), 'group')}")
        else:
            parts.append(f"{name} {_plural(layer.num_edges, 'edge')}")
    if graph.num_layers > 4:
        parts.append("...")
    words = [_plural(graph.num_nodes, "node"), _plural(graph.num_layers, "layer")]
    if parts:
        words[-1] += ": " + ", ".join(parts)
    if graph.couplings:
        named = [
            f"{coupling_layer_name(first, second, coupling)} {_plural(coupling.num_edges, 'edge')}"
            for (first, second), coupling in list(graph.couplings.items())[:4]
        ]
        more = ", ..." if len(graph.couplings) > 4 else ""
        words.append(_plural(len(graph.couplings), "coupling") + ": " + ", ".join(named) + more)
    if graph.labels is not None:
        known = sum(label is not None for label in graph.labels)
        words.append(f"{_plural(len(graph.classes), 'class', 'classes')} on {_plural(known, 'node')}")
    if graph.features is not None:
        words.append(_plural(graph.features.shape[1], "feature"))
    if graph.layer_features:
        columns = sum(matrix.shape[1] for matrix in graph.layer_features.values())
        words.append(f"{_plural(columns, 'feature')} of {_plural(len(graph.layer_features), 'layer')}")
    title = f"{graph.name!r}, " if graph.name else ""
    return f"MultilayerGraph({title}{', '.join(words)})"


def html(graph: MultilayerGraph) -> str:
    """The form a notebook shows: the printed line and the summary as a table, all text escaped.

    What is so in no layer (a direction, weights, groups) has no column.
    """
    table = summarise(graph).astype(object)
    table = table.where(table.notna(), "")
    said = [name for name in table if any(one is not False and one != "" for one in table[name])]
    shown = table[said].rename_axis(None).to_html(float_format="{:.3g}".format, border=0)
    return f"<p><b>{escape(describe(graph))}</b></p>{shown}"


def _plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
