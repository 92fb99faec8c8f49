"""The supra graph, built explicitly: a copy of every node per layer, pillars between copies, couplings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from gramme.graph.multilayer import MultilayerGraph


def supra_adjacency(graph: MultilayerGraph) -> sp.csr_array:
    """Adjacency over ``num_layers * num_nodes`` copies; absent copies have a row but no edges."""
    size = graph.num_nodes
    layers = list(graph.layers.values())
    if not layers:
        return sp.csr_array((0, 0))
    blocks: list[list[Any]] = []
    for here, layer in enumerate(layers):
        row: list[Any] = []
        for there, other in enumerate(layers):
            if here == there:
                row.append(layer.to_scipy())
            else:
                both = (layer.present & other.present).astype(np.float64)
                row.append(sp.csr_array(sp.diags_array(both, shape=(size, size))))
        blocks.append(row)
    place = {name: position for position, name in enumerate(graph.layers)}
    for (first, second), coupling in graph.couplings.items():
        a, b, between = place[first], place[second], coupling.to_scipy()
        blocks[a][b] = sp.csr_array(blocks[a][b] + between)
        if not coupling.directed:
            blocks[b][a] = sp.csr_array(blocks[b][a] + between.T)
    supra = sp.csr_array(sp.block_array(blocks, format="csr"))
    supra.eliminate_zeros()
    supra.sort_indices()
    return supra
