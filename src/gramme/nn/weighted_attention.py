"""Weighted graph attention as a standalone module for any model."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gramme.errors import DataError
from gramme.nn.formula import HEAD_COMBINATIONS, weighted_attention
from gramme.nn.weights import HEAD_WEIGHTS, constrained, glorot_bound, raw_factors
from gramme.ops import ACTIVATIONS, NeighbourhoodSum


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
