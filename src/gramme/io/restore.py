"""Graphs put together again from arrays that a graph was saved as, without copying or sorting them anew.

The arrays may live on disk, so they are checked in blocks and used as they are. What does not hold is a ValueError.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.graph import EdgeLayer, Layer, MultilayerGraph
from gramme.graph.arrays import name_index, smallest_int

_BLOCK_VALUES = 1 << 18


def restored_edges(
    num_nodes: int,
    source: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[Any] | None,
    directed: bool,
    present: NDArray[np.bool_] | None,
) -> EdgeLayer:
    """A layer from its own edges: in range, sorted, each once, no self loops, weights positive."""
    if source.size != target.size or (weight is not None and weight.size != source.size):
        raise ValueError("sources, targets and weights differ in number")
    last = -1
    for block in _blocks(source.size):
        start, end = source[block].astype(np.int64), target[block].astype(np.int64)
        if min(start.min(), end.min()) < 0 or max(start.max(), end.max()) >= num_nodes:
            raise ValueError("an edge touches a node that does not exist")
        if not (start != end if directed else start < end).all():
            raise ValueError("an edge is a self loop or stands the wrong way round")
        if present is not None and not (present[start] & present[end]).all():
            raise ValueError("an edge touches a node that is absent from its layer")
        place = start * num_nodes + end
        if place[0] <= last or not (place[1:] > place[:-1]).all():
            raise ValueError("the edges are not sorted")
        last = int(place[-1])
        if weight is not None and not (np.isfinite(weight[block]) & (weight[block] > 0)).all():
            raise ValueError("a weight is not a positive number")
    if weight is not None and (weight.dtype != np.float64 or not weight.size):
        raise ValueError("weights must be numbers of 64 bits")
    layer = EdgeLayer.__new__(EdgeLayer)
    layer.__setstate__(
        {
            "num_nodes": num_nodes,
            "directed": directed,
            "_present": None if present is None or present.all() else present,
            "source": smallest_int(source, num_nodes),
            "target": smallest_int(target, num_nodes),
            "weight": weight,
            "self_loops_dropped": 0,
            "duplicates_merged": 0,
        }
    )
    return layer


def restored_graph(
    layers: dict[str, Layer],
    nodes: pd.Index,
    labels: NDArray[np.object_] | None,
    features: Any,
    name: str | None,
) -> MultilayerGraph:
    """A graph from its own parts; the features are used as they are, so that they can stay on disk."""
    graph = MultilayerGraph(
        layers, nodes=name_index(nodes), labels=labels, name=name, num_nodes=len(nodes)
    )
    if features is None:
        return graph
    if features.shape[0] != len(nodes) or features.dtype not in (np.float32, np.float64):
        raise ValueError("the features do not fit the nodes")
    flat = features if isinstance(features, np.ndarray) else features.data
    for block in _blocks(flat.shape[0], flat.shape[1] if flat.ndim > 1 else 1):
        if not np.isfinite(flat[block]).all():
            raise ValueError("some features are not finite numbers")
    whole = MultilayerGraph.__new__(MultilayerGraph)
    whole.__setstate__(graph.__getstate__() | {"features": features})
    return whole


def renamed(graph: MultilayerGraph, nodes: pd.Index) -> MultilayerGraph:
    """The graph with names that are known to be distinct and not missing."""
    whole = MultilayerGraph.__new__(MultilayerGraph)
    whole.__setstate__(graph.__getstate__() | {"nodes": nodes})
    return whole


def _blocks(length: int, width: int = 1) -> Iterator[slice]:
    step = max(1, _BLOCK_VALUES // max(1, width))
    for start in range(0, length, step):
        yield slice(start, start + step)
