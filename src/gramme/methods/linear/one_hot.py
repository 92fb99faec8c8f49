"""A graph's layers as columns of a table: a column per group, and per neighbour where a layer has edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import Layer, MembershipLayer, MultilayerGraph
from gramme.graph.arrays import loose_index
from gramme.methods.saving import plain, restored

KINDS = {True: "groups", False: "edges"}


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
        return cls(name, KINDS[isinstance(layer, MembershipLayer)], names[used])

    def matrix(self, graph: MultilayerGraph) -> sp.csr_array:
        """The nodes of a graph by these columns: 1 for a group, the edge's weight for a neighbour."""
        layer = graph.layers[self.layer]
        kind = KINDS[isinstance(layer, MembershipLayer)]
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
        return {"layer": self.layer, "kind": self.kind, "names": [_plain(n) for n in self.names]}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> LayerColumns:
        """What :meth:`record` made a record of."""
        return cls(record["layer"], record["kind"], loose_index(restored(record["names"])))


def _matrix(layer: Layer, graph: MultilayerGraph) -> tuple[sp.csr_array, pd.Index]:
    if isinstance(layer, MembershipLayer):
        return layer.incidence(), layer.group_names
    return layer.to_scipy(), graph.nodes


def _plain(name: Any) -> Any:
    try:
        return plain(name, "a name")
    except DataError:
        return str(name)
