"""MultiRank: central nodes make a layer influential, and influential layers make their nodes central."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramme.ranking.convergence import warn_unless
from gramme.ranking.layer_product import LayerProduct

DAMPING = 0.85
MAX_STEPS = 2000
TOLERANCE = 1e-10


@dataclass(frozen=True)
class MultiRank:
    """The centrality of the nodes and the influence of the layers; each sums to 1."""

    nodes: NDArray[np.float64]
    layers: NDArray[np.float64]


def multirank(
    products: Sequence[LayerProduct],
    *,
    by_weight: bool = True,
    elite: bool = False,
    exponent: float = 1.0,
    damping: float = DAMPING,
) -> MultiRank:
    """Centralities x of nodes and influences z of layers that determine each other.

    With the adjacency ``A_l`` of each layer and ``G = sum of z_l A_l``, a walker on G gives

        x_i = damping * sum over j of x_j G_ji / out_j  +  the rest, spread over all nodes that have edges,

    and layers get

        z_l = W_l^a (sum over i of B_li x_i^(s g))^s / norm,

    where ``W_l`` is the weight of all edges of a layer and ``B_li`` the share of it that reaches node i.

    Parameters
    ----------
    products : sequence of LayerProduct
    by_weight : bool, default=True
        Whether layers with more edges may have more influence (the paper's a = 1), or not (a = 0).
    elite : bool, default=False
        Whether layers gain by few central nodes (s = -1) rather than by many (s = 1).
    exponent : float, default=1.0
        The paper's gamma: above 1 the most central nodes count more, below 1 less.
    damping : float, default=0.85

    References
    ----------
    Rahmede, Iacovacci, Arenas, Bianconi: Centralities of nodes and influences of layers in large multiplex networks.
    Journal of Complex Networks 6 (2018).
    """
    totals = np.array([one.out_strength.sum() for one in products])
    active = np.zeros(products[0].num_nodes, dtype=bool)
    for one in products:
        active |= (one.out_strength > 0) | (one.in_strength > 0)
    influence = np.where(totals > 0, 1.0, 0.0)
    if not active.any():
        return MultiRank(np.zeros(active.size), np.zeros(totals.size))
    influence /= influence.sum()
    start = active / active.sum()
    centrality = start.copy()
    sign = -1.0 if elite else 1.0
    change = np.inf
    for _ in range(MAX_STEPS):
        leaving = sum(z * one.out_strength for z, one in zip(influence, products, strict=True))
        sent = np.divide(centrality, leaving, out=np.zeros_like(centrality), where=leaving > 0)
        heard = sum(z * one.transposed(sent) for z, one in zip(influence, products, strict=True))
        renewed = 1.0 - damping * float(centrality[leaving > 0].sum())
        following = damping * heard + renewed * start
        layers = _influence(products, totals, following, by_weight, sign, exponent)
        change = float(np.abs(following - centrality).sum() + np.abs(layers - influence).sum())
        # half a step: the two sets of equations may otherwise answer each other for ever
        centrality, influence = following, (layers + influence) / 2
        if change < TOLERANCE:
            break
    warn_unless(change < TOLERANCE, "multirank", MAX_STEPS)
    return MultiRank(centrality, influence)


def _influence(
    products: Sequence[LayerProduct],
    totals: NDArray[np.float64],
    centrality: NDArray[np.float64],
    by_weight: bool,
    sign: float,
    exponent: float,
) -> NDArray[np.float64]:
    positive = np.maximum(centrality, 1e-300)
    # only ratios count, so the scale of x is taken out before a power that could overflow
    power = np.where(centrality > 0, (positive / positive.max()) ** (sign * exponent), 0.0)
    found = np.zeros(totals.size)
    for place, one in enumerate(products):
        if totals[place] > 0:
            reached = float(one.in_strength @ power) / totals[place]
            found[place] = (totals[place] if by_weight else 1.0) * reached**sign
    shares: NDArray[np.float64] = found / found.sum()
    return shares
