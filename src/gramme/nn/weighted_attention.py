"""Weighted graph attention as a standalone module for any model."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gramme.errors import DataError
from gramme.graph import Layer, MultilayerGraph
from gramme.ops import ACTIVATIONS, EdgeSum, NeighbourhoodSum, stack

from .attention import (
    HEAD_COMBINATIONS,
    HEAD_WEIGHTS,
    constrained,
    glorot_bound,
    raw_factors,
    weighted_attention,
)

# A structure to attend over, made from whatever holds a graph: ours, an ``edge_index``, a sparse
# matrix.


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
    for given in (source, edge_weight):
        if isinstance(given, Tensor) and given.requires_grad:
            raise DataError(
                "weights of edges are no parameters here: no gradient would reach them; detach() them"
            )
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


class WeightedAttention(nn.Module):
    """The weighted graph attention layer of GrAMME.

    For each head h, every node i and the nodes N(i) that it listens to, i included,

        x_j = W_h^T features_j,    t_j = <a_h, x_j>,

        z_ih = sum over j in N(i) of c_ij exp(t_j) x_j  /  sum over j in N(i) of c_ij exp(t_j),

        y_i = sum over h of f_h act(z_ih),

    where c_ij is the weight of the edge (1 where there is none) and the factors f of the heads are learned too. The
    score has no term of the listener i, which would cancel in the softmax: so nothing is ever stored per edge, and
    groups of nodes need no edges at all. Cost: (edges or memberships) x heads x out_dim.

    Parameters
    ----------
    in_dim, out_dim : int
        Columns of the features and of the result.
    heads : int, default=2
    head_weights : {"nonnegative", "simplex", "free"}, default="nonnegative"
        How f is constrained: non-negative as in the paper, also summing to one, or not at all.
    combine_heads : {"weighted", "average", "concatenate"}, default="weighted"
        The sum with f, the mean, or the heads side by side with ``out_dim / heads`` columns each.
    activation : {"elu", "relu", "tanh", "none"}, default="elu"
    attention_dropout : float, default=0.0
        Probability with which a node is not heard, by anybody, in a training step.

    Attributes
    ----------
    weight : parameter, shape (in_dim, heads, columns)
        W, where columns is ``out_dim``, or ``out_dim / heads`` when heads are concatenated.
    attention : parameter, shape (heads, columns)
        a.
    factors : parameter, shape (heads,)
        What f is made from; only when heads are weighted.

    References
    ----------
    U. S. Shanthamallu, J. J. Thiagarajan, H. Song, A. Spanias, "GrAMME: Semi-Supervised Learning using Multi-layered
    Graph Attention Models", IEEE Transactions on Neural Networks and Learning Systems, 2019.

    Examples
    --------
    >>> from gramme.nn import structure
    >>> layer = WeightedAttention(16, 8, heads=2)
    >>> layer
    WeightedAttention(16, 8, heads=2)
    >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    >>> layer(torch.randn(3, 16), structure(edge_index)).shape
    torch.Size([3, 8])
    """

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        heads: int = 2,
        *,
        head_weights: str = "nonnegative",
        combine_heads: str = "weighted",
        activation: str = "elu",
        attention_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if min(in_dim, out_dim, heads) < 1:
            raise DataError("in_dim, out_dim and heads must be whole numbers of at least 1")
        for name, value, allowed in (
            ("head_weights", head_weights, HEAD_WEIGHTS),
            ("combine_heads", combine_heads, HEAD_COMBINATIONS),
            ("activation", activation, tuple(ACTIVATIONS)),
        ):
            if value not in allowed:
                raise DataError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
        if combine_heads == "concatenate" and out_dim % heads:
            raise DataError(
                f"heads that are concatenated share the columns of the result: out_dim ({out_dim}) "
                f"must be a multiple of heads ({heads})"
            )
        if not 0 <= attention_dropout < 1:
            raise DataError(
                f"attention_dropout must be at least 0 and below 1, not {attention_dropout}"
            )
        self.in_dim, self.out_dim, self.heads = in_dim, out_dim, heads
        self.head_weights, self.combine_heads = head_weights, combine_heads
        self.activation, self.attention_dropout = activation, attention_dropout
        columns = out_dim // heads if combine_heads == "concatenate" else out_dim
        self.weight = nn.Parameter(torch.empty(in_dim, heads, columns))
        self.attention = nn.Parameter(torch.empty(heads, columns))
        self.factors = nn.Parameter(torch.empty(heads)) if combine_heads == "weighted" else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values from torch's generator."""
        columns = self.weight.shape[2]
        for parameter, fans in (
            (self.weight, (self.in_dim, columns)),
            (self.attention, (columns, 1)),
        ):
            bound = glorot_bound(*fans)
            nn.init.uniform_(parameter, -bound, bound)
        if self.factors is not None:
            with torch.no_grad():
                self.factors.copy_(raw_factors(torch.randn_like(self.factors), self.head_weights))

    def forward(self, features: Tensor, structure: NeighbourhoodSum) -> Tensor:
        """From features (nodes, in_dim) and :func:`gramme.nn.structure` to (nodes, out_dim)."""
        if features.shape != (structure.rows, self.in_dim):
            raise DataError(
                f"features of shape ({structure.rows}, {self.in_dim}) are needed: a row for each node of the "
                f"structure; these have {tuple(features.shape)}"
            )
        factors = None if self.factors is None else self.head_factors()
        found = weighted_attention(
            features[:, None],
            self.weight[None, None],
            self.attention[None, None],
            None if factors is None else factors[None, None],
            structure,
            ACTIVATIONS[self.activation],
            concatenate=self.combine_heads == "concatenate",
            drop=self._dropped if self.training and self.attention_dropout > 0 else None,
        )
        return found[0, :, 0]

    def head_factors(self) -> Tensor:
        """f, shape (heads,): how much each head counts in the result."""
        if self.factors is None:
            return self.weight.new_full((self.heads,), 1 / self.heads)
        return constrained(self.factors, self.head_weights)

    def _dropped(self, values: Tensor) -> Tensor:
        """Silence some nodes in each head."""
        return values * F.dropout(torch.ones_like(values[..., :1]), self.attention_dropout)

    def __repr__(self) -> str:
        given = f"{self.in_dim}, {self.out_dim}, heads={self.heads}"
        usual = {
            "combine_heads": "weighted",
            "head_weights": "nonnegative",
            "activation": "elu",
            "attention_dropout": 0.0,
        }
        others = [
            f", {name}={getattr(self, name)!r}"
            for name, value in usual.items()
            if getattr(self, name) != value
        ]
        return f"{type(self).__name__}({given}{''.join(others)})"
