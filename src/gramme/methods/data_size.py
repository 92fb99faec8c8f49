"""How large data are, as far as the time of a fit depends on it: used only to say how long a fit may take."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gramme.distributed import node_count
from gramme.graph import MultilayerGraph
from gramme.methods.seen_graph import given_columns

CACHED_NODES = 20_000
"""Nodes whose numbers no longer stay near the processor while neighbours are summed."""


@dataclass(frozen=True)
class DataSize:
    """Counts of what a graph has.

    Attributes
    ----------
    nodes, layers : float
    ends : float
        Ends of edges, and memberships of nodes in several groups of a layer.
    memberships : float
        Memberships of nodes in one group of a layer, as a column of a table gives them.
    labels, classes : float
        Known labels and their classes.
    columns : float
        Features of a node.
    """

    nodes: float
    layers: float
    ends: float
    memberships: float
    labels: float
    classes: float
    columns: float

    @classmethod
    def of(cls, graph: MultilayerGraph) -> DataSize:
        """The size of a graph; of one in parts, that of the whole."""
        nodes, members = float(node_count(graph)), 0.0
        for layer in graph.layers.values():
            groups = layer.as_groups()
            if groups is not None and groups.single:
                members += layer.num_entries
        ends = max(graph.num_entries - nodes * graph.num_layers - members, 0.0)
        labels = [] if graph.labels is None else [one for one in graph.labels if one is not None]
        share = len(labels) / max(graph.num_nodes, 1) if graph.labels is not None else 1.0
        return cls(
            nodes,
            graph.num_layers,
            ends,
            members,
            share * nodes,
            max(len(set(labels)), 2),
            given_columns(graph),
        )

    @classmethod
    def guessed(cls, entries: float) -> DataSize:
        """The size of usual data with about so many nodes, memberships and ends of edges."""
        return cls(entries / 8, 2, 0.75 * entries, 0, entries / 30, 3, 0)

    def with_labels(self, share: float) -> DataSize:
        """The same data with a share of the labels."""
        return replace(self, labels=share * self.labels)

    @property
    def copies(self) -> float:
        """Nodes of all layers."""
        return self.nodes * self.layers

    @property
    def entries(self) -> float:
        """``MultilayerGraph.num_entries``."""
        return self.copies + self.ends + self.memberships

    @property
    def out_of_cache(self) -> float:
        """From 0 for few nodes to 1 for so many that each step to a neighbour goes to the main memory."""
        return math.pow(min(1.0, self.nodes / CACHED_NODES), 1.5)
