"""Layers from objects that state an undirected edge both ways: adjacency matrices, edge indices.

There (i, j) and (j, i) are one undirected edge said twice, not two edges whose weights add.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gramme.errors import DataError
from gramme.graph.arrays import plain
from gramme.graph.edge_layer import EdgeLayer


def layer_from_both_ways(
    nodes: pd.Index,
    source: ArrayLike,
    target: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    directed: bool | None = None,
    present: ArrayLike | None = None,
) -> EdgeLayer:
    """An edge layer from edges as a matrix states them.

    Parameters
    ----------
    nodes : pandas.Index
        Node names, for messages.
    source, target, weight
        As for :class:`~gramme.EdgeLayer`; repeated edges in the same direction are merged.
    directed : bool, optional
        If not given, edges equal to their own reversal are undirected, others directed. False
        with (i, j) and (j, i) of different weight is an error.
    present
        The nodes the layer holds; all if not given.

    Examples
    --------
    >>> layer_from_both_ways(pd.RangeIndex(3), [0, 1], [1, 0])
    EdgeLayer(3 nodes, 1 edges)
    >>> layer_from_both_ways(pd.RangeIndex(3), [0, 1], [1, 2])
    EdgeLayer(3 nodes, 2 edges, directed)
    """
    one_way = EdgeLayer(len(nodes), source, target, weight, directed=True, nodes=present)
    if directed:
        return one_way
    start, end = one_way.source.astype(np.int64), one_way.target.astype(np.int64)
    if _symmetric(one_way):
        kept = start < end
    elif directed is None:
        return one_way
    else:
        kept = (start < end) | ~_stated_backwards(one_way, nodes)
    loops = np.asarray(source)[np.asarray(source) == np.asarray(target)]
    weights = None
    if one_way.weight is not None:
        weights = np.concatenate([one_way.weight[kept], np.ones(loops.size)])
    return EdgeLayer(
        len(nodes),
        np.concatenate([start[kept], loops]).astype(np.int64),
        np.concatenate([end[kept], loops]).astype(np.int64),
        weights,
        nodes=present,
    )


def _symmetric(layer: EdgeLayer) -> bool:
    """Whether the edges equal their own reversal, in time linear in the edges."""
    matrix: Any = layer.to_scipy()
    backwards: Any = sp.csr_array(matrix.T)
    return (
        np.array_equal(matrix.indptr, backwards.indptr)
        and np.array_equal(matrix.indices, backwards.indices)
        and np.array_equal(matrix.data, backwards.data)
    )


def _stated_backwards(layer: EdgeLayer, nodes: pd.Index) -> NDArray[np.bool_]:
    """For each edge whether its reversal is there; an error if that has another weight."""
    start, end = layer.source.astype(np.int64), layer.target.astype(np.int64)
    # Edges are sorted by (source, target), so a reversal is found by bisection
    keys, wanted = start * layer.num_nodes + end, end * layer.num_nodes + start
    place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    stated: NDArray[np.bool_] = keys[place] == wanted
    if layer.weight is not None:
        differ = np.flatnonzero(stated & (layer.weight != layer.weight[place]))
        if differ.size:
            first = int(differ[0])
            i, j = plain(nodes[int(start[first])]), plain(nodes[int(end[first])])
            raise DataError(
                f"the edge between {i!r} and {j!r} has the weight {layer.weight[first]} one way "
                f"and {layer.weight[place[first]]} the other, so it is not undirected"
            )
    return stated
