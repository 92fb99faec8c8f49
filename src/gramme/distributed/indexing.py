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
        own_rows: NDArray[Any] = table[nodes]
        return own_rows
    own_places, own_positions = graph.local_index(nodes)
    gathered_rows = np.empty((nodes.size, *table.shape[1:]), dtype=table.dtype)
    all_places = graph.communicator.gather(own_places.astype(np.int64))
    for part_places, part_rows in zip(all_places, graph.communicator.gather(table[own_positions]), strict=True):
        gathered_rows[part_places] = part_rows
    return gathered_rows


def gather_sparse_rows(graph: MultilayerGraph, table: sp.csr_array, nodes: Ints) -> sp.csr_array:
    """The rows of some nodes of the whole graph, at every process, from a sparse table over the own nodes."""
    if not isinstance(graph, PartGraph):
        return sp.csr_array(table[nodes])
    own_places, own_positions = graph.local_index(nodes)
    own_entries = table[own_positions].tocoo()
    communicator = graph.communicator
    all_rows = np.concatenate(communicator.gather(own_places[own_entries.row].astype(np.int64)))
    all_columns = np.concatenate(communicator.gather(own_entries.col.astype(np.int64)))
    all_weights = np.concatenate(communicator.gather(own_entries.data))
    gathered_rows = sp.csr_array((all_weights, (all_rows, all_columns)), shape=(nodes.size, table.shape[1]))
    gathered_rows.sort_indices()
    return gathered_rows


def gather_columns(graph: MultilayerGraph, places: Ints, names: pd.Index) -> tuple[Ints, pd.Index]:
    """The distinct columns that some process uses, in order, with their names, from those that this process uses."""
    communicator = communicator_of(graph)
    all_places = communicator.gather(places)
    all_names: list[Any] = []
    for names_text in communicator.gather_text(encode(names.tolist()).decode("ascii")):
        all_names += decode(names_text.encode("ascii"))
    distinct_places, first_positions = np.unique(np.concatenate(all_places), return_index=True)
    chosen_names = np.empty(first_positions.size, dtype=object)
    chosen_names[:] = [all_names[name_position] for name_position in first_positions.tolist()]
    return distinct_places, pd.Index(chosen_names, tupleize_cols=False).infer_objects()


def gather_names(graph: PartGraph, nodes: Ints) -> pd.Index:
    """The names of some nodes of the whole graph, at every process; nodes that several ask for are told once."""
    wanted_nodes = np.unique(np.concatenate(graph.communicator.gather(nodes)))
    own_places, own_positions = graph.local_index(wanted_nodes)
    found_names = np.empty(wanted_nodes.size, dtype=object)
    own_text = json.dumps([own_places.tolist(), json.loads(encode(graph.nodes[own_positions].tolist()))])
    for names_text in graph.communicator.gather_text(own_text):
        name_places, listed_names = json.loads(names_text)
        found_names[name_places] = decode(json.dumps(listed_names).encode("ascii"))
    return pd.Index(found_names[np.searchsorted(wanted_nodes, nodes)], dtype=object, tupleize_cols=False)
