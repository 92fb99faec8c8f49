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
    out_degree = layer.degrees().astype(np.float64)
    if not layer.directed:
        return out_degree, out_degree
    target_nodes = layer.to_edges().target
    return out_degree, np.bincount(target_nodes, minlength=layer.num_nodes).astype(np.float64)


def layer_degree(layer: Layer) -> Floats:
    """All edges at each node; an edge with a direction counts at both its ends."""
    out_degree, in_degree = layer_degrees(layer)
    return out_degree + in_degree if layer.directed else out_degree


def participation(graph: MultilayerGraph) -> Floats:
    """How evenly a node's edges are spread over the layers: 0 all in one, 1 equally many in each.

    ``L / (L - 1) * (1 - sum over layers of (degree there / degree in all)^2)``; 0 for a node without edges.

    References
    ----------
    Battiston, Nicosia, Latora: Structural measures for multiplex networks. Physical Review E 89, 032804 (2014).
    """
    degrees = np.stack([layer_degree(layer) for layer in graph.layers.values()])
    num_layers = len(degrees)
    degree_sum = degrees.sum(axis=0)
    if num_layers < 2:
        return np.zeros(degree_sum.size)
    shares = np.divide(degrees, degree_sum, out=np.zeros_like(degrees), where=degree_sum > 0)
    evenness: Floats = np.where(degree_sum > 0, num_layers / (num_layers - 1) * (1 - (shares**2).sum(axis=0)), 0.0)
    return evenness


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
    start_copies = supra.present.astype(np.float64)
    if restart is not None:
        restart_copies = np.zeros_like(start_copies)
        restart_copies[:, restart] = start_copies[:, restart]
        start_copies = restart_copies
    start_shares = start_copies / max(start_copies.sum(), 1.0)
    leaving_weight = supra.times(supra.present.astype(np.float64))
    has_edges = leaving_weight > 0
    per_unit = np.divide(1.0, leaving_weight, out=np.zeros_like(leaving_weight), where=has_edges)
    walker_shares = start_shares.copy()
    last_change = np.inf
    for _ in range(1000):
        followed_shares = damping * supra.transposed(walker_shares * per_unit)
        # what is not passed on along edges starts anew
        restarted_share = 1.0 - damping * float(walker_shares[has_edges].sum())
        next_shares = followed_shares + restarted_share * start_shares
        last_change = float(np.abs(next_shares - walker_shares).sum())
        walker_shares = next_shares
        if last_change < 1e-9:
            break
    warn_unless(last_change < 1e-9, "pagerank", 1000)
    node_shares: Floats = walker_shares.sum(axis=0)
    return node_shares


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
    leading_value = leads[0]
    attenuation = share / leading_value if leading_value > 0 else 0.0
    walk_starts = supra.present.astype(np.float64)
    walk_counts = walk_starts.copy()
    last_change = 0.0
    for _ in range(VERSATILITY_MAX_STEPS):
        next_counts = walk_starts + attenuation * supra.transposed(walk_counts)
        last_change = float(np.abs(next_counts - walk_counts).max(initial=0.0))
        walk_counts = next_counts
        if last_change <= 1e-10 * walk_counts.max(initial=1.0):
            break
    warn_unless(last_change <= 1e-10 * walk_counts.max(initial=1.0), "katz", VERSATILITY_MAX_STEPS)
    return _per_node(supra, walk_counts)


def hubs_and_authorities(supra: SupraProduct) -> tuple[Floats, Floats]:
    """Hub and authority versatility: leading eigenvectors of ``M M^T`` and ``M^T M``, summed over copies."""
    _, authority = leading(lambda values: supra.transposed(supra.times(values)), supra, symmetric=True)
    return _per_node(supra, supra.times(authority)), _per_node(supra, authority)


def leading(product: Product, supra: SupraProduct, *, symmetric: bool) -> tuple[float, Floats]:
    """The leading eigenvalue of a product that keeps values positive, and its eigenvector, of shape (layers, nodes).

    Where several eigenvectors share that eigenvalue, the one nearest to all copies being equal.
    """
    supra_shape = supra.shape
    num_copies = supra_shape[0] * supra_shape[1]
    start_vector = supra.present.astype(np.float64).ravel()
    if not num_copies or not start_vector.any():
        return 0.0, np.zeros(supra_shape)

    supra_operator = LinearOperator(
        (num_copies, num_copies), matvec=lambda values: product(values.reshape(supra_shape)).ravel(), dtype=np.float64
    )
    if num_copies <= _DENSE:
        matrix = supra_operator @ np.eye(num_copies)
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2) if symmetric else np.linalg.eig(matrix)
        leading_value = float(values.real.max())
        leading_vector = vectors[:, int(values.real.argmax())].real
        if symmetric:
            shares_value = values > leading_value - 1e-9 * max(abs(leading_value), 1.0)
            leading_vector = vectors[:, shares_value] @ (vectors[:, shares_value].T @ start_vector)
    else:
        leading_value, leading_vector = _arpack_leading(supra_operator, start_vector, symmetric)
    if leading_value <= 1e-12:
        return 0.0, np.zeros(supra_shape)
    leading_vector = leading_vector * np.sign(leading_vector.sum() or 1.0)
    return leading_value, np.maximum(leading_vector, 0.0).reshape(supra_shape)


def _arpack_leading(operator: LinearOperator, start: Floats, symmetric: bool) -> tuple[float, Floats]:
    eigen_solver: Any = eigsh if symmetric else eigs
    eigenvalue_kind = "LA" if symmetric else "LR"
    try:
        values, vectors = eigen_solver(operator, k=1, which=eigenvalue_kind, v0=start, maxiter=VERSATILITY_MAX_STEPS)
    except ArpackNoConvergence:
        warn_unless(False, "the leading eigenvector", VERSATILITY_MAX_STEPS)
        power_vector = start / np.linalg.norm(start)
        for _ in range(100):
            power_vector = operator.matvec(power_vector) + power_vector
            power_vector /= np.linalg.norm(power_vector)
        return float(power_vector @ operator.matvec(power_vector)), power_vector
    return float(np.real(values[0])), np.real(vectors[:, 0])


def _per_node(supra: SupraProduct, copies: Floats) -> Floats:
    node_totals: Floats = np.where(supra.present, copies, 0.0).sum(axis=0)
    largest_total = node_totals.max(initial=0.0)
    if largest_total <= 0:
        return node_totals
    # what a solver leaves of a zero is not importance
    scaled_totals: Floats = np.where(node_totals > 1e-12 * largest_total, node_totals / largest_total, 0.0)
    return scaled_totals


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
    layer_totals = np.array([one.out_strength.sum() for one in products])
    is_active = np.zeros(products[0].num_nodes, dtype=bool)
    for layer_product in products:
        is_active |= (layer_product.out_strength > 0) | (layer_product.in_strength > 0)
    layer_influence = np.where(layer_totals > 0, 1.0, 0.0)
    if not is_active.any():
        return MultiRank(np.zeros(is_active.size), np.zeros(layer_totals.size))
    layer_influence /= layer_influence.sum()
    start_shares = is_active / is_active.sum()
    node_centrality = start_shares.copy()
    last_change = np.inf
    for _ in range(2000):
        weight_out = sum(z * one.out_strength for z, one in zip(layer_influence, products, strict=True))
        sent_shares = np.divide(node_centrality, weight_out, out=np.zeros_like(node_centrality), where=weight_out > 0)
        received_shares = sum(z * one.transposed(sent_shares) for z, one in zip(layer_influence, products, strict=True))
        restarted_share = 1.0 - DAMPING * float(node_centrality[weight_out > 0].sum())
        next_nodes = DAMPING * received_shares + restarted_share * start_shares
        next_influence = np.array([float(one.in_strength @ next_nodes) for one in products])
        next_influence /= next_influence.sum()
        last_change = float(np.abs(next_nodes - node_centrality).sum() + np.abs(next_influence - layer_influence).sum())
        # half a step: the two sets of equations may otherwise answer each other for ever
        node_centrality, layer_influence = next_nodes, (next_influence + layer_influence) / 2
        if last_change < 1e-10:
            break
    warn_unless(last_change < 1e-10, "multirank", 2000)
    return MultiRank(node_centrality, layer_influence)


def k_shell(layers: Sequence[Layer], num_nodes: int) -> Floats:
    """The largest k for which a node is in the k-core of all layers together.

    In the k-core every node has at least k edges to other nodes of the core, counted over all layers; an edge that two
    layers have counts twice, and one with a direction at both its ends. Groups are counted by their sizes, so the edges
    they imply are never listed. Cost: the edges, plus the memberships per round of peeling.
    """
    all_layers = AllLayers.of(layers, num_nodes)
    # layers without a direction have both entries already, so those with one are counted apart
    one_way = AllLayers.of([layer for layer in layers if layer.directed], num_nodes).heard
    edge_counts = sp.csr_array(all_layers.heard + one_way.T)
    group_matrix = all_layers.groups
    group_sizes = np.bincount(group_matrix.indices, minlength=group_matrix.shape[1]).astype(np.int64)
    return _peeled(*_index(edge_counts), edge_counts.data.astype(np.int64), *_index(group_matrix), group_sizes).astype(
        np.float64
    )


def _index(matrix: sp.csr_array) -> tuple[NDArray[Any], NDArray[Any]]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)


@compiled
def _peeled(starts: Ints, others: Ints, counts: Ints, group_starts: Ints, groups: Ints, sizes: Ints) -> Ints:
    num_nodes = starts.size - 1
    edge_counts = np.zeros(num_nodes, dtype=np.int64)
    for node in range(num_nodes):
        for entry_index in range(starts[node], starts[node + 1]):
            edge_counts[node] += counts[entry_index]
    shell_numbers = np.zeros(num_nodes, dtype=np.int64)
    is_peeled = np.zeros(num_nodes, dtype=np.bool_)
    peeling_queue = np.empty(num_nodes, dtype=np.int64)
    num_left, current_level = num_nodes, np.int64(0)
    while num_left:
        queue_head, queue_tail = 0, 0
        smallest_degree = np.int64(2**62)
        for node in range(num_nodes):
            if is_peeled[node]:
                continue
            node_degree = edge_counts[node]
            for entry_index in range(group_starts[node], group_starts[node + 1]):
                node_degree += sizes[groups[entry_index]] - 1
            if node_degree <= current_level:
                is_peeled[node] = True
                peeling_queue[queue_tail] = node
                queue_tail += 1
            elif node_degree < smallest_degree:
                smallest_degree = node_degree
        if queue_tail == 0:
            current_level = smallest_degree
            continue
        # along edges the peeling goes on at once; groups are looked at again in the next round
        while queue_head < queue_tail:
            node = peeling_queue[queue_head]
            queue_head += 1
            num_left -= 1
            shell_numbers[node] = current_level
            for entry_index in range(group_starts[node], group_starts[node + 1]):
                sizes[groups[entry_index]] -= 1
            for entry_index in range(starts[node], starts[node + 1]):
                other_node = others[entry_index]
                if is_peeled[other_node]:
                    continue
                edge_counts[other_node] -= counts[entry_index]
                node_degree = edge_counts[other_node]
                for group_index in range(group_starts[other_node], group_starts[other_node + 1]):
                    node_degree += sizes[groups[group_index]] - 1
                if node_degree <= current_level:
                    is_peeled[other_node] = True
                    peeling_queue[queue_tail] = other_node
                    queue_tail += 1
    return shell_numbers


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
    all_layers = AllLayers.of(layers, num_nodes)
    listens_to, heard_by, group_matrix = all_layers.heard, all_layers.told, all_layers.groups
    member_matrix = sp.csr_array(group_matrix.T.tocsr())
    group_sizes = np.diff(member_matrix.indptr).astype(np.float64)
    node_degrees = np.asarray(listens_to.sum(axis=1)).ravel() + np.asarray(group_matrix @ (group_sizes - 1))
    mean_degree = node_degrees.sum() / max(num_nodes, 1)
    if mean_degree == 0:
        return Election(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(num_nodes, dtype=bool))
    if elected is None:
        # all elections together look at two billion edges and memberships at most
        elected = min(1000, max(10, 2_000_000_000 // max(listens_to.nnz + 2 * group_matrix.nnz, 1)))
    election_arrays = _elected(
        *_index(listens_to),
        listens_to.data,
        *_index(heard_by),
        *_index(group_matrix),
        *_index(member_matrix),
        np.asarray(heard_by @ np.ones(num_nodes)),
        1.0 / mean_degree,
        min(num_nodes, elected),
    )
    return Election(*election_arrays)


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
    num_nodes = heard_starts.size - 1
    vote_strength, group_strength = np.ones(num_nodes), np.zeros(member_starts.size - 1)
    is_elected, is_touched = np.zeros(num_nodes, dtype=np.bool_), np.zeros(num_nodes, dtype=np.bool_)
    elected_nodes, first_of_tie = np.empty(limit, dtype=np.int64), np.empty(limit, dtype=np.int64)
    current_votes, votes_at_first = (
        np.zeros(num_nodes),
        np.zeros(num_nodes),
    )  # votes now, and when the first of the tie was elected
    most_at_first = -1.0
    for num_elected in range(limit):
        for group in range(group_strength.size):
            group_strength[group] = 0.0
            for entry_index in range(member_starts[group], member_starts[group + 1]):
                group_strength[group] += vote_strength[members[entry_index]]
        best_node, most_votes = -1, 1e-9
        for node in range(num_nodes):
            if is_elected[node]:
                continue
            group_votes = 0.0
            for entry_index in range(group_starts[node], group_starts[node + 1]):
                group_votes += group_strength[groups[entry_index]]
            own_votes = (group_starts[node + 1] - group_starts[node]) * vote_strength[node]
            # rounded, so that sums taken in another order elect the same node
            current_votes[node] = np.round(votes[node] + group_votes - own_votes, 9)
            if current_votes[node] > most_votes:
                best_node, most_votes = node, current_votes[node]
        if best_node < 0:
            return elected_nodes[:num_elected], first_of_tie[:num_elected], votes_at_first == most_at_first
        elected_nodes[num_elected] = best_node
        first_of_tie[num_elected] = first_of_tie[num_elected - 1]
        if votes_at_first[best_node] != most_at_first:
            first_of_tie[num_elected], most_at_first = num_elected, most_votes
            votes_at_first[:] = current_votes
        is_elected[best_node] = True
        # those who listen to the elected node in any layer have had their say
        is_touched[:] = False
        for entry_index in range(told_starts[best_node], told_starts[best_node + 1]):
            is_touched[told[entry_index]] = True
        for group_index in range(group_starts[best_node], group_starts[best_node + 1]):
            group = groups[group_index]
            for entry_index in range(member_starts[group], member_starts[group + 1]):
                is_touched[members[entry_index]] = True
        is_touched[best_node] = True
        for node in range(num_nodes):
            if not is_touched[node] or vote_strength[node] == 0.0:
                continue
            weaker_strength = 0.0 if node == best_node else max(vote_strength[node] - loss, 0.0)
            lost_strength = vote_strength[node] - weaker_strength
            vote_strength[node] = weaker_strength
            for entry_index in range(heard_starts[node], heard_starts[node + 1]):
                votes[heard[entry_index]] -= lost_strength * counts[entry_index]
    return elected_nodes, first_of_tie, votes_at_first == most_at_first
