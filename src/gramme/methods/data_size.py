"""How large data are, as far as the time of a fit depends on it: used only to say how long a fit may take."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gramme.distributed import node_count
from gramme.graph import MultilayerGraph

from .labels import ENOUGH_LABELS
from .prepare import given_columns

CACHED_NODES = 20_000
"""Nodes whose numbers just stay near the processor while neighbours are summed."""
MOST_REACH = 4.0


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
    def reach(self) -> float:
        """How far away a neighbour's numbers lie, 1 where all nodes just stay near the processor."""
        share = self.nodes / CACHED_NODES
        return share if share < 1 else min(math.pow(share, 0.55), MOST_REACH)

    def folds(self, folds: int) -> int:
        """How many of the folds are tested: fewer of many labels (:func:`~gramme.methods.labels.enough_folds`)."""
        return min(folds, math.ceil(ENOUGH_LABELS * folds / max(self.labels, 1)))
