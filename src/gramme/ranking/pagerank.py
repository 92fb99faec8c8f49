"""PageRank on the supra graph: how often a walker that follows edges, changes layers and restarts visits a node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gramme.ranking.convergence import warn_unless
from gramme.ranking.supra_product import SupraProduct

DAMPING = 0.85
TOLERANCE = 1e-9
MAX_STEPS = 1000


def pagerank(
    supra: SupraProduct,
    *,
    damping: float = DAMPING,
    restart: NDArray[np.int64] | None = None,
    tolerance: float = TOLERANCE,
) -> NDArray[np.float64]:
    """Share of its time that a walker spends at each node, over all layers; sums to 1.

    From a copy of a node the walker takes one of its edges, within the layer or to another copy of the node, in
    proportion to their weights. With probability ``1 - damping``, and always where no edge leaves, it starts anew at
    a random copy: any, or one of the nodes in ``restart`` (random walk with restart).

    Parameters
    ----------
    supra : SupraProduct
    damping : float, default=0.85
        Probability of following an edge.
    restart : array of int, optional
        Positions of the nodes at which the walker starts anew.
    tolerance : float, default=1e-9
        Largest change of all shares together at which the iteration ends.

    References
    ----------
    De Domenico, Solé-Ribalta, Omodei, Gómez, Arenas: Ranking in interconnected multilayer networks reveals versatile
    nodes. Nature Communications 6, 6868 (2015).
    """
    chosen = supra.present.astype(np.float64)
    if restart is not None:
        kept = np.zeros_like(chosen)
        kept[:, restart] = chosen[:, restart]
        chosen = kept
    start = chosen / max(chosen.sum(), 1.0)
    leaving = supra.times(supra.present.astype(np.float64))
    moves = leaving > 0
    per_unit = np.divide(1.0, leaving, out=np.zeros_like(leaving), where=moves)
    shares = start.copy()
    change = np.inf
    for _ in range(MAX_STEPS):
        followed = damping * supra.transposed(shares * per_unit)
        # what is not passed on along edges starts anew
        renewed = 1.0 - damping * float(shares[moves].sum())
        following = followed + renewed * start
        change = float(np.abs(following - shares).sum())
        shares = following
        if change < tolerance:
            break
    warn_unless(change < tolerance, "pagerank", MAX_STEPS)
    total: NDArray[np.float64] = shares.sum(axis=0)
    return total
