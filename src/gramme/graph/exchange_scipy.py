"""From adjacency matrices, sparse or dense: one square matrix per layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from gramme.errors import DataError
from gramme.graph.arrays import name_index, plain
from gramme.graph.both_ways import layer_from_both_ways
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.from_edges import ONLY_LAYER, layer_directions
from gramme.graph.layer import Layer
from gramme.graph.multilayer import MultilayerGraph


def from_scipy(
    matrices: Any,
    *,
    directed: bool | Mapping[str, bool] | None = None,
    nodes: Iterable[Any] | None = None,
    labels: Any = None,
    features: Any = None,
    name: str | None = None,
) -> MultilayerGraph:
    """A graph of edge layers from adjacency matrices.

    Entry (i, j) is the weight of the edge from i to j; zero means no edge. A matrix whose edges all
    weigh 1 makes an unweighted layer. The diagonal is dropped. ``graph.to_scipy()`` is the way
    back: edges, weights and directions survive it, while names, labels and which nodes a layer
    holds are not in a matrix, and membership layers come back as edges.

    Parameters
    ----------
    matrices : mapping, sequence or one matrix
        Square sparse or dense matrices of equal size, by layer name or in order ("layer 1",
        "layer 2", ...). A single matrix makes the layer "edges".
    directed : bool or mapping of layer name to bool, optional
        Where not given, a matrix equal to its transpose is undirected, any other directed.
        False on a matrix that states an edge one way only joins both ways.
    nodes, labels, features, name
        As for :class:`~gramme.MultilayerGraph`.

    Examples
    --------
    >>> friends = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> likes = np.array([[0, 2, 0], [0, 0, 0], [0, 0, 0]])
    >>> g = from_scipy({"friends": friends, "likes": likes})
    >>> g.layers["friends"], g.layers["likes"]
    (EdgeLayer(3 nodes, 2 edges), EdgeLayer(3 nodes, 1 edges, directed, weighted))
    """
    named = {key: _adjacency(matrix, key) for key, matrix in _named(matrices).items()}
    if not named and nodes is None:
        raise DataError("there is no matrix to make a layer of, and no node names either")
    sizes = {matrix.shape[0] for matrix in named.values()}
    if len(sizes) > 1:
        listed = ", ".join(f"{key!r} {matrix.shape[0]}" for key, matrix in named.items())
        raise DataError(f"the matrices are over different numbers of nodes: {listed}")
    index = name_index(nodes, sizes.pop() if sizes else None)
    one_way = layer_directions(directed, named, otherwise=None)
    layers: dict[str, Layer] = {}
    for key, matrix in named.items():
        try:
            layers[key] = _layer(matrix, index, one_way[key])
        except DataError as error:
            raise DataError(f"layer {key!r}: {error}") from error
    return MultilayerGraph(
        layers, nodes=index, labels=labels, features=features, name=name, num_nodes=len(index)
    )


def _named(matrices: Any) -> dict[str, Any]:
    if isinstance(matrices, Mapping):
        return {str(key): matrix for key, matrix in matrices.items()}
    if sp.issparse(matrices) or (isinstance(matrices, np.ndarray) and matrices.ndim == 2):
        return {ONLY_LAYER: matrices}
    if isinstance(matrices, str) or not isinstance(matrices, Iterable):
        raise DataError(f"matrices must be a mapping or a sequence of matrices, not {matrices!r}")
    return {f"layer {place}": matrix for place, matrix in enumerate(matrices, start=1)}


def _adjacency(matrix: Any, key: str) -> Any:
    """A copy of the matrix as CSR without zeros, checked to be square and of numbers."""
    try:
        given: Any = matrix if sp.issparse(matrix) else np.atleast_2d(matrix)
        csr: Any = sp.csr_array(given)
        if np.iscomplexobj(csr.data):
            raise TypeError("they are complex")
        csr = csr.astype(np.float64)  # also the copy, so that the user's matrix stays as it is
    except (TypeError, ValueError) as error:
        raise DataError(f"layer {key!r}: the matrix must hold numbers: {error}") from error
    if csr.ndim != 2 or csr.shape[0] != csr.shape[1]:
        raise DataError(f"layer {key!r}: the matrix must be square, not of shape {csr.shape}")
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def _layer(matrix: Any, nodes: pd.Index, directed: bool | None) -> EdgeLayer:
    matrix = matrix.tocoo()
    bad = np.flatnonzero(~(np.isfinite(matrix.data) & (matrix.data > 0)))
    if bad.size:
        i, j = (plain(nodes[int(ends[bad[0]])]) for ends in (matrix.row, matrix.col))
        raise DataError(
            f"the edge from {i!r} to {j!r} has the weight {matrix.data[bad[0]]}; weights must be "
            "positive and finite, with 0 for no edge"
        )
    off_diagonal = matrix.row != matrix.col
    weights = None if (matrix.data[off_diagonal] == 1).all() else matrix.data
    return layer_from_both_ways(nodes, matrix.row, matrix.col, weights, directed=directed)
