"""What methods ask of a graph, which may be one process's part of a larger one.

Positions of labelled nodes are those in the whole graph, and every process knows all of them; tables of rows are those
of its own nodes. On a whole graph every answer is at hand.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._types import Ints
from gramme.graph import MultilayerGraph
from gramme.io.values import decode, encode
from gramme.ops.communicator import communicator_of

from .part_graph import PartGraph


def node_count(graph: MultilayerGraph) -> int:
    """Nodes of the whole graph."""
    return graph.whole.nodes if isinstance(graph, PartGraph) else graph.num_nodes


def global_positions(graph: MultilayerGraph) -> Ints:
    """Positions of a graph's nodes in the whole graph."""
    return graph.places if isinstance(graph, PartGraph) else np.arange(graph.num_nodes)


def local_index(graph: MultilayerGraph, nodes: Ints) -> tuple[Ints, Ints]:
    """Which of some nodes of the whole graph are here, as places in that list, and their positions here."""
    return graph.local_index(nodes) if isinstance(graph, PartGraph) else (np.arange(nodes.size), nodes)


def gather_rows(graph: MultilayerGraph, table: NDArray[Any], nodes: Ints) -> NDArray[Any]:
    """The rows of some nodes of the whole graph, at every process, from a table over the own nodes."""
    if not isinstance(graph, PartGraph):
        rows: NDArray[Any] = table[nodes]
        return rows
    which, positions = graph.local_index(nodes)
    found = np.empty((nodes.size, *table.shape[1:]), dtype=table.dtype)
    places = graph.communicator.gather(which.astype(np.int64))
    for some, part in zip(places, graph.communicator.gather(table[positions]), strict=True):
        found[some] = part
    return found


def gather_sparse_rows(graph: MultilayerGraph, table: sp.csr_array, nodes: Ints) -> sp.csr_array:
    """The same for a sparse table."""
    if not isinstance(graph, PartGraph):
        return sp.csr_array(table[nodes])
    which, positions = graph.local_index(nodes)
    mine = table[positions].tocoo()
    communicator = graph.communicator
    row = np.concatenate(communicator.gather(which[mine.row].astype(np.int64)))
    column = np.concatenate(communicator.gather(mine.col.astype(np.int64)))
    data = np.concatenate(communicator.gather(mine.data))
    found = sp.csr_array((data, (row, column)), shape=(nodes.size, table.shape[1]))
    found.sort_indices()
    return found


def gather_columns(graph: MultilayerGraph, places: Ints, names: pd.Index) -> tuple[Ints, pd.Index]:
    """The distinct columns that some process uses, in order, with their names, from those that this process uses."""
    communicator = communicator_of(graph)
    every = communicator.gather(places)
    listed: list[Any] = []
    for text in communicator.gather_text(encode(names.tolist()).decode("ascii")):
        listed += decode(text.encode("ascii"))
    joined, first = np.unique(np.concatenate(every), return_index=True)
    chosen = np.empty(first.size, dtype=object)
    chosen[:] = [listed[place] for place in first.tolist()]
    return joined, pd.Index(chosen, tupleize_cols=False).infer_objects()


def gather_names(graph: PartGraph, nodes: Ints) -> pd.Index:
    """The names of some nodes of the whole graph, at every process; nodes that several ask for are told once."""
    wanted = np.unique(np.concatenate(graph.communicator.gather(nodes)))
    which, positions = graph.local_index(wanted)
    found = np.empty(wanted.size, dtype=object)
    mine = json.dumps([which.tolist(), json.loads(encode(graph.nodes[positions].tolist()))])
    for text in graph.communicator.gather_text(mine):
        places, listed = json.loads(text)
        found[places] = decode(json.dumps(listed).encode("ascii"))
    return pd.Index(found[np.searchsorted(wanted, nodes)], dtype=object, tupleize_cols=False)
