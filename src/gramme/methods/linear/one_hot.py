"""A graph's layers as columns of a table: a column per group, and per neighbour where a layer has edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import Layer, MembershipLayer, MultilayerGraph
from gramme.graph.arrays import loose_index
from gramme.methods.saved_fields import SavedField, Sizes, unique_names
from gramme.methods.saving import Learned, plain_name

if TYPE_CHECKING:
    from gramme.methods.base import NodeClassifier

LAYER_KINDS = {True: "groups", False: "edges"}


@dataclass(frozen=True)
class LayerColumns:
    """The columns a layer was seen to have: names of groups, or of nodes that others have edges to."""

    layer: str
    kind: str
    names: pd.Index

    @classmethod
    def seen(
        cls, name: str, layer: Layer, graph: MultilayerGraph, rows: NDArray[np.int64]
    ) -> LayerColumns:
        """Those columns that are not empty in some rows; of others nothing could be learned."""
        matrix, names = _matrix(layer, graph)
        used = np.unique(matrix[rows].indices)
        return cls(name, LAYER_KINDS[isinstance(layer, MembershipLayer)], names[used])

    def matrix(self, graph: MultilayerGraph) -> sp.csr_array:
        """The nodes of a graph by these columns: 1 for a group, the edge's weight for a neighbour."""
        layer = graph.layers[self.layer]
        kind = LAYER_KINDS[isinstance(layer, MembershipLayer)]
        if kind != self.kind:
            raise DataError(
                f"the layer {self.layer!r} has {kind} here; the model was fitted on one with {self.kind}"
            )
        full, names = _matrix(layer, graph)
        places = names.get_indexer(self.names)
        known = np.flatnonzero(places >= 0)
        chosen = full[:, places[known]].tocoo()
        return sp.csr_array(
            (chosen.data, (chosen.row, known[chosen.col])), shape=(graph.num_nodes, len(self.names))
        )

    def record(self) -> dict[str, Any]:
        """As JSON can hold it; names that it cannot hold by their text."""
        return {
            "layer": self.layer,
            "kind": self.kind,
            "names": [plain_name(n) for n in self.names],
        }

    @classmethod
    def from_record(cls, record: Any, field: SavedField, layer: str) -> LayerColumns:
        """What :meth:`record` made a record of, once it is known to fit the layer."""
        if not isinstance(record, dict) or set(record) != {"layer", "kind", "names"}:
            raise field.misfit(f"layer, kind and names for the layer {layer!r}", record)
        if record["layer"] != layer or record["kind"] not in LAYER_KINDS.values():
            raise field.misfit(f"groups or edges of the layer {layer!r}", record)
        return cls(layer, record["kind"], loose_index(unique_names(field, record["names"])))


class SavedColumns(SavedField):
    """The columns of each layer, in the order of the layers."""

    def save(self, model: NodeClassifier, learned: Learned) -> None:
        learned.record[self.name] = [one.record() for one in getattr(model, self.attribute)]

    def load(self, model: NodeClassifier, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        if not isinstance(entry, list) or len(entry) != sizes["layers"]:
            raise self.misfit(f"a list of {sizes['layers']} layers", entry)
        found = [
            LayerColumns.from_record(one, self, layer)
            for one, layer in zip(entry, model.layers_, strict=True)
        ]
        setattr(model, self.attribute, found)


def _matrix(layer: Layer, graph: MultilayerGraph) -> tuple[sp.csr_array, pd.Index]:
    if isinstance(layer, MembershipLayer):
        return layer.incidence(), layer.group_names
    return layer.to_scipy(), graph.nodes
