"""How far a ranking can be trusted: how ranks move when the coupling changes or some edges are missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gramme.graph import Layer, MultilayerGraph
from gramme.ranking.measures import MEASURES, RankingTask
from gramme.ranking.ranks import ranks_of

SPREAD_COUPLINGS = (0.1, 0.3, 3.0, 10.0)
"""Strengths of coupling over which ranks are followed, as multiples of the one asked for."""
SPREAD_SAMPLES = 10
"""Graphs with some edges left out over which ranks are followed."""
LEFT_OUT_SHARE = 0.1
"""Share of the edges and memberships that each such graph lacks."""

Bounds = dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]


def rank_spread(
    graph: MultilayerGraph,
    measures: Sequence[str],
    *,
    coupling: float = 1.0,
    restart: NDArray[np.int64] | None = None,
    random_state: int = 0,
    tell: Callable[[int, int], None] | None = None,
) -> Bounds:
    """The best and worst rank of each node by measure, over couplings and over edges left out at random.

    Parameters
    ----------
    graph : MultilayerGraph
    measures : sequence of str
    coupling : float, default=1.0
        The strength of coupling while edges are left out.
    restart : array of int, optional
        Positions at which the walker of PageRank starts anew.
    random_state : int, default=0
    tell : callable, optional
        Called after each step with the number of steps done and in all.
    """
    low = {name: np.full(graph.num_nodes, graph.num_nodes, dtype=np.int64) for name in measures}
    high = {name: np.zeros(graph.num_nodes, dtype=np.int64) for name in measures}
    coupled = [name for name in measures if MEASURES[name].coupled]
    couplings = [one * (coupling or 1.0) for one in SPREAD_COUPLINGS]
    couplings = couplings[: num_steps(graph)[0]] if coupled else []
    steps = len(couplings) + SPREAD_SAMPLES

    def note(task: RankingTask, names: Sequence[str]) -> None:
        for name in names:
            ranks = ranks_of(MEASURES[name].compute(task))
            np.minimum(low[name], ranks, out=low[name])
            np.maximum(high[name], ranks, out=high[name])

    products = RankingTask(graph).products
    for done, strength in enumerate(couplings, start=1):
        note(RankingTask(graph, strength, restart, products), coupled)
        if tell is not None:
            tell(done, steps)
    for sample in range(SPREAD_SAMPLES):
        random = np.random.default_rng([random_state, sample])
        thinner = graph.replace(
            layers={name: thinned(layer, random) for name, layer in graph.layers.items()}
        )
        note(RankingTask(thinner, coupling, restart), measures)
        if tell is not None:
            tell(len(couplings) + sample + 1, steps)
    return {name: (low[name], high[name]) for name in measures}


def num_steps(graph: MultilayerGraph) -> tuple[int, int]:
    """Strengths of coupling that are tried, and graphs with some edges left out."""
    return (len(SPREAD_COUPLINGS) if graph.num_layers > 1 else 0), SPREAD_SAMPLES


def thinned(layer: Layer, random: np.random.Generator, share: float = LEFT_OUT_SHARE) -> Layer:
    """A layer that lacks a random share of its edges, or of its memberships, and no nodes."""
    return layer.with_entries(random.random(layer.num_entries) >= share)
