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
    class_codes = None
    if graph.labels is not None:
        label_codes, _ = pd.factorize(pd.Series(graph.labels, dtype=object))
        class_codes = label_codes.astype(np.int64)
    kind_names = {"groups": "membership", "edges": "edges"}
    shown_layers = [(name, kind_names[layer.made_of], layer, density(layer)) for name, layer in graph.layers.items()]
    for (first_layer, second_layer), coupling in graph.couplings.items():
        possible_pairs = graph.layers[first_layer].num_present * graph.layers[second_layer].num_present
        coupling_density = coupling.num_edges / possible_pairs if possible_pairs else float("nan")
        shown_layers.append(
            (
                coupling_layer_name(first_layer, second_layer, coupling),
                "coupling",
                coupling.to_layer(),
                coupling_density,
            )
        )
    layer_rows = [
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
        | ({} if class_codes is None else {"homophily": homophily(layer, class_codes)})
        for name, kind, layer, dense in shown_layers
    ]
    summary_table = pd.DataFrame(
        layer_rows, columns=["layer", *SUMMARY, *([] if class_codes is None else ["homophily"])]
    )
    summary_table["groups"] = summary_table["groups"].astype("Int64")
    return summary_table.set_index("layer")


def density(layer: Layer) -> float:
    """Share of possible edges among the nodes present that exist; NaN below two nodes."""
    nodes = layer.num_present
    possible_pairs = nodes * (nodes - 1) if layer.directed else nodes * (nodes - 1) // 2
    return layer.num_edges / possible_pairs if possible_pairs else float("nan")


def components(layer: Layer) -> int:
    """Connected pieces among the nodes present, directions ignored.

    The cost follows the layer's own edges or memberships: of many small layers none looks at all nodes.
    """
    if isinstance(layer, MembershipLayer):
        start_nodes, end_nodes = layer.node, layer.num_nodes + layer.group.astype(np.int64)
        joined_nodes = int(np.unique(start_nodes).size)
        joined_pieces = _pieces(start_nodes, end_nodes)
    else:
        edges = layer.to_edges()
        joined_nodes = int(np.unique(np.concatenate([edges.source, edges.target])).size)
        joined_pieces = _pieces(edges.source, edges.target)
    return joined_pieces + layer.num_present - joined_nodes


def _pieces(start: NDArray[Any], end: NDArray[Any]) -> int:
    """Connected pieces of what pairs of numbers join."""
    distinct_ends, end_positions = np.unique(np.concatenate([start, end]), return_inverse=True)
    ones = np.ones(start.size, dtype=np.int8)
    end_pairs = (end_positions[: start.size], end_positions[start.size :])
    matrix = sp.csr_array((ones, end_pairs), shape=(distinct_ends.size, distinct_ends.size))
    piece_count, _ = connected_components(matrix, directed=False)
    return int(piece_count)


def homophily(layer: Layer, classes: NDArray[np.int64]) -> float:
    """Share of edges between labelled nodes (class >= 0) that join equal classes; NaN without."""
    if isinstance(layer, MembershipLayer):
        node, group = layer.node, layer.group
        is_known = classes[node] >= 0
        if not is_known.any():
            return float("nan")
        class_counts = sp.csr_array(
            (np.ones(int(is_known.sum())), (group[is_known], classes[node[is_known]])),
            shape=(layer.num_groups, int(classes.max()) + 1),
        )
        class_counts.sum_duplicates()
        known_sizes: NDArray[np.float64] = np.asarray(class_counts.sum(axis=1)).ravel()
        equal_pairs = float((class_counts.data * (class_counts.data - 1)).sum())
        all_pairs = float((known_sizes * (known_sizes - 1)).sum())
        return equal_pairs / all_pairs if all_pairs else float("nan")
    edges: EdgeLayer = layer.to_edges()
    source_class, target_class = classes[edges.source], classes[edges.target]
    is_known = (source_class >= 0) & (target_class >= 0)
    return float((source_class == target_class)[is_known].mean()) if is_known.any() else float("nan")


def describe(graph: MultilayerGraph) -> str:
    """The printed form: nodes, layers with their sizes, classes, features."""
    layer_words = []
    for name, layer in list(graph.layers.items())[:4]:
        if layer.group_names is not None:
            layer_words.append(f"{name} {_plural(len(layer.group_names), 'group')}")
        else:
            layer_words.append(f"{name} {_plural(layer.num_edges, 'edge')}")
    if graph.num_layers > 4:
        layer_words.append("...")
    words = [_plural(graph.num_nodes, "node"), _plural(graph.num_layers, "layer")]
    if layer_words:
        words[-1] += ": " + ", ".join(layer_words)
    if graph.couplings:
        coupling_words = [
            f"{coupling_layer_name(first_layer, second_layer, coupling)} {_plural(coupling.num_edges, 'edge')}"
            for (first_layer, second_layer), coupling in list(graph.couplings.items())[:4]
        ]
        more = ", ..." if len(graph.couplings) > 4 else ""
        words.append(_plural(len(graph.couplings), "coupling") + ": " + ", ".join(coupling_words) + more)
    if graph.labels is not None:
        known_labels = sum(label is not None for label in graph.labels)
        words.append(f"{_plural(len(graph.classes), 'class', 'classes')} on {_plural(known_labels, 'node')}")
    if graph.features is not None:
        words.append(_plural(graph.features.shape[1], "feature"))
    if graph.layer_features:
        column_count = sum(matrix.shape[1] for matrix in graph.layer_features.values())
        words.append(f"{_plural(column_count, 'feature')} of {_plural(len(graph.layer_features), 'layer')}")
    title = f"{graph.name!r}, " if graph.name else ""
    return f"MultilayerGraph({title}{', '.join(words)})"


def html(graph: MultilayerGraph) -> str:
    """The form a notebook shows: the printed line and the summary as a table, all text escaped.

    What is so in no layer (a direction, weights, groups) has no column.
    """
    table = summarise(graph).astype(object)
    table = table.where(table.notna(), "")
    said_columns = [name for name in table if any(one is not False and one != "" for one in table[name])]
    shown_html = table[said_columns].rename_axis(None).to_html(float_format="{:.3g}".format, border=0)
    return f"<p><b>{escape(describe(graph))}</b></p>{shown_html}"


def _plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
