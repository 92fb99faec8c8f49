"""VoteRank: nodes elect the spreaders they listen to, one after the other; a node that has elected one votes less."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gramme.graph import Layer
from gramme.ranking.all_layers import AllLayers

MAX_ELECTED = 1000
"""Nodes that are elected at most; all others share the place behind them."""
MAX_WORK = 20_000_000_000
"""Edges and memberships that all elections together may look at, in graphs with groups."""


def voterank(
    layers: Sequence[Layer], num_nodes: int, elected: int | None = None
) -> NDArray[np.int64]:
    """Positions of the elected nodes in the order of their election.

    Every node votes for the nodes it listens to, once per layer in which it does, with a strength that begins at 1.
    The node with most votes is elected (the first in the order of nodes where several have as many). It stops voting,
    and those it is joined with lose ``1 / (average degree)`` of their strength, so that the next one is found
    elsewhere. Ends when nobody has votes left.

    Parameters
    ----------
    layers : sequence of Layer
    num_nodes : int
    elected : int, optional
        How many to elect; at most 1,000 if not given, and fewer in very large tables.

    References
    ----------
    Zhang, Chen, Dong, Zhao: Identifying a set of influential spreaders in complex networks. Scientific Reports 6, 27823
    (2016).
    """
    stacked = AllLayers.of(layers, num_nodes)
    told, groups = stacked.told, stacked.groups
    members = groups.T.tocsr()
    in_groups = np.diff(groups.indptr).astype(np.float64)
    sizes = np.diff(members.indptr).astype(np.float64)
    degrees = np.asarray(stacked.heard.sum(axis=1)).ravel() + np.asarray(groups @ (sizes - 1))
    average = degrees.sum() / max(num_nodes, 1)
    if average == 0:
        return np.zeros(0, dtype=np.int64)
    limit = min(num_nodes, MAX_ELECTED if elected is None else elected)
    if elected is None and groups.nnz:
        limit = min(limit, max(10, MAX_WORK // (20 * max(groups.nnz, 1))))
    strength = np.ones(num_nodes)
    votes = np.asarray(told @ strength)
    chosen = np.zeros(num_nodes, dtype=bool)
    found: list[int] = []
    for _ in range(limit):
        current = votes.copy()
        if groups.nnz:
            current += groups @ np.asarray(members @ strength) - in_groups * strength
        current[chosen] = -1.0
        # rounded, so that sums taken in another order elect the same node
        best = int(np.round(current, 9).argmax())
        if current[best] <= 1e-9:
            break
        found.append(best)
        chosen[best] = True
        weakened = strength.copy()
        weakened[best] = 0.0
        # those who listen to the elected node in any layer have had their say
        listeners = told.indices[told.indptr[best] : told.indptr[best + 1]]
        touched = np.zeros(num_nodes, dtype=bool)
        touched[listeners] = True
        for group in groups.indices[groups.indptr[best] : groups.indptr[best + 1]]:
            touched[members.indices[members.indptr[group] : members.indptr[group + 1]]] = True
        touched[best] = False
        weakened[touched] = np.maximum(weakened[touched] - 1.0 / average, 0.0)
        changed = np.flatnonzero(weakened != strength)
        loss = strength[changed] - weakened[changed]
        for node, less in zip(changed.tolist(), loss.tolist(), strict=True):
            heard = stacked.heard
            span = slice(heard.indptr[node], heard.indptr[node + 1])
            votes[heard.indices[span]] -= less * heard.data[span]
        strength = weakened
    return np.array(found, dtype=np.int64)
