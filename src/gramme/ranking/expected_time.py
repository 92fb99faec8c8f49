"""How long a ranking should take from the size of a graph: for the time left, not for any choice.

The seconds per entry were measured on one core; what a machine makes of them shows while the steps are done.
"""

from __future__ import annotations

from dataclasses import dataclass

from gramme.graph import MultilayerGraph
from gramme.ranking.influence import MAX_CANDIDATES, num_worlds
from gramme.ranking.spread import num_steps

SECONDS_OF_MEASURES = 0.03
SECONDS_PER_ENTRY = 1.6e-6
"""Of all usual measures, for an edge or a membership."""
SECONDS_PER_COPY = 3e-6
"""The same for a node in a layer."""
COUPLED_SHARE = 0.7
"""Share of that time that the measures take which depend on the coupling."""
SECONDS_PER_TOLD = 3e-9
"""Of an edge along which news may spread in one world."""
SECONDS_PER_CANDIDATE = 3e-8
"""Of a node that may be a seed, in one world."""


@dataclass(frozen=True)
class ExpectedSeconds:
    """Seconds of each step on one core of an idle machine."""

    spread: float
    measures: float
    seeds: float
    layers: float

    @property
    def ranks(self) -> float:
        """Of the ranks and of how sure they are."""
        return self.spread + self.measures


def expected_seconds(
    graph: MultilayerGraph,
    *,
    spread: bool = True,
    seeds: bool = True,
    per_layer: bool = False,
) -> ExpectedSeconds:
    """Of ranking the nodes of a graph by the usual measures.

    Parameters
    ----------
    graph : MultilayerGraph
    spread : bool, default=True
        Whether it is found out how sure the ranks are.
    seeds : bool, default=True
        Whether seeds are chosen.
    per_layer : bool, default=False
        Whether the measures of each layer alone are asked for.
    """
    entries = sum(layer.num_entries for layer in graph.layers.values())
    copies = graph.num_nodes * graph.num_layers
    each = SECONDS_OF_MEASURES + entries * SECONDS_PER_ENTRY + copies * SECONDS_PER_COPY
    couplings, samples = num_steps(graph) if spread else (0, 0)
    told = 2 * sum(layer.num_edges for layer in graph.layers.values())
    world = told * SECONDS_PER_TOLD + min(graph.num_nodes, MAX_CANDIDATES) * SECONDS_PER_CANDIDATE
    return ExpectedSeconds(
        spread=each * (COUPLED_SHARE * couplings + samples),
        measures=each * (2 if per_layer else 1),
        seeds=num_worlds(graph.num_nodes) * world if seeds else 0.0,
        layers=each / 5,
    )
