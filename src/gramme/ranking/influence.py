"""Whom to tell first: seeds from which news spreads furthest, with how far it is expected to get."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.coupling import with_coupling_layers
from gramme.graph.name_order import in_name_order
from gramme.ops.counter_random import derived_seed
from gramme.ranking.cascade import SpreadingEdges, activate, reach_of_each, spreading_edges

DEFAULT_SEEDS = 5
DEFAULT_PROBABILITY = 0.1
DEFAULT_WORLDS = 1000
"""Worlds in which seeds are compared; as many further ones say how far they reach."""
FEWER_WORLDS, MANY_NODES = 200, 2000
"""Fewer worlds do for graphs of many nodes, whose reach varies less."""
NEARLY_ALL = 0.95
"""Share of the nodes from which on the first seed alone is said to reach nearly all."""
MAX_CANDIDATES = 2000
"""Nodes that are considered as seeds at most, those with most listeners."""


def influence(
    graph: MultilayerGraph,
    seeds: int = DEFAULT_SEEDS,
    *,
    model: str = "cascade",
    probability: float | Mapping[str, float] = DEFAULT_PROBABILITY,
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
        seeds, they included), its 95 % interval ``reach_low`` to ``reach_high``, and ``gain`` over the row before.

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
      node  reach  reach_low  reach_high  gain
    0    a    4.0        4.0         4.0   4.0
    1    e    5.0        5.0         5.0   1.0
    """
    if not 1 <= seeds <= graph.num_nodes:
        raise DataError(
            f"from 1 to {graph.num_nodes} seeds can be chosen among {graph.num_nodes} nodes, not {seeds}"
        )
    worlds = num_worlds(graph.num_nodes) if worlds is None else worlds
    if worlds < 2:
        raise DataError(f"at least 2 worlds are needed, not {worlds}")
    graph = in_name_order(graph).graph  # chance and ties follow names
    edges = spreading_edges(with_coupling_layers(graph).layers, model, probability)
    chosen = _greedy(graph, edges, seeds, worlds, derived_seed(random_state, 1), tell)
    fresh = derived_seed(random_state, 2)
    rows = []
    before = 0.0
    active = np.zeros((worlds, graph.num_nodes), dtype=np.bool_)
    counts = np.zeros(worlds, dtype=np.int64)
    for count, node in enumerate(chosen, start=1):
        counts += activate(edges, active, node, fresh, keep=True)
        mean, half = float(counts.mean()), 1.96 * float(counts.std(ddof=1)) / np.sqrt(worlds)
        rows.append(
            {
                "node": graph.nodes[node],
                "reach": mean,
                "reach_low": max(mean - half, float(count)),
                "reach_high": min(mean + half, float(graph.num_nodes)),
                "gain": mean - before,
            }
        )
        before = mean
    return pd.DataFrame(rows)


def num_worlds(nodes: int) -> int:
    """Simulations in which the nodes of a graph are compared, if nobody says otherwise."""
    return DEFAULT_WORLDS if nodes <= MANY_NODES else FEWER_WORLDS


def easy_choice(first_reach: float, num_nodes: int, model: str) -> str:
    """A word on seeds of which the first alone reaches nearly all nodes, as in most tables; else an empty text."""
    if first_reach < NEARLY_ALL * num_nodes:
        return ""
    less = (
        "; with a smaller --probability the choice would matter more" if model == "cascade" else ""
    )
    return f"The first alone reaches nearly all nodes, so the choice says little{less}."


def _greedy(
    graph: MultilayerGraph,
    edges: SpreadingEdges,
    seeds: int,
    worlds: int,
    seed: np.uint64,
    tell: Callable[[int, int], None] | None,
) -> list[int]:
    """The seeds by lazy evaluation; the first of several equal nodes in the order of nodes."""
    active = np.zeros((worlds, graph.num_nodes), dtype=np.bool_)
    candidates = _candidates(graph, edges, seeds)
    gains = reach_of_each(edges, np.array(candidates, dtype=np.int64), seed, worlds, tell)
    waiting = [(-float(gain), node, 0) for gain, node in zip(gains, candidates, strict=True)]
    heapq.heapify(waiting)
    chosen: list[int] = []
    while len(chosen) < seeds and waiting:
        _, node, looked_at = heapq.heappop(waiting)
        if looked_at == len(chosen):
            activate(edges, active, node, seed, keep=True)
            chosen.append(node)
        else:
            gain = float(activate(edges, active, node, seed, keep=False).mean())
            heapq.heappush(waiting, (-gain, node, len(chosen)))
    return chosen


def _candidates(graph: MultilayerGraph, edges: SpreadingEdges, seeds: int) -> list[int]:
    most = max(MAX_CANDIDATES, 2 * seeds)
    if graph.num_nodes <= most:
        return list(range(graph.num_nodes))
    listeners = np.diff(edges.starts)
    return sorted(np.argsort(-listeners, kind="stable")[:most].tolist())
