"""What the evidence of every layer takes from the graph as a whole: where walks lead, attention trained for links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gramme.graph import MultilayerGraph
from gramme.links.attention import LinkAttention, attention_is_affordable
from gramme.links.long_walks import STEPS, affordable_steps
from gramme.links.walk_closeness import WalkCloseness


@dataclass(frozen=True)
class Gathered:
    """Which costly evidence is gathered. It is settled once, before anything is learned, and holds for every pair.

    Attributes
    ----------
    long_walks : int
        Steps of the longest walks that are followed.
    attention : bool
    seed : int
        Of the attention's training.
    told_by_others : tuple of str
        Layers of one group per node, like a column of a table: any member of a group would give away who else is in it,
        so what speaks for a pair is taken from the other layers alone.
    """

    long_walks: int = STEPS[-1]
    attention: bool = False
    seed: int = 0
    told_by_others: tuple[str, ...] = ()

    @classmethod
    def affordable(
        cls, graph: MultilayerGraph, trainings: int, seed: int, told_by_others: Iterable[str] = ()
    ) -> Gathered:
        """What a graph of this size allows for, with so many trainings of attention.

        Layers that only the others tell of would need an attention each, so there is none then.
        """
        alone = tuple(told_by_others)
        entries = sum(
            2 * layer.num_edges for layer in graph.layers.values() if layer.made_of == "edges"
        )
        return cls(
            affordable_steps(graph.num_nodes, entries),
            not alone and attention_is_affordable(graph, trainings),
            seed,
            alone,
        )


@dataclass(frozen=True)
class WholeGraph:
    """Evidence of a graph as a whole, found once for all its layers."""

    gathered: Gathered
    closeness: WalkCloseness
    attention: LinkAttention | None

    @classmethod
    def of(
        cls,
        graph: MultilayerGraph,
        gathered: Gathered | None = None,
        attention: LinkAttention | None = None,
        *,
        layer: str | None = None,
    ) -> WholeGraph:
        """Find it; attention is trained where it is asked for and not given.

        The layer that is asked about matters only if it is one of those that the others tell of.
        """
        wanted = Gathered() if gathered is None else gathered
        if layer is not None and layer in wanted.told_by_others:
            asked = graph.layers[layer]
            nothing = asked.with_entries(np.zeros(asked.num_entries, dtype=bool))
            graph = graph.replace(layers={**graph.layers, layer: nothing})
        if wanted.attention and attention is None:
            attention = LinkAttention.trained(graph, wanted.seed)
        return cls(wanted, WalkCloseness.of(graph), attention)
