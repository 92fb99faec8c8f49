"""One process's part of a graph, on which models are fitted as on a whole graph.

``nodes``, ``labels``, ``features`` and all results are those of this process's nodes. What has to be known of all nodes
(the known labels, sums, the number of nodes) is asked from ``communicator``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from inspect import signature
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._types import Ints
from gramme.errors import DataError
from gramme.graph import Layer, MembershipLayer, MultilayerGraph
from gramme.graph.arrays import BoolArray
from gramme.ops.communicator import Communicator
from gramme.ops.parts import Links

# The layers of a graph as one process holds them: the edges of its nodes, and its members of the
# groups.


def _refuse(*_: Any, **__: Any) -> Any:
    raise DataError(
        "this cannot be had at one process: the graph is spread over several, so that edges, neighbours and counts of "
        "all nodes are not here; read it whole for that"
    )


class PartEdges(Layer):
    """The edges of one process's nodes to nodes anywhere; ``num_edges`` and ``num_entries`` are those of all processes.

    ``halo_place`` has the positions in the whole graph of the nodes of others that nodes here listen to.
    """

    made_of = "edges"
    group_names = None
    columns = neighbour_sums = with_entries = to_edges = to_scipy = neighbours = subset = _refuse
    links: Links
    halo_place: Ints
    _weighted: bool
    _edges: int

    def __init__(
        self,
        links: Links,
        halo_place: Ints,
        *,
        directed: bool,
        weighted: bool,
        num_edges: int,
        present: BoolArray | None,
    ) -> None:
        self.num_nodes = links.rows
        self.links, self.halo_place = links, halo_place
        self.directed, self._weighted, self._edges = directed, weighted, num_edges
        self.self_loops_dropped = self.duplicates_merged = 0
        self.features = self.feature_names = None
        self._present = present

    @property
    def part(self) -> Links:
        return self.links

    @property
    def num_edges(self) -> int:
        return self._edges

    num_entries = num_edges

    @property
    def weighted(self) -> bool:
        return self._weighted

    def degrees(self) -> NDArray[np.int64]:
        return np.diff(self.links.matrix.indptr).astype(np.int64)

    def heard_places(self, places: Ints) -> Ints:
        """Positions in the whole graph of the columns of ``links.matrix``, from those of this process's nodes."""
        return np.concatenate([places, self.halo_place])

    def __repr__(self) -> str:
        return f"PartEdges({self.num_nodes} nodes here, {self.num_edges} edges in all)"


class PartGroups(MembershipLayer):
    """The members that one process has of groups.

    Attributes
    ----------
    group_names : pandas.Index
        Of the groups with members here.
    sizes : array of int
        Members of each of them, at all processes.
    group_place : array of int
        The number of each in the whole layer.
    shared : array of int
        The number of each among the groups that have members at several processes, -1 for others.
    shared_count : int
        How many such groups there are.
    communicator : Communicator
    """

    neighbour_sums = with_entries = to_edges = to_scipy = neighbours = subset = _refuse
    group_place: Ints
    shared: Ints
    shared_count: int
    communicator: Communicator
    _facts: dict[str, Any]

    def __init__(
        self,
        num_nodes: int,
        counts: NDArray[Any],
        group: NDArray[Any],
        group_names: pd.Index,
        *,
        weight: NDArray[np.float64] | None,
        sizes: Ints,
        group_place: Ints,
        shared: Ints,
        facts: dict[str, Any],
        present: BoolArray | None,
        communicator: Communicator,
    ) -> None:
        self.num_nodes, self.communicator = num_nodes, communicator
        self.group, self.group_names, self.weight = group, group_names, weight
        self.sizes, self._counts, self._present = sizes, counts, present
        self.group_place, self.shared, self.shared_count = group_place, shared, facts["shared"]
        self.duplicates_merged = 0
        self.features = self.feature_names = None
        self._facts = facts

    @property
    def part(self) -> PartGroups:
        return self

    @property
    def single(self) -> bool:
        """Whether no node anywhere is in more than one group, and none by a weight."""
        return bool(self._facts["single"])

    @property
    def weighted(self) -> bool:
        return bool(self._facts["weighted"])

    @property
    def num_edges(self) -> int:
        """Implied edges of the whole layer."""
        return int(self._facts["edges"])

    @property
    def groups_in_all(self) -> int:
        """Groups of the whole layer."""
        return int(self._facts["groups"])

    @property
    def num_entries(self) -> int:
        """Memberships of the whole layer."""
        return int(self._facts["memberships"])

    def __repr__(self) -> str:
        return f"PartGroups({self.num_nodes} nodes here, {self.groups_in_all} groups in all)"


@dataclass(frozen=True)
class WholeFacts:
    """What every process knows of the whole graph.

    Attributes
    ----------
    nodes : int
    entries : int
        ``MultilayerGraph.num_entries`` of the whole.
    part_sizes : array of int, shape (processes,)
        Nodes of every process.
    classes : tuple
        The distinct labels in order, of which parts hold the numbers.
    """

    nodes: int
    entries: int
    part_sizes: Ints
    classes: tuple[Any, ...]


@dataclass(frozen=True)
class PartCouplings:
    """Couplings between layers: over the stacked copies of a part's nodes, and as layers of their own."""

    links: Links
    directed: bool
    layers: Mapping[str, PartEdges]


class PartGraph(MultilayerGraph):
    """The part of a graph that one process owns; made by :func:`gramme.distributed.storage`.

    Attributes
    ----------
    communicator : Communicator
        This process among those that hold the other parts.
    whole : WholeFacts
    places : array of int, ascending
        Positions of this part's nodes in the whole graph, whose nodes are in the order of their names.
    given : array of int
        Positions they had before they were put in that order.
    label_codes : array of int
        The numbers of the nodes' labels among ``whole.classes``, -1 where unknown.
    """

    # What would be about this process's nodes alone, or mix their numbers with those of the whole graph
    summary = subgraph = neighbors = supra_adjacency = plot = _refuse
    to_scipy = to_networkx = to_pyg = to_pandas = _refuse
    communicator: Communicator
    whole: WholeFacts
    places: Ints
    given: Ints
    label_codes: Ints
    part_couplings: PartCouplings | None

    def __init__(
        self,
        layers: Mapping[str, Layer],
        *,
        nodes: pd.Index,
        places: Ints,
        given: Ints,
        label_codes: Ints,
        communicator: Communicator,
        whole: WholeFacts,
        features: Any = None,
        layer_features: Mapping[str, Any] | None = None,
        part_couplings: PartCouplings | None = None,
        masks: Mapping[str, BoolArray] | None = None,
        name: str | None = None,
    ) -> None:
        self.nodes = nodes
        self.layers = MappingProxyType(dict(layers))
        self.communicator, self.whole = communicator, whole
        self.places, self.given = places, given
        self.label_codes, self.part_couplings = label_codes, part_couplings
        self.features, self.feature_names, self.name = features, None, name
        self.layer_features = MappingProxyType(dict(layer_features or {}))
        self.couplings = MappingProxyType({})
        self.masks = MappingProxyType(dict(masks or {}))
        own_labels = np.empty(len(nodes), dtype=object)
        labelled_nodes = np.flatnonzero(label_codes >= 0)
        for node_place, label_code in zip(labelled_nodes.tolist(), label_codes[labelled_nodes].tolist(), strict=True):
            own_labels[node_place] = whole.classes[label_code]
        self.labels = own_labels if whole.classes else None

    @property
    def coupled(self) -> bool:
        """Whether the whole graph has edges between layers."""
        return self.part_couplings is not None

    @property
    def num_entries(self) -> int:
        """Nodes of all layers, memberships, and edges from each end, of the whole graph."""
        return self.whole.entries

    def replace(self, **changes: Any) -> PartGraph:
        part_names = list(signature(PartGraph.__init__).parameters)[1:]
        graph_parts: dict[str, Any] = {name: getattr(self, name) for name in part_names}
        kept_layers = changes.get("layers", self.layers)
        graph_parts["layer_features"] = {
            name: matrix for name, matrix in self.layer_features.items() if name in kept_layers
        }
        return PartGraph(**(graph_parts | changes))

    def with_coupling_layers(self) -> PartGraph:
        if self.part_couplings is None:
            return self
        all_layers = {**self.layers, **self.part_couplings.layers}
        ordered_layers = {name: all_layers[name] for name in sorted(all_layers)}
        return self.replace(layers=ordered_layers, part_couplings=None)

    @property
    def training_codes(self) -> Ints:
        """The label codes of the nodes to learn from: those in the mask "train" where there is one; -1 for others."""
        train_mask = self.masks.get("train")
        return self.label_codes if train_mask is None else np.where(train_mask, self.label_codes, -1)

    # Positions in the whole graph and here

    def local_index(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Which of some nodes of the whole graph are here, as places in that list, and their positions here."""
        own_positions = np.searchsorted(self.places, nodes)
        is_here = own_positions < self.places.size
        is_here[is_here] = self.places[own_positions[is_here]] == nodes[is_here]
        places_here = np.flatnonzero(is_here)
        return places_here, own_positions[places_here]

    @cached_property
    def _all_places(self) -> list[Ints]:
        return self.communicator.gather(np.asarray(self.places, dtype=np.int64))

    def in_order(self, rows: NDArray[Any]) -> NDArray[Any]:
        """A row for every node of the whole graph, in its order, from the rows that all processes have."""
        return self._put_at(self._all_places, self.communicator.gather(rows))

    def at_first(self, rows: NDArray[Any]) -> NDArray[Any] | None:
        """A row for every node in the order they were given in, at the first process; None at the others."""
        given_places = self.communicator.gather_to_first(np.asarray(self.given, dtype=np.int64))
        rank_rows = self.communicator.gather_to_first(np.ascontiguousarray(rows))
        return None if given_places is None or rank_rows is None else self._put_at(given_places, rank_rows)

    def _put_at(self, places: Sequence[Ints], parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        all_rows = np.empty((self.whole.nodes, *parts[0].shape[1:]), dtype=parts[0].dtype)
        for rank_places, rank_part in zip(places, parts, strict=True):
            all_rows[rank_places] = rank_part
        return all_rows

    def __repr__(self) -> str:
        return (
            f"PartGraph({self.num_nodes} of {self.whole.nodes} nodes, {self.num_layers} layers, "
            f"part {self.communicator.rank + 1} of {self.communicator.size})"
        )

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(repr(self))}</b></p>"
