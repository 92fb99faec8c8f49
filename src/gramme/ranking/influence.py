"""Whom to tell first: seeds from which news spreads furthest, with how far it is expected to get."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._types import Floats, Ints
from gramme.errors import DataError
from gramme.graph import Layer, MultilayerGraph
from gramme.graph.canonical import in_name_order
from gramme.graph.coupling import with_coupling_layers
from gramme.ops.kernels import compiled, derived_seed, start, uniform


class SpreadingEdges(NamedTuple):
    """Who can pass news to whom: CSR by the node that tells, with the interval and the key of each edge.

    An edge carries in a world if the number that belongs to its key there lies in its interval.
    """

    starts: Ints
    listeners: Ints
    low: Floats
    high: Floats
    keys: Ints

    def reversed(self) -> SpreadingEdges:
        """The same by the node that listens."""
        listener_order = np.argsort(self.listeners, kind="stable")
        num_nodes = self.starts.size - 1
        row_starts = np.concatenate([[0], np.cumsum(np.bincount(self.listeners, minlength=num_nodes))])
        teller_nodes = np.repeat(np.arange(num_nodes), np.diff(self.starts))
        return SpreadingEdges(
            row_starts,
            teller_nodes[listener_order],
            self.low[listener_order],
            self.high[listener_order],
            self.keys[listener_order],
        )


def check_model(model: str) -> None:
    """Refuse a way of spreading that is not known."""
    if model not in ("cascade", "threshold"):
        raise DataError(f"model must be 'cascade' or 'threshold', not {model!r}")


def spreading_edges(
    layers: Mapping[str, Layer], model: str, probability: float | Mapping[str, float]
) -> SpreadingEdges:
    """The edges of all layers for one of the models; news goes against the direction in which nodes listen.

    In a cascade, ``probability`` is that of an edge of weight 1 to carry; one of weight w tries w times. Under
    thresholds it is how much a layer counts beside others.
    """
    check_model(model)
    num_edges = sum(layer.num_edges for layer in layers.values())
    if num_edges > 20_000_000:  # those that groups imply included: some gigabytes
        raise DataError(
            f"news would spread along {num_edges:,} edges, more than the 20,000,000 that are simulated; "
            "choose layers with fewer or smaller groups"
        )
    combined_edges: Any = None
    for layer_name, layer in layers.items():
        layer_probability = probability.get(layer_name, 0.0) if isinstance(probability, Mapping) else probability
        if not 0 <= layer_probability <= 1:
            raise DataError(f"the probability for layer {layer_name!r} must be from 0 to 1, not {layer_probability}")
        telling_edges = sp.csr_array(layer.to_scipy().T.tocsr())
        if model == "cascade":
            # layers are independent chances, so the logarithms of not carrying add up
            telling_edges.data = telling_edges.data * np.log1p(-min(layer_probability, 1 - 1e-12))
        else:
            telling_edges.data = telling_edges.data * layer_probability
        combined_edges = telling_edges if combined_edges is None else combined_edges + telling_edges
    combined_edges = sp.csr_array(combined_edges)
    combined_edges.eliminate_zeros()
    csr_index = combined_edges.indptr.astype(np.int64), combined_edges.indices.astype(np.int64)
    if model == "cascade":
        edge_keys = np.arange(combined_edges.nnz, dtype=np.int64)
        return SpreadingEdges(*csr_index, np.zeros(combined_edges.nnz), -np.expm1(combined_edges.data), edge_keys)
    return SpreadingEdges(*csr_index, *_threshold_intervals(combined_edges), csr_index[1])


def _threshold_intervals(combined: sp.csr_array) -> tuple[Floats, Floats]:
    """Every listener's neighbours have intervals of lengths in proportion to their weights, 1 in all."""
    edge_entries = combined.tocoo()
    listener_order = np.argsort(edge_entries.col, kind="stable")
    listener_nodes, edge_weights = edge_entries.col[listener_order], edge_entries.data[listener_order]
    listener_totals = np.bincount(listener_nodes, weights=edge_weights, minlength=combined.shape[0])
    edge_shares = edge_weights / listener_totals[listener_nodes]
    interval_ends = np.cumsum(edge_shares)
    # where each listener's edges begin in the sum over all of them
    num_neighbours = np.bincount(listener_nodes, minlength=combined.shape[0])
    first_offsets = np.concatenate([[0.0], interval_ends])[np.cumsum(num_neighbours) - num_neighbours]
    edge_offsets = np.repeat(first_offsets, num_neighbours)
    upper_ends, lower_ends = np.empty(edge_shares.size), np.empty(edge_shares.size)
    upper_ends[listener_order] = interval_ends - edge_offsets
    lower_ends[listener_order] = interval_ends - edge_shares - edge_offsets
    return lower_ends, upper_ends


def reach_of_each(
    edges: SpreadingEdges, nodes: Ints, seed: np.uint64, worlds: int, tell: Callable[[int, int], None] | None = None
) -> Floats:
    """How many nodes each of ``nodes`` reaches alone, itself included, on average over so many worlds.

    In a dense graph nearly every node reaches nearly all others, so a search from each would cost nodes times edges. So
    each world is searched once from a node with many listeners, down to all that it reaches and up to all that reach
    it. A node that reaches this pivot reaches all below it; a search from there only looks for the rest (Ohsaka et al.
    2014). ``tell`` is called with the worlds done and in all.
    """
    summed_reach = np.zeros(nodes.size, dtype=np.int64)
    reversed_edges, pivot_node = edges.reversed(), int(np.diff(edges.starts).argmax())
    for world_number in range(worlds):
        _add_reach(edges, reversed_edges, nodes, pivot_node, seed, world_number, summed_reach)
        if tell is not None:
            tell(world_number + 1, worlds)
    return summed_reach / worlds


@compiled
def _spread(edges: SpreadingEdges, seen: NDArray[np.bool_], node: int, seed: np.uint64, world: int, queue: Ints) -> int:
    """Mark all that a node reaches and that was not seen before; they are in the queue, and so many."""
    queue[0], queue_head, queue_tail = node, 0, 1
    seen[node] = True
    random_stream = np.empty(1, dtype=np.uint64)
    while queue_head < queue_tail < seen.size:
        telling_node = queue[queue_head]
        queue_head += 1
        for edge_index in range(edges.starts[telling_node], edges.starts[telling_node + 1]):
            listening_node = edges.listeners[edge_index]
            if not seen[listening_node]:
                start(random_stream, seed, world, edges.keys[edge_index])
                if edges.low[edge_index] <= uniform(random_stream) < edges.high[edge_index]:
                    seen[listening_node] = True
                    queue[queue_tail] = listening_node
                    queue_tail += 1
    return queue_tail


@compiled
def activate(edges: SpreadingEdges, active: NDArray[np.bool_], node: int, seed: np.uint64, keep: bool) -> Ints:
    """How many more nodes are reached in each world if ``node`` is a seed too; ``keep`` marks them as reached."""
    num_worlds, num_nodes = active.shape
    reached_queue = np.empty(num_nodes, dtype=np.int64)
    reach_gains = np.zeros(num_worlds, dtype=np.int64)
    for world_number in range(num_worlds):
        if not active[world_number, node]:
            reach_gains[world_number] = _spread(edges, active[world_number], node, seed, world_number, reached_queue)
            if not keep:
                active[world_number][reached_queue[: reach_gains[world_number]]] = False
    return reach_gains


@compiled
def _add_reach(
    edges: SpreadingEdges, back: SpreadingEdges, nodes: Ints, pivot: int, seed: np.uint64, world: int, sums: Ints
) -> None:
    """Add how many nodes each node reaches in one world."""
    num_nodes = edges.starts.size - 1
    reached_queue = np.empty(num_nodes, dtype=np.int64)
    seen_alone, below_pivot, above_pivot = (
        np.zeros(num_nodes, np.bool_),
        np.zeros(num_nodes, np.bool_),
        np.zeros(num_nodes, np.bool_),
    )
    pivot_reach = _spread(edges, below_pivot, pivot, seed, world, reached_queue)
    _spread(back, above_pivot, pivot, seed, world, reached_queue)
    for node_place in range(nodes.size):
        node = nodes[node_place]
        seen_marks = below_pivot if above_pivot[node] else seen_alone
        if above_pivot[node]:
            sums[node_place] += pivot_reach
        if not seen_marks[node]:
            num_others = _spread(edges, seen_marks, node, seed, world, reached_queue)
            seen_marks[reached_queue[:num_others]] = False
            sums[node_place] += num_others


def influence(
    graph: MultilayerGraph,
    seeds: int = 5,
    *,
    model: str = "cascade",
    probability: float | Mapping[str, float] = 0.1,
    worlds: int | None = None,
    random_state: int = 0,
    tell: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Choose seeds one after the other, each the one that adds most to whom the others reach.

    The choice is greedy with lazy evaluation (CELF): a node's gain can only shrink as seeds are added, so most nodes
    need not be looked at again. It reaches at least 63 % of what the best set would. News goes from a node to those who
    listen to it, in every layer: along undirected edges both ways, along directed ones against their direction.

    Parameters
    ----------
    graph : MultilayerGraph
    seeds : int, default=5
    model : {"cascade", "threshold"}, default="cascade"
        Independent cascade: whoever has heard the news passes it on once along each edge, with the given probability.
        Linear threshold: a node takes part once those it listens to who do weigh more than a random share.
    probability : float or mapping of layer to float, default=0.1
        Of passing on along an edge of weight 1; an edge of weight w tries w times. Under thresholds, how much a layer
        counts beside the others.
    worlds : int, default=None
        Simulations in which nodes are compared: 1,000, or 200 for more than 2,000 nodes, if not given. The reach is
        estimated on as many others, so it is not flattered by the choice.
    random_state : int, default=0
    tell : callable, optional
        Called with the number of worlds done and in all.

    Returns
    -------
    DataFrame
        A row per seed in the order of choice: ``node``, ``reach`` (nodes reached on average by this and all earlier
        seeds, they included), its 95 % interval ``reach_low`` to ``reach_high``, ``gain`` over the row before, and
        ``order``: seeds of the same number are not ordered, since what each would add in the place of the first of them
        differs by no more than chance.

    References
    ----------
    Kempe, Kleinberg, Tardos: Maximizing the spread of influence through a social network. KDD 2003.
    Leskovec et al.: Cost-effective outbreak detection in networks. KDD 2007.
    Ohsaka et al.: Fast and accurate influence maximization on large networks with pruned Monte-Carlo simulations.
    AAAI 2014.

    Examples
    --------
    >>> from gramme.graph import EdgeLayer
    >>> g = MultilayerGraph({"talk": EdgeLayer(5, [0, 0, 0], [1, 2, 3])}, nodes=list("abcde"))
    >>> influence(g, 2, probability=1.0)
      node  reach  reach_low  reach_high  gain  order
    0    a    4.0        4.0         4.0   4.0      1
    1    e    5.0        5.0         5.0   1.0      2
    """
    if not 1 <= seeds <= graph.num_nodes:
        raise DataError(f"from 1 to {graph.num_nodes} seeds can be chosen among {graph.num_nodes} nodes, not {seeds}")
    if worlds is None:
        worlds = 1000 if graph.num_nodes <= 2000 else 200  # the reach varies less in large graphs
    if worlds < 2:
        raise DataError(f"at least 2 worlds are needed, not {worlds}")
    graph = in_name_order(graph).graph  # chance and ties follow names
    spreading = spreading_edges(with_coupling_layers(graph).layers, model, probability)
    chosen_nodes = _greedy(graph, spreading, seeds, worlds, derived_seed(random_state, 1), tell)
    fresh_seed = derived_seed(random_state, 2)
    seed_rows = []
    reach_before = 0.0
    is_reached = np.zeros((worlds, graph.num_nodes), dtype=np.bool_)
    num_reached = np.zeros(worlds, dtype=np.int64)
    current_tie = _Tie.begun(spreading, is_reached, chosen_nodes[0], fresh_seed, order=1)
    for num_seeds, node in enumerate(chosen_nodes, start=1):
        if not current_tie.holds(spreading, node, fresh_seed):
            current_tie = _Tie.begun(spreading, is_reached, node, fresh_seed, order=num_seeds)
        num_reached += activate(spreading, is_reached, node, fresh_seed, True)
        mean_reach, half_interval = float(num_reached.mean()), 1.96 * float(num_reached.std(ddof=1)) / np.sqrt(worlds)
        seed_rows.append(
            {
                "node": graph.nodes[node],
                "reach": mean_reach,
                "reach_low": max(mean_reach - half_interval, float(num_seeds)),
                "reach_high": min(mean_reach + half_interval, float(graph.num_nodes)),
                "gain": mean_reach - reach_before,
                "order": current_tie.order,
            }
        )
        reach_before = mean_reach
    return pd.DataFrame(seed_rows)


@dataclass(frozen=True)
class _Tie:
    """Seeds that are not ordered: what the first of them adds to those before, and who was reached then."""

    reached: NDArray[np.bool_]
    gains: Ints
    order: int

    @classmethod
    def begun(cls, edges: SpreadingEdges, active: NDArray[np.bool_], node: int, seed: np.uint64, *, order: int) -> _Tie:
        """Begin with a seed, before it is marked as reached."""
        return cls(active.copy(), activate(edges, active, node, seed, False), order)

    def holds(self, edges: SpreadingEdges, node: int, seed: np.uint64) -> bool:
        """Whether a node would have added as much as the first, but for chance, in the same worlds."""
        own_gains = activate(edges, self.reached, node, seed, False)
        gain_difference = self.gains - own_gains
        standard_error = float(gain_difference.std(ddof=1)) / np.sqrt(gain_difference.size)
        return abs(float(gain_difference.mean())) <= 1.96 * standard_error or not gain_difference.any()


def easy_choice(first_reach: float, num_nodes: int, model: str) -> str:
    """A word on seeds of which the first alone reaches nearly all nodes, as in most tables; else an empty text."""
    if first_reach < 0.95 * num_nodes:
        return ""
    advice_words = "; with a smaller --probability the choice would matter more" if model == "cascade" else ""
    return f"The first alone reaches nearly all nodes, so the choice says little{advice_words}."


def _greedy(
    graph: MultilayerGraph,
    edges: SpreadingEdges,
    seeds: int,
    worlds: int,
    seed: np.uint64,
    tell: Callable[[int, int], None] | None,
) -> list[int]:
    """The seeds by lazy evaluation; the first of several equal nodes in the order of nodes."""
    is_reached = np.zeros((worlds, graph.num_nodes), dtype=np.bool_)
    candidate_nodes = list(range(graph.num_nodes))
    if graph.num_nodes > (max_candidates := max(2000, 2 * seeds)):  # those with most listeners
        candidate_nodes = sorted(np.argsort(-np.diff(edges.starts), kind="stable")[:max_candidates].tolist())
    first_gains = reach_of_each(edges, np.array(candidate_nodes, dtype=np.int64), seed, worlds, tell)
    waiting_nodes = [(-float(gain), node, 0) for gain, node in zip(first_gains, candidate_nodes, strict=True)]
    heapq.heapify(waiting_nodes)
    chosen_nodes: list[int] = []
    while len(chosen_nodes) < seeds and waiting_nodes:
        _, node, looked_at = heapq.heappop(waiting_nodes)
        if looked_at == len(chosen_nodes):
            activate(edges, is_reached, node, seed, True)
            chosen_nodes.append(node)
        else:
            reach_gain = float(activate(edges, is_reached, node, seed, False).mean())
            heapq.heappush(waiting_nodes, (-reach_gain, node, len(chosen_nodes)))
    return chosen_nodes
