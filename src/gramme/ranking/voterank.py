"""VoteRank: nodes elect the spreaders they listen to, one after the other; a node that has elected one votes less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.graph import Layer
from gramme.ops.compiled import compiled
from gramme.ranking.all_layers import AllLayers

MAX_ELECTED = 1000
"""Nodes that are elected at most; all others share the place behind them."""
MIN_ELECTED = 10
"""Nodes that are elected at least, however large the graph is."""
MAX_WORK = 2_000_000_000
"""Edges and memberships that all elections together may look at."""


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
        How many to elect; at most 1,000 if not given, and fewer in graphs with millions of edges.

    References
    ----------
    Zhang, Chen, Dong, Zhao: Identifying a set of influential spreaders in complex networks. Scientific Reports 6, 27823
    (2016).
    """
    stacked = AllLayers.of(layers, num_nodes)
    heard, told, groups = stacked.heard, stacked.told, stacked.groups
    members = sp.csr_array(groups.T.tocsr())
    sizes = np.diff(members.indptr).astype(np.float64)
    degrees = np.asarray(heard.sum(axis=1)).ravel() + np.asarray(groups @ (sizes - 1))
    average = degrees.sum() / max(num_nodes, 1)
    if average == 0:
        return np.zeros(0, dtype=np.int64)
    limit = min(num_nodes, MAX_ELECTED if elected is None else elected)
    if elected is None:
        limit = min(limit, max(MIN_ELECTED, MAX_WORK // max(heard.nnz + 2 * groups.nnz, 1)))
    return _elected(
        *_index(heard),
        heard.data,
        *_index(told),
        *_index(groups),
        *_index(members),
        np.asarray(told @ np.ones(num_nodes)),
        1.0 / average,
        limit,
    )


def _index(matrix: sp.csr_array) -> tuple[NDArray[Any], NDArray[Any]]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)


@compiled
def _elected(
    heard_starts: NDArray[np.int64],
    heard: NDArray[np.int64],
    counts: NDArray[np.float64],
    told_starts: NDArray[np.int64],
    told: NDArray[np.int64],
    group_starts: NDArray[np.int64],
    groups: NDArray[np.int64],
    member_starts: NDArray[np.int64],
    members: NDArray[np.int64],
    votes: NDArray[np.float64],
    loss: float,
    limit: int,
) -> NDArray[np.int64]:
    nodes = heard_starts.size - 1
    strength, together = np.ones(nodes), np.zeros(member_starts.size - 1)
    chosen, touched = np.zeros(nodes, dtype=np.bool_), np.zeros(nodes, dtype=np.bool_)
    found = np.empty(limit, dtype=np.int64)
    for count in range(limit):
        for group in range(together.size):
            together[group] = 0.0
            for place in range(member_starts[group], member_starts[group + 1]):
                together[group] += strength[members[place]]
        best, most = -1, 1e-9
        for node in range(nodes):
            if chosen[node]:
                continue
            shared = 0.0
            for place in range(group_starts[node], group_starts[node + 1]):
                shared += together[groups[place]]
            own = (group_starts[node + 1] - group_starts[node]) * strength[node]
            # rounded, so that sums taken in another order elect the same node
            current = np.round(votes[node] + shared - own, 9)
            if current > most:
                best, most = node, current
        if best < 0:
            return found[:count]
        found[count] = best
        chosen[best] = True
        # those who listen to the elected node in any layer have had their say
        touched[:] = False
        for place in range(told_starts[best], told_starts[best + 1]):
            touched[told[place]] = True
        for step in range(group_starts[best], group_starts[best + 1]):
            group = groups[step]
            for place in range(member_starts[group], member_starts[group + 1]):
                touched[members[place]] = True
        touched[best] = True
        for node in range(nodes):
            if not touched[node] or strength[node] == 0.0:
                continue
            weaker = 0.0 if node == best else max(strength[node] - loss, 0.0)
            less = strength[node] - weaker
            strength[node] = weaker
            for place in range(heard_starts[node], heard_starts[node + 1]):
                votes[heard[place]] -= less * counts[place]
    return found
