"""The measures by name: what each is, whether couplings between layers matter to it, and how it is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError, did_you_mean
from gramme.graph import Layer, MultilayerGraph
from gramme.graph.coupling import with_coupling_layers

from .centrality import (
    MultiRank,
    eigenvector_versatility,
    hubs_and_authorities,
    k_shell,
    katz_versatility,
    layer_degree,
    layer_degrees,
    leading,
    multirank,
    pagerank,
    participation,
    voterank,
)
from .products import LayerProduct, SupraProduct, couplings_of

Values = NDArray[np.float64]


class RankingTask:
    """What measures compute from: a graph, the strength of coupling, and parts that several measures share."""

    def __init__(
        self,
        graph: MultilayerGraph,
        coupling: float = 1.0,
        restart: NDArray[np.int64] | None = None,
        products: list[LayerProduct] | None = None,
    ) -> None:
        # measures that know no couplings take each for one more layer
        self.graph = with_coupling_layers(graph)
        self.layers = list(self.graph.layers.values())
        self.products = products or [LayerProduct(layer) for layer in self.layers]
        self.supra = SupraProduct(self.products[: graph.num_layers], coupling, couplings_of(graph))
        self.restart = restart

    @cached_property
    def leading(self) -> tuple[float, Values]:
        """The leading eigenvalue and eigenvector of the supra graph."""
        return leading(self.supra.transposed, self.supra, symmetric=not self.supra.directed)

    @cached_property
    def hubs_and_authorities(self) -> tuple[Values, Values]:
        """Both come from one computation."""
        return hubs_and_authorities(self.supra)

    @cached_property
    def multirank(self) -> MultiRank:
        """Centralities of nodes with influences of layers."""
        return multirank(self.products)


@dataclass(frozen=True)
class Measure:
    """A way to say how much a node matters; larger values are better."""

    name: str
    meaning: str
    compute: Callable[[RankingTask], Values]
    coupled: bool = False
    """Whether it depends on the strength of the coupling between layers."""
    importance: bool = True
    """Whether it says how much a node matters, rather than what kind of node it is."""


def _election(task: RankingTask) -> Values:
    elected, first_of_tie, last_tie = voterank(task.layers, task.graph.num_nodes)
    values = np.zeros(task.graph.num_nodes)
    if elected.size:
        values[last_tie] = elected.size - first_of_tie[-1]
    values[elected] = elected.size - first_of_tie
    return values


def _over_layers(of_layer: Callable[[Layer], Values], task: RankingTask) -> Values:
    return np.asarray(np.sum([of_layer(layer) for layer in task.layers], axis=0))


def _strength(task: RankingTask) -> Values:
    products = task.products
    return np.asarray(np.sum([one.out_strength + one.directed * one.in_strength for one in products], axis=0))


MEASURES: dict[str, Measure] = {
    one.name: one
    for one in (
        Measure("degree", "edges at a node, over all layers", partial(_over_layers, layer_degree)),
        Measure(
            "in-degree", "edges that point to a node", partial(_over_layers, lambda layer: layer_degrees(layer)[1])
        ),
        Measure("out-degree", "edges that leave a node", partial(_over_layers, lambda layer: layer_degrees(layer)[0])),
        Measure("strength", "weight of all edges at a node", _strength),
        Measure(
            "participation",
            "how evenly a node's edges are spread over the layers, from 0 to 1",
            lambda task: participation(task.graph),
            importance=False,
        ),
        Measure(
            "pagerank",
            "share of time of a random walker over all layers",
            lambda task: pagerank(task.supra, restart=task.restart),
            coupled=True,
        ),
        Measure(
            "eigenvector",
            "eigenvector versatility: joined with nodes that matter; 0 outside the leading part of the network",
            lambda task: eigenvector_versatility(task.supra, task.leading),
            coupled=True,
        ),
        Measure(
            "katz",
            "walks of all lengths that end at a node, long ones counted less",
            lambda task: katz_versatility(task.supra, task.leading),
            coupled=True,
        ),
        Measure(
            "hub",
            "listens to good authorities; 0 outside the leading part of the network",
            lambda task: task.hubs_and_authorities[0],
            coupled=True,
        ),
        Measure(
            "authority",
            "is listened to by good hubs; 0 outside the leading part of the network",
            lambda task: task.hubs_and_authorities[1],
            coupled=True,
        ),
        Measure("multirank", "central nodes and influential layers, found together", lambda task: task.multirank.nodes),
        Measure(
            "k-shell",
            "how deep in the core a node lies, counting edges of all layers",
            lambda task: k_shell(task.layers, task.graph.num_nodes),
        ),
        Measure("voterank", "order of election as a spreader, largest for the first; the same for ties", _election),
    )
}
DEFAULT_MEASURES = tuple(name for name in MEASURES if name not in ("in-degree", "out-degree"))


def chosen_measures(names: Iterable[str] | str | None) -> list[Measure]:
    """Measures by name, each once; an unknown one is an error that suggests the nearest."""
    if names is None:
        names = DEFAULT_MEASURES
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in MEASURES:
            raise DataError(f"there is no measure {name!r}; {did_you_mean(str(name), MEASURES)}")
    if not wanted:
        raise DataError(f"no measure is named; known: {', '.join(MEASURES)}")
    return [MEASURES[name] for name in dict.fromkeys(wanted)]
