"""What a text format cannot hold: names that are not text, the groups of membership layers, absent nodes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from gramme._text import setting
from gramme.errors import DataError, LossyFormatWarning
from gramme.graph import Coupling, EdgeLayer, MembershipLayer, MultilayerGraph

from .values import format_number, is_unknown, unknown_marks

#: Implied edges of a membership layer that are still written out one by one.
MAX_IMPLIED_EDGES = 50_000_000
#: Cells of sparse features that are still written out one by one.
MAX_FEATURE_CELLS = 50_000_000


def lossy(format_name: str, what: str) -> None:
    """Warn that a part of the graph is not in the file."""
    warnings.warn(f"the format {format_name!r} cannot hold {what}", LossyFormatWarning, stacklevel=3)


@dataclass
class TextGraph:
    """A graph with everything as text, ready to be written."""

    graph: MultilayerGraph
    nodes: list[str]
    labels: list[str] | None
    layers: dict[str, EdgeLayer | MembershipLayer]

    def edges(self) -> Iterator[tuple[str, EdgeLayer]]:
        """The edge layers."""
        for layer_name, layer in self.layers.items():
            if isinstance(layer, EdgeLayer):
                yield layer_name, layer

    def couplings(self) -> Iterator[tuple[str, str, Coupling]]:
        """The couplings with the names of their layers."""
        for (first_layer, second_layer), coupling in self.graph.couplings.items():
            yield first_layer, second_layer, coupling

    def parts(self) -> Iterator[tuple[str, str, EdgeLayer | Coupling]]:
        """The edge layers and the couplings with the layers of both ends."""
        yield from ((layer_name, layer_name, layer) for layer_name, layer in self.edges())
        yield from self.couplings()

    def named_edges(self, part: EdgeLayer | Coupling) -> Iterator[tuple[str, str, float | None]]:
        """The names of both ends of each edge, and its weight or None."""
        for source, target, edge_weight in edges_of(part):
            yield self.nodes[source], self.nodes[target], edge_weight

    def node_facts(self) -> Iterator[tuple[str, dict[str, str | float]]]:
        """Each node with its label, if it has one, and its features, as attributes by name."""
        feature_matrix = self.features()
        for node_index, node_name in enumerate(self.nodes):
            facts: dict[str, str | float] = {}
            if self.labels is not None and self.labels[node_index]:
                facts["label"] = self.labels[node_index]
            for number, value in enumerate(feature_matrix[node_index] if feature_matrix else (), start=1):
                facts[f"feature_{number}"] = float(value)
            yield node_name, facts

    @property
    def coupled(self) -> bool:
        """Whether there is an edge between layers."""
        return any(coupling.num_edges for _, _, coupling in self.couplings())

    def features(self) -> list[list[str]] | None:
        """The features as text, one row per node."""
        matrix = self.graph.features
        if matrix is None or 0 in matrix.shape:
            return None
        if matrix.shape[0] * matrix.shape[1] > MAX_FEATURE_CELLS:
            raise DataError(
                f"features of shape {matrix.shape} are too many to write as text; the format 'npz' holds them"
            )
        dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        return [[format_number(value) for value in row] for row in dense.tolist()]


def edges_of(part: EdgeLayer | Coupling) -> Iterator[tuple[int, int, float | None]]:
    """The positions of both ends of each edge, and its weight or None."""
    edge_weights = repeat(None) if part.weight is None else part.weight.tolist()
    return zip(part.source.tolist(), part.target.tolist(), edge_weights, strict=False)


def as_text(
    graph: MultilayerGraph,
    format_name: str,
    *,
    groups: bool = False,
    presence: bool = False,
    weights: bool = True,
    directions: bool = True,
    labels: bool = True,
    features: bool = True,
    couplings: bool = False,
    masks: bool = False,
) -> TextGraph:
    """The graph as text for a format that can hold what the flags say; warns of what it cannot."""
    if groups:
        graph_layers: dict[str, Any] = dict(graph.layers)
    else:
        graph_layers = {
            layer_name: _edges_of(layer_name, layer, format_name) for layer_name, layer in graph.layers.items()
        }
        lost = [layer_name for layer_name, layer in graph.layers.items() if isinstance(layer, MembershipLayer)]
        if lost:
            named = ", ".join(map(repr, lost[:3])) + (", ..." if len(lost) > 3 else "")
            lossy(format_name, f"the groups of membership layers ({named}); their edges are written instead")
    coupled = couplings and any(each.num_edges for each in graph.couplings.values())
    if not presence:
        if coupled and not _holds_named_nodes(graph, graph_layers):
            lossy(format_name, "which nodes a layer holds beyond those its edges name")
        if not coupled and not all(layer.holds_all_nodes for layer in graph_layers.values()):
            lossy(format_name, "which nodes are absent from a layer; every layer will hold all nodes")
    if any(bool((each.source == each.target).any()) for each in graph.couplings.values() if couplings):
        lossy(format_name, "edges between the copies of a node, which are read as implied")
    if graph.masks and not masks:
        lossy(format_name, f"masks ({', '.join(graph.masks)[:100]}); the formats 'csv', 'parquet' and 'npz' do")
    if graph.couplings and not couplings:
        named = ", ".join(f"{a!r} and {b!r}" for a, b in list(graph.couplings)[:3])
        lossy(format_name, f"couplings between layers ({named})")
    if graph.layer_features:
        lossy(format_name, "the features of single layers; the format 'npz' does")
    if any(layer.features is not None for layer in graph.layers.values()):
        lossy(format_name, "the features of edges; the format 'npz' does")
    if not weights and any(layer.weighted for layer in graph_layers.values()):
        lossy(format_name, "weights")
    every = [*graph_layers.values(), *(graph.couplings.values() if couplings else ())]
    if not directions and any(each.directed for each in every):
        lossy(format_name, f"the direction of edges; read it with {setting('directed', True)}")
    text_labels = None
    if graph.labels is not None:
        if labels:
            text_labels = _labels_text(graph.labels, format_name)
        else:
            lossy(format_name, "labels")
    if graph.features is not None and (not features or 0 in graph.features.shape):
        lossy(format_name, "features" if not features else "features without rows or columns")
    node_names = text_names(graph.nodes, format_name, "node")
    return TextGraph(graph, node_names, text_labels, graph_layers)


def _holds_named_nodes(graph: MultilayerGraph, layers: dict[str, EdgeLayer | MembershipLayer]) -> bool:
    """Whether every layer holds just the nodes that its edges and couplings name."""
    for layer_name, layer in layers.items():
        named = np.zeros(graph.num_nodes, dtype=bool)
        edges = layer.to_edges()
        named[edges.source] = named[edges.target] = True
        for (first_layer, second_layer), coupling in graph.couplings.items():
            named[coupling.source] |= layer_name == first_layer
            named[coupling.target] |= layer_name == second_layer
        if not bool((named == layer.present).all()):
            return False
    return True


def _edges_of(name: str, layer: object, format_name: str) -> EdgeLayer:
    if not isinstance(layer, MembershipLayer):
        assert isinstance(layer, EdgeLayer)
        return layer
    if layer.num_edges > MAX_IMPLIED_EDGES:
        raise DataError(
            f"the groups of the layer {name!r} imply {layer.num_edges:,} edges, too many for the format "
            f"{format_name!r}; the formats 'csv', 'parquet' and 'npz' hold the groups themselves"
        )
    return layer.to_edges()


def text_names(names: Iterable[object], format_name: str, what: str) -> list[str]:
    """Names as text: distinct and not empty, with a warning where some are not text by themselves."""
    listed_names = list(names)
    texts = [listed_name if isinstance(listed_name, str) else str(listed_name) for listed_name in listed_names]
    other = next((listed_name for listed_name in listed_names if not isinstance(listed_name, str)), None)
    if other is not None:
        kind = type(other).__name__
        lossy(format_name, f"{what} names that are not text: {other!r} ({kind}) becomes {str(other)!r}")
    if len(set(texts)) != len(texts):
        raise DataError(f"two {what}s have the same name when written as text; the format 'npz' tells them apart")
    if "" in texts:
        raise DataError(f"a {what} has the empty name '', which only the format 'npz' can hold")
    return texts


def _labels_text(labels: Iterable[object], format_name: str) -> list[str]:
    listed_names = list(labels)
    other = next(
        (node_label for node_label in listed_names if node_label is not None and not isinstance(node_label, str)), None
    )
    if other is not None:
        kind = type(other).__name__
        lossy(format_name, f"labels that are not text: {other!r} ({kind}) becomes {str(other)!r}")
    texts = ["" if node_label is None else str(node_label) for node_label in listed_names]
    if any(not text and node_label is not None for text, node_label in zip(texts, listed_names, strict=True)):
        lossy(format_name, "the empty label ''; it becomes unknown")
    mark = next((text for text in texts if text and is_unknown(text, unknown_marks())), None)
    if mark is not None:
        lossy(format_name, f"the label {mark!r}: it is read as unknown (keep_na=True keeps NA)")
    if len({text for text in texts if text}) != len(
        {node_label for node_label in listed_names if node_label not in (None, "")}
    ):
        raise DataError("two labels are the same when written as text; the format 'npz' tells them apart")
    return texts
