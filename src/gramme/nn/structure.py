"""A structure to attend over, made from whatever holds a graph: ours, an ``edge_index``, a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gramme.errors import DataError
from gramme.graph import Layer, MultilayerGraph
from gramme.ops import EdgeSum, NeighbourhoodSum, stack


def structure(
    source: Any,
    *,
    layer: str | None = None,
    edge_weight: Tensor | None = None,
    num_nodes: int | None = None,
) -> NeighbourhoodSum:
    """Who listens to whom, for :class:`WeightedAttention`.

    Every node hears itself with the weight 1 whatever is given; self loops are left out. Edges that are given several
    times add up their weights, which is what they count in a softmax over single edges.

    Parameters
    ----------
    source : MultilayerGraph, Layer, tensor or scipy matrix
        One layer of a graph; an ``edge_index`` of shape (2, edges), whose second row listens to the first, as in
        PyTorch Geometric; or a square sparse tensor or scipy matrix, whose entry (i, j) is the weight with which i
        listens to j. A layer of groups costs its memberships, not the edges that these imply.
    layer : str, optional
        Which layer of a MultilayerGraph; may be left out if there is one.
    edge_weight : tensor, shape (edges,), optional
        Positive weights of an ``edge_index``.
    num_nodes : int, optional
        Nodes of an ``edge_index``; if not given, the highest one that it names is the last.

    Returns
    -------
    NeighbourhoodSum
        A module without parameters: ``.to(device)`` moves it.

    Examples
    --------
    >>> structure(torch.tensor([[0, 1], [2, 2]]))  # 2 listens to 0 and 1
    EdgeSum(3 rows)
    >>> from gramme import datasets
    >>> structure(datasets.load("balance_scale"), layer="left_weight")
    MembershipSum(625 rows)
    """
    if not isinstance(source, MultilayerGraph) and layer is not None:
        raise DataError("layer names a layer of a MultilayerGraph; other sources have none")
    if not _is_edge_index(source) and (edge_weight is not None or num_nodes is not None):
        raise DataError("edge_weight and num_nodes go with an edge_index of shape (2, edges)")
    if isinstance(source, MultilayerGraph):
        source = _layer_of(source, layer)
    if isinstance(source, Layer):
        return stack([source], source.num_nodes)
    if _is_edge_index(source):
        return _of_matrix(_matrix_of_edges(source, edge_weight, num_nodes))
    if isinstance(source, Tensor) and source.layout in (torch.sparse_coo, torch.sparse_csr):
        found = source.detach().cpu().to_sparse(layout=torch.sparse_coo).coalesce()
        row, column = found.indices().numpy()
        square = (found.shape[0], found.shape[-1])
        return _of_matrix(sp.coo_array((found.values().numpy(), (row, column)), shape=square))
    if _is_scipy_matrix(source):
        return _of_matrix(sp.coo_array(source))
    raise DataError(
        "a structure is made from a MultilayerGraph, a layer, an edge_index of shape (2, edges), a sparse tensor or a "
        f"scipy sparse matrix, not {_described(source)}"
    )


def _layer_of(graph: MultilayerGraph, name: str | None) -> Layer:
    if name is not None:
        return graph.layer(name)
    if graph.num_layers == 1:
        return next(iter(graph.layers.values()))
    raise DataError(
        f"the graph has {graph.num_layers} layers; say which one: layer= one of {', '.join(graph.layers)}"
    )


def _is_scipy_matrix(source: Any) -> bool:
    return bool(sp.issparse(source))


def _is_edge_index(source: Any) -> bool:
    return (
        isinstance(source, Tensor)
        and source.layout == torch.strided
        and source.dim() == 2
        and source.shape[0] == 2
        and not source.is_floating_point()
    )


def _matrix_of_edges(
    edges: Tensor, edge_weight: Tensor | None, num_nodes: int | None
) -> sp.coo_array:
    """The weights with which the second row's nodes listen to the first's."""
    source, target = edges.detach().cpu().numpy().astype(np.int64)
    highest = int(edges.max()) if edges.numel() else -1
    nodes = highest + 1 if num_nodes is None else num_nodes
    if highest >= nodes or (edges.numel() and int(edges.min()) < 0):
        wrong = highest if highest >= nodes else int(edges.min())
        raise DataError(f"edge_index names node {wrong}; nodes are 0 to {nodes - 1}")
    weights = np.ones(source.size)
    if edge_weight is not None:
        weights = edge_weight.detach().cpu().numpy()
        if weights.shape != source.shape:
            raise DataError(f"edge_weight has shape {weights.shape} for {source.size} edges")
    return sp.coo_array((weights, (target, source)), shape=(nodes, nodes))


def _of_matrix(matrix: sp.coo_array) -> EdgeSum:
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"a structure needs a square matrix, not one of shape {matrix.shape}")
    weights = matrix.data.astype(np.float64)
    good = np.isfinite(weights) & (weights >= 0)
    if not good.all():
        wrong = int(np.flatnonzero(~good)[0])
        ends = (int(matrix.row[wrong]), int(matrix.col[wrong]))
        raise DataError(
            f"the weight at {ends} is {weights[wrong]}; weights must be positive numbers"
        )
    kept = (matrix.row != matrix.col) & (weights > 0)
    ends = (matrix.row[kept], matrix.col[kept])
    square = sp.csr_array((weights[kept], ends), shape=matrix.shape)
    square.sum_duplicates()
    difference = abs(square - square.T.tocsr())
    return EdgeSum(square, symmetric=difference.nnz == 0 or difference.max() == 0)


def _described(source: Any) -> str:
    if isinstance(source, Tensor):
        return f"a tensor of {source.dtype} and shape {tuple(source.shape)}"
    return type(source).__name__
