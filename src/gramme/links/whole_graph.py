"""What the evidence of every layer takes from the graph as a whole: where walks lead, attention trained for links."""

from __future__ import annotations

from dataclasses import dataclass

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
    """

    long_walks: int = STEPS[-1]
    attention: bool = False
    seed: int = 0

    @classmethod
    def affordable(cls, graph: MultilayerGraph, trainings: int, seed: int) -> Gathered:
        """What a graph of this size allows for, with so many trainings of attention."""
        entries = sum(
            2 * layer.num_edges for layer in graph.layers.values() if layer.made_of == "edges"
        )
        return cls(
            affordable_steps(graph.num_nodes, entries),
            attention_is_affordable(graph, trainings),
            seed,
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
    ) -> WholeGraph:
        """Find it; attention is trained where it is asked for and not given."""
        wanted = Gathered() if gathered is None else gathered
        if wanted.attention and attention is None:
            attention = LinkAttention.trained(graph, wanted.seed)
        return cls(wanted, WalkCloseness.of(graph), attention)
