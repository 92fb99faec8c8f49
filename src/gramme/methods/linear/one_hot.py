"""A graph's layers as columns of a table: a column per group, and per neighbour where a layer has edges."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.distributed import PartGraph, local_index
from gramme.distributed.indexing import gather_columns, gather_names
from gramme.distributed.part_graph import PartEdges, PartGroups
from gramme.errors import DataError
from gramme.graph import Layer, MultilayerGraph
from gramme.graph.arrays import loose_index
from gramme.methods.persistence import Learned, SavedField, Sizes, plain_name, unique_names

if TYPE_CHECKING:
    from gramme.methods.base import GraphEstimator

LAYER_KINDS = ("groups", "edges")


@dataclass(frozen=True)
class LayerColumns:
    """The columns a layer was seen to have: names of groups, or of nodes that others have edges to."""

    layer: str
    kind: str
    names: pd.Index
    places: NDArray[np.int64] | None = None  # of the columns in a whole layer, where the graph is in parts

    @classmethod
    def seen(cls, name: str, layer: Layer, graph: MultilayerGraph, rows: NDArray[np.int64]) -> LayerColumns:
        """Those columns that are not empty in some rows; of others nothing could be learned."""
        if isinstance(graph, PartGraph):
            return cls(name, layer.made_of, *_seen_in_parts(graph, layer, rows))
        layer_matrix, column_names = layer.columns(graph.nodes)
        used_columns = np.flatnonzero(np.bincount(layer_matrix[rows].indices))
        return cls(name, layer.made_of, column_names[used_columns])

    def matrix(self, graph: MultilayerGraph) -> sp.csr_array:
        """The nodes of a graph by these columns: 1 for a group, the edge's weight for a neighbour."""
        layer = graph.layers[self.layer]
        if layer.made_of != self.kind:
            raise DataError(
                f"the layer {self.layer!r} has {layer.made_of} here; the model was fitted on one with {self.kind}"
            )
        if isinstance(graph, PartGraph) and self.places is not None:
            return _matrix_in_parts(graph, layer, self.places)
        full, names = layer.columns(graph.nodes)
        places = names.get_indexer(self.names)
        known = np.flatnonzero(places >= 0)
        chosen = full[:, places[known]].tocoo()
        return sp.csr_array((chosen.data, (chosen.row, known[chosen.col])), shape=(graph.num_nodes, len(self.names)))

    def record(self) -> dict[str, Any]:
        """As JSON can hold it; names that it cannot hold by their text."""
        return {"layer": self.layer, "kind": self.kind, "names": [plain_name(n) for n in self.names]}

    @classmethod
    def from_record(cls, record: Any, field: SavedField, layer: str) -> LayerColumns:
        """What :meth:`record` made a record of, once it is known to fit the layer."""
        if not isinstance(record, dict) or set(record) != {"layer", "kind", "names"}:
            raise field.misfit(f"layer, kind and names for the layer {layer!r}", record)
        if record["layer"] != layer or record["kind"] not in LAYER_KINDS:
            raise field.misfit(f"groups or edges of the layer {layer!r}", record)
        return cls(layer, record["kind"], loose_index(unique_names(field, record["names"])))


def _columns_in_parts(graph: PartGraph, layer: Layer) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """A part's rows of a layer's table, and the numbers of its columns in the whole layer."""
    if isinstance(layer, PartGroups):
        return layer.incidence(), layer.group_place
    assert isinstance(layer, PartEdges)
    return layer.links.matrix, layer.heard_places(graph.places)


def _seen_in_parts(graph: PartGraph, layer: Layer, rows: NDArray[np.int64]) -> tuple[pd.Index, NDArray[np.int64]]:
    """Names and numbers of the columns that are not empty in some rows, wherever these are."""
    part_matrix, column_places = _columns_in_parts(graph, layer)
    used_here = np.unique(part_matrix[local_index(graph, rows)[1]].indices)
    if isinstance(layer, PartGroups):
        used_columns, column_names = gather_columns(graph, column_places[used_here], layer.group_names[used_here])
        return column_names, used_columns
    used_columns = np.unique(np.concatenate(graph.communicator.gather(column_places[used_here])))
    return gather_names(graph, used_columns), used_columns


def _matrix_in_parts(graph: PartGraph, layer: Layer, columns: NDArray[np.int64]) -> sp.csr_array:
    """A part's rows by some columns of the whole layer."""
    part_matrix, column_places = _columns_in_parts(graph, layer)
    column_number = np.searchsorted(columns, column_places)
    is_known = column_number < columns.size
    is_known[is_known] = columns[column_number[is_known]] == column_places[is_known]
    entries = part_matrix.tocoo()
    is_kept = is_known[entries.col]
    entry_index = (entries.row[is_kept], column_number[entries.col[is_kept]])
    entry_weights = entries.data[is_kept].astype(np.float64)
    return sp.csr_array((entry_weights, entry_index), shape=(graph.num_nodes, columns.size))


def kinds_of_columns(columns: Sequence[LayerColumns], features: int) -> set[str]:
    """What columns and so many features stand for: some of "groups", "edges" (neighbours) and "features"."""
    return {one.kind for one in columns if len(one.names)} | ({"features"} if features else set())


def kinds_in_words(kinds: Collection[str]) -> str:
    """The same for a sentence; nothing where there are no columns.

    >>> kinds_in_words({"groups"}), kinds_in_words({"edges", "features"})
    ('who belongs to which group', "each node's neighbours and features")
    """
    kind_words = {"groups": "groups", "edges": "neighbours", "features": "features"}
    seen_words = [word for kind, word in kind_words.items() if kind in kinds]
    if seen_words == ["groups"]:
        return "who belongs to which group"
    joined_words = " and ".join([", ".join(seen_words[:-1]), seen_words[-1]] if seen_words[1:] else seen_words)
    return f"each node's {joined_words}" if seen_words else ""


class SavedColumns(SavedField):
    """The columns of each layer, in the order of the layers."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = [one.record() for one in getattr(model, self.attribute)]

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        if not isinstance(entry, list) or len(entry) != sizes["layers"]:
            raise self.misfit(f"a list of {sizes['layers']} layers", entry)
        layer_columns = [
            LayerColumns.from_record(one, self, layer) for one, layer in zip(entry, model.layer_order_, strict=True)
        ]
        setattr(model, self.attribute, layer_columns)
