"""Weighted graph attention as a standalone module for any model."""

from __future__ import annotations

import inspect
from typing import Any, Literal, cast

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gramme.errors import DataError
from gramme.graph import Layer, MultilayerGraph
from gramme.ops import ACTIVATIONS, EdgeSum, Entries, EntrySum, NeighbourhoodSum, in_plain_torch, stack

from .attention import (
    HEAD_COMBINATIONS,
    HEAD_WEIGHTS,
    bounded,
    constrained,
    glorot_bound,
    raw_factors,
    score_weight,
    weighted_attention,
)


# A structure to attend over, made from whatever holds a graph: ours, an ``edge_index``, a sparse matrix.
def structure(
    source: Any, *, layer: str | None = None, edge_weight: Tensor | None = None, num_nodes: int | None = None
) -> NeighbourhoodSum:
    """Who listens to whom, for :class:`WeightedAttention`.

    Every node hears itself with the weight 1 whatever is given; self loops are left out. Edges that are given several
    times add up their weights, which is what they count in a softmax over single edges.

    Parameters
    ----------
    source : MultilayerGraph, Layer, tensor, array, scipy matrix, SparseTensor or Data
        One layer of a graph; an ``edge_index`` of shape (2, edges), whose second row listens to the first, as in
        PyTorch Geometric, as a tensor or numpy array; an object that has one, like ``Data``; or a square matrix, whose
        entry (i, j) is the weight with which i listens to j: a sparse tensor in COO, CSR or CSC, a ``SparseTensor``, a
        scipy matrix, or a numpy array. A layer of groups costs its memberships, not the edges that these imply.
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
    if hasattr(source, "edge_index") and not isinstance(source, Tensor):
        num_nodes = source.num_nodes if num_nodes is None else num_nodes
    source, edge_weight, _ = _unwrapped(source, edge_weight)
    if isinstance(source, np.ndarray):
        source = sp.coo_array(np.atleast_2d(source))
    if not _is_edge_index(source) and (edge_weight is not None or num_nodes is not None):
        raise DataError("edge_weight and num_nodes go with an edge_index of shape (2, edges)")
    for name, tensor_given in (("source", source), ("edge_weight", edge_weight)):
        if isinstance(tensor_given, Tensor) and tensor_given.requires_grad:
            raise DataError(
                f"{name} requires a gradient, which a structure would lose; give edge_index and edge_weight to "
                "WeightedAttention itself, or detach() it"
            )
    if isinstance(source, MultilayerGraph):
        if layer is None and source.num_layers != 1:
            raise DataError(
                f"the graph has {source.num_layers} layers; say which one: layer= one of {', '.join(source.layers)}"
            )
        source = source.layer(next(iter(source.layers)) if layer is None else layer)
    if isinstance(source, Layer):
        return stack([source], source.num_nodes)
    if _is_edge_index(source):
        return _of_matrix(_matrix_of_edges(source, edge_weight, num_nodes))
    if isinstance(source, Tensor) and source.layout != torch.strided:
        sparse_edges = source.detach().cpu().to_sparse(layout=torch.sparse_coo).coalesce()
        row, column = sparse_edges.indices().numpy()
        square = (sparse_edges.shape[0], sparse_edges.shape[-1])
        return _of_matrix(sp.coo_array((sparse_edges.values().numpy(), (row, column)), shape=square))
    if hasattr(source, "coo") and hasattr(source, "sparse_sizes"):  # torch_sparse.SparseTensor
        row, column, values = source.coo()
        edge_weights = np.ones(row.numel()) if values is None else values.detach().cpu().numpy()
        ends = row.cpu().numpy(), column.cpu().numpy()
        return _of_matrix(sp.coo_array((edge_weights, ends), shape=tuple(source.sparse_sizes())))
    if bool(sp.issparse(source)):
        return _of_matrix(sp.coo_array(source))
    tensor_given = type(source).__name__
    if isinstance(source, Tensor):
        tensor_given = f"a tensor of {source.dtype} and shape {tuple(source.shape)}"
    raise DataError(
        "a structure is made from a MultilayerGraph, a layer, an edge_index of shape (2, edges), a square "
        f"sparse tensor, matrix or array, a SparseTensor or Data, not {tensor_given}"
    )


def _unwrapped(source: Any, edge_weight: Tensor | None) -> tuple[Any, Tensor | None, Tensor | None]:
    """The edges of PyG's Data with their weights and features, and an edge_index of numpy's as a tensor."""
    edge_attr = None
    if hasattr(source, "edge_index") and not isinstance(source, Tensor):
        edge_weight = getattr(source, "edge_weight", None) if edge_weight is None else edge_weight
        edge_attr = getattr(source, "edge_attr", None)
        source = source.edge_index
    if isinstance(source, np.ndarray) and np.issubdtype(source.dtype, np.integer) and source.shape[:1] == (2,):
        source = torch.from_numpy(source) if source.ndim == 2 else source
    return source, edge_weight, edge_attr


def _is_edge_index(source: Any) -> bool:
    return (
        isinstance(source, Tensor)
        and source.layout == torch.strided
        and source.dim() == 2
        and source.shape[0] == 2
        and not source.is_floating_point()
    )


def _matrix_of_edges(edges: Tensor, edge_weight: Tensor | None, num_nodes: int | None) -> sp.coo_array:
    """The weights with which the second row's nodes listen to the first's."""
    source, target = edges.detach().cpu().numpy().astype(np.int64)
    highest_node = int(edges.max()) if edges.numel() else -1
    node_count = highest_node + 1 if num_nodes is None else num_nodes
    if highest_node >= node_count or (edges.numel() and int(edges.min()) < 0):
        wrong_node = highest_node if highest_node >= node_count else int(edges.min())
        raise DataError(f"edge_index names node {wrong_node}; nodes are 0 to {node_count - 1}")
    edge_weights = np.ones(source.size)
    if edge_weight is not None:
        edge_weights = edge_weight.detach().cpu().numpy()
        if edge_weights.shape != source.shape:
            raise DataError(f"edge_weight has shape {edge_weights.shape} for {source.size} edges")
    return sp.coo_array((edge_weights, (target, source)), shape=(node_count, node_count))


def _of_matrix(matrix: sp.coo_array) -> EdgeSum:
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"a structure needs a square matrix, not one of shape {matrix.shape}")
    edge_weights = matrix.data.astype(np.float64)
    valid_weights = np.isfinite(edge_weights) & (edge_weights >= 0)
    if not valid_weights.all():
        wrong_entry = int(np.flatnonzero(~valid_weights)[0])
        ends = (int(matrix.row[wrong_entry]), int(matrix.col[wrong_entry]))
        raise DataError(f"the weight at {ends} is {edge_weights[wrong_entry]}; weights must be positive numbers")
    kept_edges = (matrix.row != matrix.col) & (edge_weights > 0)
    ends = (matrix.row[kept_edges], matrix.col[kept_edges])
    square = sp.csr_array((edge_weights[kept_edges], ends), shape=matrix.shape)
    square.sum_duplicates()
    difference = abs(square - square.T.tocsr())
    return EdgeSum(square, symmetric=difference.nnz == 0 or difference.max() == 0)


class WeightedAttention(nn.Module):
    """The weighted graph attention layer of GrAMME.

    For each head h, every node i and the nodes N(i) that it listens to, i included,

        x_j = W_h^T features_j,    t_ij = <a_h, x_j> + <c_h, f_ij>,

        z_ih = sum over j in N(i) of c_ij exp(t_ij) x_j  /  sum over j in N(i) of c_ij exp(t_ij),

        y_i = sum over h of f_h act(z_ih),

    where c_ij is the weight of the edge (1 where there is none), f_ij its features, if there are some, and the factors
    f of the heads are learned too. The score has no term of the listener i, which would cancel in the softmax: so
    nothing is stored per edge, unless edges have features, and groups of nodes need no edges at all. Cost: (edges or
    memberships) x heads x out_channels.

    Parameters
    ----------
    in_channels, out_channels : int
        Columns of the features and of the result. With ``in_channels=-1`` the first features decide.
    heads : int, default=2
    head_weights : {"nonnegative", "simplex", "free"}, default="nonnegative"
        How f is constrained: non-negative as in the paper, also summing to one, or not at all.
    combine_heads : {"weighted", "average", "concatenate"}, default="weighted"
        The sum with f, the mean, or the heads side by side with ``out_channels / heads`` columns each.
    activation : {"elu", "relu", "tanh", "none"}, default="elu"
    attention_dropout : float, default=0.0
        Probability with which a node is not heard, by anybody, in a training step.
    score_bound : float, optional
        Keep <a, x> and <c, f> between minus and plus this: ``bound tanh(t / bound)``.
    edge_dim : int, optional
        Columns of ``edge_attr``.
    kernels : {"compiled", "torch"}, default="compiled"
        "torch" uses torch's own operations alone: slower, but for ``torch.export``, ``torch.func.vmap`` and second
        derivatives, which compiled kernels refuse.

    Attributes
    ----------
    weight : parameter, shape (in_channels, heads, columns)
        W, where columns is ``out_channels``, or ``out_channels / heads`` when heads are concatenated.
    attention : parameter, shape (heads, columns)
        a.
    factors : parameter, shape (heads,)
        What f is made from; only when heads are weighted.
    edge_vector : parameter, shape (heads, edge_dim)
        c, at first 0; only with ``edge_dim``.

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
    >>> described = WeightedAttention(-1, 8, edge_dim=1)
    >>> described(torch.randn(3, 16), edge_index, edge_attr=torch.randn(3, 1)).shape
    torch.Size([3, 8])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        heads: int = 2,
        *,
        head_weights: Literal["nonnegative", "simplex", "free"] = "nonnegative",
        combine_heads: Literal["weighted", "average", "concatenate"] = "weighted",
        activation: Literal["elu", "relu", "tanh", "none"] = "elu",
        attention_dropout: float = 0.0,
        score_bound: float | None = None,
        edge_dim: int | None = None,
        kernels: Literal["compiled", "torch"] = "compiled",
    ) -> None:
        super().__init__()
        if min(out_channels, heads) < 1 or (in_channels < 1 and in_channels != -1):
            raise DataError("in_channels (or -1), out_channels and heads must be whole numbers of at least 1")
        for name, value, allowed in (
            ("head_weights", head_weights, HEAD_WEIGHTS),
            ("combine_heads", combine_heads, HEAD_COMBINATIONS),
            ("activation", activation, tuple(ACTIVATIONS)),
            ("kernels", kernels, ("compiled", "torch")),
        ):
            if value not in allowed:
                raise DataError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
        if combine_heads == "concatenate" and out_channels % heads:
            raise DataError(
                f"heads that are concatenated share the columns of the result: out_channels ({out_channels}) "
                f"must be a multiple of heads ({heads})"
            )
        if not 0 <= attention_dropout < 1:
            raise DataError(f"attention_dropout must be at least 0 and below 1, not {attention_dropout}")
        if (score_bound is not None and not score_bound > 0) or (edge_dim is not None and edge_dim < 1):
            raise DataError("score_bound and edge_dim must be positive, or None")
        self.in_channels, self.out_channels, self.heads = in_channels, out_channels, heads
        self.head_weights, self.combine_heads, self.kernels = head_weights, combine_heads, kernels
        self.activation, self.attention_dropout = activation, attention_dropout
        self.score_bound, self.edge_dim = score_bound, edge_dim
        self.columns = out_channels // heads if combine_heads == "concatenate" else out_channels
        self.weight = cast("nn.Parameter", nn.UninitializedParameter())
        self.attention = nn.Parameter(torch.empty(heads, self.columns))
        self.factors = nn.Parameter(torch.empty(heads)) if combine_heads == "weighted" else None
        self.edge_vector = None if edge_dim is None else nn.Parameter(torch.empty(heads, edge_dim))
        self.register_load_state_dict_pre_hook(_take_size)  # type: ignore[no-untyped-call]
        if in_channels > 0:
            self._take_size(in_channels)

    def _take_size(self, in_channels: int) -> None:
        """Make the parameters whose size was not known."""
        self.in_channels = in_channels
        assert isinstance(self.weight, nn.UninitializedParameter)
        self.weight.materialize((in_channels, self.heads, self.columns))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values from torch's generator."""
        for parameter, fans in ((self.weight, (self.in_channels, self.columns)), (self.attention, (self.columns, 1))):
            bound = glorot_bound(*fans)
            nn.init.uniform_(parameter, -bound, bound)
        if self.factors is not None:
            with torch.no_grad():
                self.factors.copy_(raw_factors(torch.randn_like(self.factors), self.head_weights))
        if self.edge_vector is not None:
            nn.init.zeros_(self.edge_vector)

    def forward(
        self,
        features: Tensor,
        structure: Any,
        edge_weight: Tensor | None = None,
        *,
        edge_attr: Tensor | None = None,
        return_attention_weights: bool = False,
    ) -> Any:
        """From features (nodes, in_channels) to (nodes, out_channels).

        Parameters
        ----------
        features : tensor, shape (nodes, in_channels)
        structure : NeighbourhoodSum, or whatever ``gramme.nn.structure`` takes
            Made beforehand it serves many passes.
        edge_weight : tensor, shape (edges,), optional
            Positive weights of an ``edge_index``; they may require a gradient.
        edge_attr : tensor, shape (edges, edge_dim), optional
            Features of an ``edge_index``; they may require a gradient.
        return_attention_weights : bool, default=False
            Return also ``(edge_index, alpha)``: the edges with a self loop for each node, and the coefficients of
            shape (edges, heads). Not for layers of groups, which have far more edges than memberships.
        """
        if self.kernels == "compiled" and (
            torch.compiler.is_exporting() or torch._C._functorch.maybe_current_level() is not None
        ):
            raise DataError('compiled kernels cannot be exported or vmapped; make it with kernels="torch"')
        if isinstance(self.weight, nn.UninitializedParameter):
            self._take_size(features.shape[-1])
        neighbourhood_sum = self._neighbourhood(features, structure, edge_weight, edge_attr)
        if features.shape != (neighbourhood_sum.rows, self.in_channels):
            raise DataError(
                f"features of shape ({neighbourhood_sum.rows}, {self.in_channels}) are needed: a row for each node "
                "of the "
                f"structure; these have {tuple(features.shape)}"
            )
        factors = None if self.factors is None else self.head_factors()
        with in_plain_torch(self.kernels == "torch"):
            node_output = weighted_attention(
                features[:, None],
                self.weight[None, None],
                self.attention[None, None],
                None if factors is None else factors[None, None],
                neighbourhood_sum,
                ACTIVATIONS[self.activation],
                concatenate=self.combine_heads == "concatenate",
                score_bound=self.score_bound,
                drop=self._dropped if self.training and self.attention_dropout > 0 else None,
                edge_vector=self.weight.new_zeros(1, self.heads, 0),
            )[0, :, 0]
        return (
            (node_output, self._coefficients(features, neighbourhood_sum)) if return_attention_weights else node_output
        )

    def _neighbourhood(
        self, features: Tensor, source: Any, edge_weight: Tensor | None, edge_attr: Tensor | None
    ) -> NeighbourhoodSum:
        """Who listens to whom, with weights through which gradients flow where there are any."""
        if isinstance(source, NeighbourhoodSum):
            if edge_weight is not None or edge_attr is not None:
                raise DataError("edge_weight and edge_attr go with an edge_index, not with a structure made of one")
            return source
        source, edge_weight, own_attr = _unwrapped(source, edge_weight)
        if edge_attr is None and self.edge_dim is not None:
            edge_attr = own_attr
        if edge_attr is None and (edge_weight is None or not edge_weight.requires_grad):
            node_count = features.shape[0] if _is_edge_index(source) else None
            return structure(source, edge_weight=edge_weight, num_nodes=node_count).to(features.device)
        if not _is_edge_index(source):
            raise DataError("edge_weight and edge_attr go with an edge_index of shape (2, edges)")
        _matrix_of_edges(source, edge_weight, features.shape[0])  # says what is wrong
        kept_edges = source[0] != source[1]
        edges = source[:, kept_edges]
        strengths = features.new_ones(edges.shape[1], self.heads)
        if edge_weight is not None:
            strengths = strengths * edge_weight[kept_edges, None]
        if edge_attr is not None:
            if self.edge_vector is None or edge_attr.shape != (source.shape[1], self.edge_dim):
                raise DataError(
                    f"edge_attr of shape {tuple(edge_attr.shape)} was given for {source.shape[1]} edges and "
                    f"edge_dim={self.edge_dim}"
                )
            strengths = strengths * bounded(edge_attr[kept_edges] @ self.edge_vector.t(), self.score_bound).exp()
        listened, listener = edges.cpu().numpy()
        node_count = features.shape[0]
        return EntrySum(Entries(listener, listened, (node_count, node_count)).to(features.device), strengths)

    def _coefficients(self, features: Tensor, sums: NeighbourhoodSum) -> tuple[Tensor, Tensor]:
        """The edges, each node's own included, and what each head gives to them."""
        if isinstance(sums, EntrySum):
            own_nodes = torch.arange(sums.rows, device=features.device)
            listener, listened = torch.cat([sums.entries.row, own_nodes]), torch.cat([sums.entries.column, own_nodes])
            strength = torch.cat([sums.weights, sums.weights.new_ones(sums.rows, self.heads)])
        elif isinstance(sums, EdgeSum):
            listener, listened = sums.heard.bag_of_members(), sums.heard.members.long()
            edge_weights = features.new_ones(listened.numel()) if sums.heard.weights is None else sums.heard.weights
            strength = edge_weights[:, None].to(features.dtype)
        else:
            raise DataError("return_attention_weights needs edges, and this structure has groups in their place")
        score_vectors = score_weight(self.weight[None, None], self.attention[None, None])[0, 0]
        scores = bounded(features @ score_vectors, self.score_bound)[listened]
        listener_of_edge = listener[:, None].expand_as(scores)
        highest_scores = scores.new_full((sums.rows, self.heads), -torch.inf).scatter_reduce(
            0, listener_of_edge, scores.detach(), "amax"
        )
        edge_loudness = strength * (scores - highest_scores[listener]).exp()
        listener_totals = edge_loudness.new_zeros(sums.rows, self.heads).index_add(0, listener, edge_loudness)
        return torch.stack([listened, listener]), edge_loudness / listener_totals[listener]

    def head_factors(self) -> Tensor:
        """f, shape (heads,): how much each head counts in the result."""
        if self.factors is None:
            return self.weight.new_full((self.heads,), 1 / self.heads)
        return constrained(self.factors, self.head_weights)

    def _dropped(self, values: Tensor) -> Tensor:
        """Silence some nodes in each head."""
        return values * F.dropout(torch.ones_like(values[..., :1]), self.attention_dropout)

    def __repr__(self) -> str:
        usual = inspect.signature(type(self)).parameters
        changed_settings = [
            f", {name}={getattr(self, name)!r}"
            for name, parameter in usual.items()
            if parameter.kind is parameter.KEYWORD_ONLY and getattr(self, name) != parameter.default
        ]
        sizes = f"{self.in_channels}, {self.out_channels}, heads={self.heads}"
        return f"{type(self).__name__}({sizes}{''.join(changed_settings)})"


def _take_size(module: nn.Module, state: dict[str, Any], prefix: str, *further: Any) -> None:
    """Before weights are loaded: a module without a size takes theirs."""
    assert isinstance(module, WeightedAttention)
    if isinstance(module.weight, nn.UninitializedParameter) and f"{prefix}weight" in state:
        module._take_size(state[f"{prefix}weight"].shape[0])
