"""How central nodes are over all layers: degrees, PageRank, eigenvectors, MultiRank, k-shells and elections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs, eigsh

from gramme._types import Floats, Ints
from gramme.graph import Layer, MultilayerGraph
from gramme.ops.kernels import compiled

from .products import AllLayers, LayerProduct, SupraProduct, warn_unless


def layer_degrees(layer: Layer) -> tuple[Floats, Floats]:
    """Edges that leave and that reach each node of a layer; the same where edges have no direction."""
    out = layer.degrees().astype(np.float64)
    if not layer.directed:
        return out, out
    reached = layer.to_edges().target
    return out, np.bincount(reached, minlength=layer.num_nodes).astype(np.float64)


def layer_degree(layer: Layer) -> Floats:
    """All edges at each node; an edge with a direction counts at both its ends."""
    out, into = layer_degrees(layer)
    return out + into if layer.directed else out


def participation(graph: MultilayerGraph) -> Floats:
    """How evenly a node's edges are spread over the layers: 0 all in one, 1 equally many in each.

    ``L / (L - 1) * (1 - sum over layers of (degree there / degree in all)^2)``; 0 for a node without edges.

    References
    ----------
    Battiston, Nicosia, Latora: Structural measures for multiplex networks. Physical Review E 89, 032804 (2014).
    """
    degrees = np.stack([layer_degree(layer) for layer in graph.layers.values()])
    layers = len(degrees)
    total = degrees.sum(axis=0)
    if layers < 2:
        return np.zeros(total.size)
    shares = np.divide(degrees, total, out=np.zeros_like(degrees), where=total > 0)
    spread: Floats = np.where(total > 0, layers / (layers - 1) * (1 - (shares**2).sum(axis=0)), 0.0)
    return spread


DAMPING = 0.85


def pagerank(supra: SupraProduct, *, damping: float = DAMPING, restart: Ints | None = None) -> Floats:
    """Share of its time that a walker spends at each node, over all layers; sums to 1.

    From a copy of a node the walker takes one of its edges, within the layer or to another copy of the node, in
    proportion to their weights. With probability ``1 - damping``, and always where no edge leaves, it starts anew at
    a random copy: any, or one of the nodes in ``restart`` (random walk with restart).

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
    for _ in range(1000):
        followed = damping * supra.transposed(shares * per_unit)
        # what is not passed on along edges starts anew
        renewed = 1.0 - damping * float(shares[moves].sum())
        following = followed + renewed * start
        change = float(np.abs(following - shares).sum())
        shares = following
        if change < 1e-9:
            break
    warn_unless(change < 1e-9, "pagerank", 1000)
    total: Floats = shares.sum(axis=0)
    return total


VERSATILITY_MAX_STEPS = 5000
_DENSE = 64

Product = Callable[[Floats], Floats]


def eigenvector_versatility(supra: SupraProduct, leads: tuple[float, Floats]) -> Floats:
    """The leading eigenvector of the transposed supra adjacency, summed over copies; the largest entry is 1."""
    return _per_node(supra, leads[1])


def katz_versatility(supra: SupraProduct, leads: tuple[float, Floats], share: float = 0.5) -> Floats:
    """Walks of all lengths that end at a node, each step counted less: ``(1 - a M^T)^-1 1``, summed over copies.

    ``share`` is the attenuation ``a`` as a share of its upper bound, 1 over the leading eigenvalue of M.
    """
    largest = leads[0]
    attenuation = share / largest if largest > 0 else 0.0
    start = supra.present.astype(np.float64)
    found = start.copy()
    change = 0.0
    for _ in range(VERSATILITY_MAX_STEPS):
        following = start + attenuation * supra.transposed(found)
        change = float(np.abs(following - found).max(initial=0.0))
        found = following
        if change <= 1e-10 * found.max(initial=1.0):
            break
    warn_unless(change <= 1e-10 * found.max(initial=1.0), "katz", VERSATILITY_MAX_STEPS)
    return _per_node(supra, found)


def hubs_and_authorities(supra: SupraProduct) -> tuple[Floats, Floats]:
    """Hub and authority versatility: leading eigenvectors of ``M M^T`` and ``M^T M``, summed over copies."""
    _, authority = leading(lambda values: supra.transposed(supra.times(values)), supra, symmetric=True)
    return _per_node(supra, supra.times(authority)), _per_node(supra, authority)


def leading(product: Product, supra: SupraProduct, *, symmetric: bool) -> tuple[float, Floats]:
    """The leading eigenvalue of a product that keeps values positive, and its eigenvector, of shape (layers, nodes).

    Where several eigenvectors share that eigenvalue, the one nearest to all copies being equal.
    """
    shape = supra.shape
    size = shape[0] * shape[1]
    start = supra.present.astype(np.float64).ravel()
    if not size or not start.any():
        return 0.0, np.zeros(shape)

    operator = LinearOperator(
        (size, size), matvec=lambda values: product(values.reshape(shape)).ravel(), dtype=np.float64
    )
    if size <= _DENSE:
        matrix = operator @ np.eye(size)
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2) if symmetric else np.linalg.eig(matrix)
        value = float(values.real.max())
        vector = vectors[:, int(values.real.argmax())].real
        if symmetric:
            same = values > value - 1e-9 * max(abs(value), 1.0)
            vector = vectors[:, same] @ (vectors[:, same].T @ start)
    else:
        value, vector = _arpack_leading(operator, start, symmetric)
    if value <= 1e-12:
        return 0.0, np.zeros(shape)
    vector = vector * np.sign(vector.sum() or 1.0)
    return value, np.maximum(vector, 0.0).reshape(shape)


def _arpack_leading(operator: LinearOperator, start: Floats, symmetric: bool) -> tuple[float, Floats]:
    solve, which = (eigsh, "LA") if symmetric else (eigs, "LR")
    try:
        values, vectors = solve(operator, k=1, which=which, v0=start, maxiter=VERSATILITY_MAX_STEPS)
    except ArpackNoConvergence:
        warn_unless(False, "the leading eigenvector", VERSATILITY_MAX_STEPS)
        vector = start / np.linalg.norm(start)
        for _ in range(100):
            vector = operator.matvec(vector) + vector
            vector /= np.linalg.norm(vector)
        return float(vector @ operator.matvec(vector)), vector
    return float(np.real(values[0])), np.real(vectors[:, 0])


def _per_node(supra: SupraProduct, copies: Floats) -> Floats:
    total: Floats = np.where(supra.present, copies, 0.0).sum(axis=0)
    largest = total.max(initial=0.0)
    if largest <= 0:
        return total
    # what a solver leaves of a zero is not importance
    scaled: Floats = np.where(total > 1e-12 * largest, total / largest, 0.0)
    return scaled


class MultiRank(NamedTuple):
    """The centrality of the nodes and the influence of the layers; each sums to 1."""

    nodes: Floats
    layers: Floats


def multirank(products: Sequence[LayerProduct]) -> MultiRank:
    """Centralities x of nodes and influences z of layers that determine each other.

    With the adjacency ``A_l`` of each layer and ``G = sum of z_l A_l``, a walker on G gives

        x_i = damping * sum over j of x_j G_ji / out_j  +  the rest, spread over all nodes that have edges,

    and layers get ``z_l = W_l sum over i of B_li x_i / norm``, where ``W_l`` is the weight of all edges of a layer and
    ``B_li`` the share of it that reaches node i: the paper's equations with a = s = gamma = 1.

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
    change = np.inf
    for _ in range(2000):
        leaving = sum(z * one.out_strength for z, one in zip(influence, products, strict=True))
        sent = np.divide(centrality, leaving, out=np.zeros_like(centrality), where=leaving > 0)
        heard = sum(z * one.transposed(sent) for z, one in zip(influence, products, strict=True))
        renewed = 1.0 - DAMPING * float(centrality[leaving > 0].sum())
        following = DAMPING * heard + renewed * start
        layers = np.array([float(one.in_strength @ following) for one in products])
        layers /= layers.sum()
        change = float(np.abs(following - centrality).sum() + np.abs(layers - influence).sum())
        # half a step: the two sets of equations may otherwise answer each other for ever
        centrality, influence = following, (layers + influence) / 2
        if change < 1e-10:
            break
    warn_unless(change < 1e-10, "multirank", 2000)
    return MultiRank(centrality, influence)


def k_shell(layers: Sequence[Layer], num_nodes: int) -> Floats:
    """The largest k for which a node is in the k-core of all layers together.

    In the k-core every node has at least k edges to other nodes of the core, counted over all layers; an edge that two
    layers have counts twice, and one with a direction at both its ends. Groups are counted by their sizes, so the edges
    they imply are never listed. Cost: the edges, plus the memberships per round of peeling.
    """
    stacked = AllLayers.of(layers, num_nodes)
    # layers without a direction have both entries already, so those with one are counted apart
    one_way = AllLayers.of([layer for layer in layers if layer.directed], num_nodes).heard
    both = sp.csr_array(stacked.heard + one_way.T)
    groups = stacked.groups
    sizes = np.bincount(groups.indices, minlength=groups.shape[1]).astype(np.int64)
    return _peeled(*_index(both), both.data.astype(np.int64), *_index(groups), sizes).astype(np.float64)


def _index(matrix: sp.csr_array) -> tuple[NDArray[Any], NDArray[Any]]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)


@compiled
def _peeled(starts: Ints, others: Ints, counts: Ints, group_starts: Ints, groups: Ints, sizes: Ints) -> Ints:
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


class Election(NamedTuple):
    """The result of :func:`voterank`."""

    elected: Ints  # positions in the order of election
    first_of_tie: Ints  # for each of them the place of the first that it is tied with
    last_tie: NDArray[np.bool_]  # for each node whether it had as many votes as the first of the last tie


def voterank(layers: Sequence[Layer], num_nodes: int, elected: int | None = None) -> Election:
    """Elect nodes that spread news, one after the other.

    Every node votes for the nodes it listens to, once per layer in which it does, with a strength that begins at 1.
    The node with most votes is elected (the first in the order of nodes where several have as many). It stops voting,
    and those it is joined with lose ``1 / (average degree)`` of their strength, so that the next one is found
    elsewhere. Nodes elected one after the other are tied if they had as many votes as the first when that was elected,
    and so are nodes that are then not elected at all. Ends when nobody has votes left, or after 1,000 elections unless
    ``elected`` says otherwise; fewer in graphs with millions of edges.

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
        return Election(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(num_nodes, dtype=bool))
    if elected is None:
        # all elections together look at two billion edges and memberships at most
        elected = min(1000, max(10, 2_000_000_000 // max(heard.nnz + 2 * groups.nnz, 1)))
    elections = _elected(
        *_index(heard),
        heard.data,
        *_index(told),
        *_index(groups),
        *_index(members),
        np.asarray(told @ np.ones(num_nodes)),
        1.0 / average,
        min(num_nodes, elected),
    )
    return Election(*elections)


@compiled
def _elected(
    heard_starts: Ints,
    heard: Ints,
    counts: Floats,
    told_starts: Ints,
    told: Ints,
    group_starts: Ints,
    groups: Ints,
    member_starts: Ints,
    members: Ints,
    votes: Floats,
    loss: float,
    limit: int,
) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    nodes = heard_starts.size - 1
    strength, together = np.ones(nodes), np.zeros(member_starts.size - 1)
    chosen, touched = np.zeros(nodes, dtype=np.bool_), np.zeros(nodes, dtype=np.bool_)
    found, first_of_tie = np.empty(limit, dtype=np.int64), np.empty(limit, dtype=np.int64)
    current, at_first = np.zeros(nodes), np.zeros(nodes)  # votes now, and when the first of the tie was elected
    most_at_first = -1.0
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
            current[node] = np.round(votes[node] + shared - own, 9)
            if current[node] > most:
                best, most = node, current[node]
        if best < 0:
            return found[:count], first_of_tie[:count], at_first == most_at_first
        found[count] = best
        first_of_tie[count] = first_of_tie[count - 1]
        if at_first[best] != most_at_first:
            first_of_tie[count], most_at_first = count, most
            at_first[:] = current
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
    return found, first_of_tie, at_first == most_at_first
