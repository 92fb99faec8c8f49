"""The multiplex k-shell: peel off nodes with few edges, layer by layer of an onion, until a core is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.graph import Layer
from gramme.ops.compiled import compiled
from gramme.ranking.all_layers import AllLayers


def k_shell(layers: Sequence[Layer], num_nodes: int) -> NDArray[np.float64]:
    """The largest k for which a node is in the k-core of all layers together.

    In the k-core every node has at least k edges to other nodes of the core, counted over all layers; an edge that two
    layers have counts twice, and one with a direction at both its ends. Groups are counted by their sizes, so the edges
    they imply are never listed. Cost: the edges, plus the memberships per round of peeling.
    """
    stacked = AllLayers.of(layers, num_nodes)
    directed = any(layer.directed for layer in layers)
    both = stacked.heard
    if directed:
        # layers without a direction have both entries already, so they are counted apart
        one_way = AllLayers.of([layer for layer in layers if layer.directed], num_nodes).heard
        both = sp.csr_array(both + one_way.T)
    groups = stacked.groups
    sizes = np.bincount(groups.indices, minlength=groups.shape[1]).astype(np.int64)
    return _peeled(*_index(both), both.data.astype(np.int64), *_index(groups), sizes).astype(
        np.float64
    )


def _index(matrix: sp.csr_array) -> tuple[NDArray[Any], NDArray[Any]]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)


@compiled
def _peeled(
    starts: NDArray[np.int64],
    others: NDArray[np.int64],
    counts: NDArray[np.int64],
    group_starts: NDArray[np.int64],
    groups: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> NDArray[np.int64]:
    nodes = starts.size - 1
    edges = np.zeros(nodes, dtype=np.int64)
    for node in range(nodes):
        for place in range(starts[node], starts[node + 1]):
            edges[node] += counts[place]
    shell = np.zeros(nodes, dtype=np.int64)
    gone = np.zeros(nodes, dtype=np.bool_)
    queue = np.empty(nodes, dtype=np.int64)
    left, level = nodes, np.int64(0)
    while left:
        head, tail = 0, 0
        smallest = np.int64(2**62)
        for node in range(nodes):
            if gone[node]:
                continue
            total = edges[node]
            for place in range(group_starts[node], group_starts[node + 1]):
                total += sizes[groups[place]] - 1
            if total <= level:
                gone[node] = True
                queue[tail] = node
                tail += 1
            elif total < smallest:
                smallest = total
        if tail == 0:
            level = smallest
            continue
        # along edges the peeling goes on at once; groups are looked at again in the next round
        while head < tail:
            node = queue[head]
            head += 1
            left -= 1
            shell[node] = level
            for place in range(group_starts[node], group_starts[node + 1]):
                sizes[groups[place]] -= 1
            for place in range(starts[node], starts[node + 1]):
                other = others[place]
                if gone[other]:
                    continue
                edges[other] -= counts[place]
                total = edges[other]
                for step in range(group_starts[other], group_starts[other + 1]):
                    total += sizes[groups[step]] - 1
                if total <= level:
                    gone[other] = True
                    queue[tail] = other
                    tail += 1
    return shell
