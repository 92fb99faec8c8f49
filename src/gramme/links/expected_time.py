"""How long learning links should take, step by step, from the size of a graph: for the time left, not for any choice.

The seconds per operation were measured on one core; what a machine makes of them shows while the steps are done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from gramme._types import Floats
from gramme.graph import MultilayerGraph

from .attention import training_work
from .evidence import Gathered
from .mixture import FOLDS, MAX_LAYERS_WITH_TREES, MAX_TREE_EXAMPLES, MIN_TREE_EXAMPLES
from .pair_scores import MAX_WALK_NODES, two_steps_work
from .sampling import (
    CANDIDATES_PER_NODE,
    MAX_CANDIDATE_PAIRS,
    MAX_FOLDED_EDGES,
    MAX_LINKED,
    SHARE,
    columns,
    groups_asked_about,
    num_rounds,
    with_edges,
)
from .training_pairs import MATCHED_SHARE, TRIAL_LAYERS

SECONDS_PER_STEP = 9e-10
"""Of a path of two steps, or of a step from the end of a pair."""
PASSES_OF_PROFILE = 1500
"""Over the edges, to find where walks lead."""
SECONDS_PER_ENTRY = 2.5e-10
SECONDS_PER_NODE = 2.5e-8
"""Of one such pass, for each node."""
SECONDS_PER_WALK = 3e-10
"""Of a step of walks along one edge from one node."""
SECONDS_OF_ROUND = 0.05
SECONDS_PER_PAIR = 1.5e-6
"""Of all other evidence."""
SECONDS_OF_TREES, SECONDS_PER_TREE_EXAMPLE = 0.1, 1.8e-5
SECONDS_PER_MULTIPLICATION = 4e-10
"""Of attention, as :func:`~gramme.links.attention.training_work` counts them."""
SCORED_SECONDS_PER_PAIR = 6e-6
"""Of trees, for a candidate."""
TRIED_SHARE = 0.5
"""Share of the training of attention that is expected: a trial decides whether there is any."""


@dataclass(frozen=True)
class ExpectedSeconds:
    """Seconds of each step on one core of an idle machine."""

    set_aside: Mapping[str, float]
    mixtures: float
    trial: float
    attention: float
    all_edges: Mapping[str, float]
    candidates: Mapping[str, float]

    @property
    def fit(self) -> float:
        """Of all steps but the search for candidates."""
        evidence = sum(self.set_aside.values()) + sum(self.all_edges.values())
        return evidence + self.mixtures + self.trial + self.attention

    @classmethod
    def of(
        cls, graph: MultilayerGraph, parts: Mapping[str, int], gathered: Gathered
    ) -> ExpectedSeconds:
        """Of learning the links of some layers.

        Parameters
        ----------
        graph : MultilayerGraph
            With its layers as edges, as far as they are asked about.
        parts : mapping of layer to int
            In how many parts the edges of a layer are set aside; 0 if examples are given.
        gathered : Gathered
            Which costly evidence may be gathered.
        """
        sizes = _Sizes.of(graph, gathered)
        pairs = {name: sizes.examples(name) for name in parts}
        set_aside = {
            name: count * sizes.evidence(name, pairs[name] / max(count, 1))
            for name, count in parts.items()
        }
        trees = 0.0
        if len(parts) > 1:
            trees = _trees(sum(pairs.values()))
        if len(parts) <= MAX_LAYERS_WITH_TREES:
            trees += sum(_trees(one) for one in pairs.values())
        mixtures = 0.1 * len(parts) + trees
        training = trial = 0.0
        if gathered.attention:
            each = training_work(graph) * SECONDS_PER_MULTIPLICATION
            trial = min(TRIAL_LAYERS, len(parts)) * each
            training = TRIED_SHARE * (sum(parts.values()) * each + mixtures)
        all_edges = {name: sizes.evidence(name, pairs[name] / 3) for name in parts}
        looked_at = min(MAX_CANDIDATE_PAIRS, CANDIDATES_PER_NODE * graph.num_nodes)
        scored = looked_at * SCORED_SECONDS_PER_PAIR
        found = two_steps_work(sizes.together) * SECONDS_PER_STEP
        candidates = {
            name: sizes.evidence(name, looked_at, profile=False) + found + scored for name in parts
        }
        return cls(set_aside, mixtures, trial, training, all_edges, candidates)


def expected_seconds(graph: MultilayerGraph, layers: Iterable[str]) -> ExpectedSeconds:
    """Of learning the links of these layers of a graph from its edges."""
    wanted = list(layers)
    groups = groups_asked_about(graph, wanted)
    flat = with_edges(graph)
    parts = {name: num_rounds(flat, name) for name in wanted}
    possible = Gathered.affordable(flat, sum(parts.values()) + 1, 0, columns(groups))
    return ExpectedSeconds.of(flat, parts, possible)


@dataclass(frozen=True)
class _Sizes:
    """Degrees of a graph: per layer, and of all together."""

    nodes: int
    degrees: Mapping[str, Floats]
    together: Floats
    entries: int
    edges: Mapping[str, int]
    gathered: Gathered

    @classmethod
    def of(cls, graph: MultilayerGraph, gathered: Gathered) -> _Sizes:
        own = {
            name: layer.degrees().astype(np.float64) * (2 if layer.directed else 1)
            for name, layer in graph.layers.items()
            if layer.made_of == "edges"
        }
        both = np.sum(list(own.values()), axis=0) if own else np.zeros(graph.num_nodes)
        together = np.minimum(both, max(graph.num_nodes - 1, 0))
        groups = sum(layer.num_entries for layer in graph.layers.values()) - sum(
            graph.layers[name].num_entries for name in own
        )
        edges = {name: graph.layers[name].num_edges for name in own}
        entries = int(both.sum()) + 2 * groups
        return cls(graph.num_nodes, own, together, entries, edges, gathered)

    def examples(self, layer: str) -> float:
        """Pairs that are learned from."""
        edges = self.edges[layer]
        linked = edges if edges <= MAX_FOLDED_EDGES else min(MAX_LINKED, SHARE * edges)
        return linked * (2 + MATCHED_SHARE)

    def evidence(self, layer: str, pairs: float, *, profile: bool = True) -> float:
        """Seconds of the evidence for some pairs, with or without what is of the graph as a whole."""
        asked = min(1.0, pairs / max(self.nodes, 1))
        found = SECONDS_OF_ROUND + pairs * SECONDS_PER_PAIR
        steps = self.gathered.long_walks
        for degree, times in ((self.degrees[layer], 1), (self.together, 2)):
            ends = float(degree.mean()) if degree.size else 0.0
            work = asked * two_steps_work(degree) + pairs * ends
            found += times * work * SECONDS_PER_STEP
        if steps:
            walked = float(self.degrees[layer].sum() + self.together.sum())
            found += asked * self.nodes * walked * (steps - 1) * SECONDS_PER_WALK
        if profile and self.nodes <= MAX_WALK_NODES:
            each = self.entries * SECONDS_PER_ENTRY + self.nodes * SECONDS_PER_NODE
            found += PASSES_OF_PROFILE * each
        return found


def _trees(examples: float) -> float:
    if examples < MIN_TREE_EXAMPLES:
        return 0.0
    each = SECONDS_OF_TREES + min(examples, MAX_TREE_EXAMPLES) * SECONDS_PER_TREE_EXAMPLE
    return (FOLDS + 1) * each
