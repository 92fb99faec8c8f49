"""The formula of weighted graph attention, Eqs. 1 to 5 of the paper, for every module that uses it.

For each head h, every node i and the nodes N(i) that it listens to (i included, with the weight 1),

    x_j  = W_h^T features_j                                              (Eq. 1)
    t_j  = <a_h, x_j>                                                    (Eq. 2)
    z_i  = sum over j in N(i) of c_ij exp(t_j) x_j
           / sum over j in N(i) of c_ij exp(t_j)                         (Eq. 3)
    y_i  = sum over h of f_h act(z_ih)                                   (Eqs. 4 and 5)

Eq. 2 of the paper also has a term of the listener i. It is the same for all j and cancels in the softmax of Eq. 3, so
that it is left out. A bound on t, which the paper does not have, is optional. Tensors over nodes have the axes (layers,
nodes, members, ...), so that nodes come before members: a neighbourhood sum then finds members and heads side by side
as columns of one call.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gramme.ops import (
    Activation,
    Features,
    NeighbourhoodSum,
    PooledGroups,
    attention_hop,
    attention_sums,
    fuse_heads,
    hop_fits,
    pooled_means,
    project,
)

HEAD_COMBINATIONS = ("weighted", "average", "concatenate")
"""What becomes of several heads: summed with factors as in Eqs. 4 and 5, averaged, or put side by side."""


def weighted_attention(
    features: Features,
    weight: Tensor,
    vector: Tensor,
    factors: Tensor | None,
    neighbourhood: NeighbourhoodSum | None,
    activation: Activation,
    *,
    concatenate: bool = False,
    score_bound: float | None = None,
    drop: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """One hop of attention for all layers and members.

    Parameters
    ----------
    features : tensor, shape (nodes, members, in) or (layers, nodes, members, in)
        Shared by the layers, or each layer's own.
    weight : tensor, shape (members, layers, in, heads, out)
        W.
    vector : tensor, shape (members, layers, heads, out)
        a.
    factors : tensor, shape (members, layers, heads), optional
        f; 1 / heads if not given.
    neighbourhood : NeighbourhoodSum, optional
        Over the nodes of all layers stacked. Without one each node hears itself alone.
    activation : Activation
    concatenate : bool, default=False
        Put the activated heads side by side in place of the sum.
    score_bound : float, optional
        Keep scores between minus and plus this, see :func:`bounded`.
    drop : callable, optional
        Applied to x, shape (nodes of all layers, members, heads, out), on the way into the sums.

    Returns
    -------
    tensor, shape (layers, outputs, members, out)
        The nodes are the outputs of the neighbourhood sum.
    """
    members, layers, _, heads, columns = weight.shape
    shares = None
    if not concatenate:
        even = weight.new_full((layers, members, heads), 1 / heads)
        shares = even if factors is None else factors.transpose(0, 1)
    totals = None
    if neighbourhood is None:
        (sums,) = project(features, weight.flatten(3))
    else:
        if shares is not None and drop is None and hop_fits(weight, neighbourhood, activation):
            (projected,) = project(features, weight.flatten(3))
            found = attention_hop(
                projected, vector.transpose(0, 1), shares, neighbourhood, activation, score_bound
            )
            if found is not None:
                return found
            (scores,) = project(features, score_weight(weight, vector))
        else:
            projected, scores = project(features, weight.flatten(3), score_weight(weight, vector))
        rows = (neighbourhood.rows, members * heads)
        heard = projected.view(neighbourhood.rows, members, heads, columns)
        if drop is not None:
            heard = drop(heard)
        heeded = bounded(scores, score_bound).view(rows)
        sums, totals = attention_sums(heard.view(*rows, columns), heeded, neighbourhood)
        totals = totals.view(layers, -1, members, heads)
    sums = sums.view(layers, -1, members, heads, columns)
    if shares is None:
        means = sums if totals is None else sums / totals.unsqueeze(-1)
        return activation(means).flatten(-2)
    return fuse_heads(sums, totals, shares, activation)


def pooled_attention(
    features: Tensor,
    weight: Tensor,
    vector: Tensor,
    factors: Tensor | None,
    groups: PooledGroups,
    activation: Activation,
    *,
    concatenate: bool = False,
    score_bound: float | None = None,
) -> Tensor:
    """The same where every layer puts each node in one group: one row per group, pooled before it is projected.

    Parameters are those of :func:`weighted_attention`, with features that the layers share.

    Returns
    -------
    tensor, shape (members, rows, out)
        The rows are those of the groups.
    """
    heard = pooled_means(features, weight, vector, groups, score_bound)
    members, rows, heads, columns = heard.shape
    if concatenate:
        return activation(heard).flatten(2)
    if factors is None:
        portions = heard.new_full((members, rows, heads), 1 / heads)
    else:
        portions = factors.index_select(1, groups.layer_of)
    each = heard.view(members * rows, 1, 1, heads, columns)
    fused = fuse_heads(each, None, portions.reshape(-1, 1, heads), activation)
    return fused.view(members, rows, columns)


def score_weight(weight: Tensor, vector: Tensor) -> Tensor:
    """W a, which gives the scores t straight from the features and saves a pass over all of x."""
    return torch.einsum("mlihd,mlhd->mlih", weight, vector)


def bounded(scores: Tensor, bound: float | None) -> Tensor:
    """Scores kept between minus and plus a bound, next to unchanged where they are small: ``bound tanh(t / bound)``.

    Left alone, scores grow as long as the loss falls, until each node listens to a single other one and gradients
    of all others vanish. Within a bound of 5 nobody counts more than exp(10) times as much as another.
    """
    return scores if bound is None else bound * torch.tanh(scores / bound)
