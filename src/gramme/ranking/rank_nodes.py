"""``gramme.rank``: who matters in a graph of many layers, by any of the measures, as a table of the nodes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from gramme._progress import advance, part
from gramme._text import setting
from gramme._types import Floats, Ints
from gramme.errors import DataError, GrammeWarning, did_you_mean
from gramme.graph import Layer, MultilayerGraph, checked_graph
from gramme.graph.canonical import in_name_order, sorted_places
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


class RankingTask:
    """What measures compute from: a graph, the strength of coupling, and parts that several measures share."""

    def __init__(
        self,
        graph: MultilayerGraph,
        coupling: float = 1.0,
        restart: Ints | None = None,
        products: list[LayerProduct] | None = None,
    ) -> None:
        # measures that know no couplings take each for one more layer
        self.graph = with_coupling_layers(graph)
        self.layers = list(self.graph.layers.values())
        self.products = products or [LayerProduct(layer) for layer in self.layers]
        self.supra = SupraProduct(self.products[: graph.num_layers], coupling, couplings_of(graph))
        self.restart = restart

    @cached_property
    def leading(self) -> tuple[float, Floats]:
        """The leading eigenvalue and eigenvector of the supra graph."""
        return leading(self.supra.transposed, self.supra, symmetric=not self.supra.directed)

    @cached_property
    def hubs_and_authorities(self) -> tuple[Floats, Floats]:
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
    compute: Callable[[RankingTask], Floats]
    coupled: bool = False
    """Whether it depends on the strength of the coupling between layers."""
    importance: bool = True
    """Whether it says how much a node matters, rather than what kind of node it is."""


def _election(task: RankingTask) -> Floats:
    elected_nodes, first_of_tie, last_tie = voterank(task.layers, task.graph.num_nodes)
    election_values = np.zeros(task.graph.num_nodes)
    if elected_nodes.size:
        election_values[last_tie] = elected_nodes.size - first_of_tie[-1]
    election_values[elected_nodes] = elected_nodes.size - first_of_tie
    return election_values


def _over_layers(of_layer: Callable[[Layer], Floats], task: RankingTask) -> Floats:
    return np.asarray(np.sum([of_layer(layer) for layer in task.layers], axis=0))


def _strength(task: RankingTask) -> Floats:
    layer_products = task.products
    return np.asarray(
        np.sum(
            [
                layer_product.out_strength + layer_product.directed * layer_product.in_strength
                for layer_product in layer_products
            ],
            axis=0,
        )
    )


ELSEWHERE = "0 outside the leading part of the network"

MEASURES: dict[str, Measure] = {
    one.name: one
    for one in (
        Measure("degree", "edges at a node, over all layers", partial(_over_layers, layer_degree)),
        Measure("in-degree", "edges that point to a node", partial(_over_layers, lambda one: layer_degrees(one)[1])),
        Measure("out-degree", "edges that leave a node", partial(_over_layers, lambda one: layer_degrees(one)[0])),
        Measure("strength", "weight of all edges at a node", _strength),
        Measure(
            "participation",
            "how evenly a node's edges are spread over the layers, from 0 to 1",
            lambda task: participation(task.graph),
            importance=False,
        ),
        *(
            Measure(name, meaning, compute, coupled=True)
            for name, meaning, compute in (
                (
                    "pagerank",
                    "share of time of a random walker over all layers",
                    lambda task: pagerank(task.supra, restart=task.restart),
                ),
                (
                    "eigenvector",
                    f"eigenvector versatility: joined with nodes that matter; {ELSEWHERE}",
                    lambda task: eigenvector_versatility(task.supra, task.leading),
                ),
                (
                    "katz",
                    "walks of all lengths that end at a node, long ones counted less",
                    lambda task: katz_versatility(task.supra, task.leading),
                ),
                ("hub", f"listens to good authorities; {ELSEWHERE}", lambda task: task.hubs_and_authorities[0]),
                ("authority", f"is listened to by good hubs; {ELSEWHERE}", lambda task: task.hubs_and_authorities[1]),
            )
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
    wanted_names = [names] if isinstance(names, str) else list(DEFAULT_MEASURES if names is None else names)
    for measure_name in wanted_names:
        if measure_name not in MEASURES:
            raise DataError(f"there is no measure {measure_name!r}; {did_you_mean(str(measure_name), MEASURES)}")
    if not wanted_names:
        raise DataError(f"no measure is named; known: {', '.join(MEASURES)}")
    return [MEASURES[name] for name in dict.fromkeys(wanted_names)]


def ranks_of(values: Floats) -> Ints:
    """Rank 1 for the largest value; equal values (but for rounding) share the better rank.

    >>> ranks_of(np.array([0.2, 0.5, 0.2, 0.1])).tolist()
    [2, 1, 2, 4]
    """
    largest_value = np.abs(values).max(initial=0.0)
    rounded_values = np.round(values / largest_value, 9) if largest_value > 0 else values
    return rankdata(-rounded_values, method="min").astype(np.int64)


SPREAD_COUPLINGS = (0.1, 0.3, 3.0, 10.0)
"""Strengths of coupling over which ranks are followed, as multiples of the one asked for."""

Bounds = dict[str, tuple[Ints, Ints]]


def rank_spread(
    graph: MultilayerGraph,
    measures: Sequence[str],
    *,
    coupling: float = 1.0,
    restart: Ints | None = None,
    random_state: int = 0,
    tell: Callable[[int, int], None] | None = None,
) -> Bounds:
    """The best and worst rank of each node by measure, over couplings and over edges left out at random.

    ``coupling`` is its strength while edges are left out, ``restart`` the positions at which the walker of PageRank
    starts anew; ``tell`` is called after each step with the number of steps done and in all.
    """
    rank_bounds: Bounds = {}
    num_couplings, num_samples = num_steps(graph)
    coupled_measures = [name for name in measures if MEASURES[name].coupled]
    strengths = [
        coupling_factor * (coupling or 1.0)
        for coupling_factor in SPREAD_COUPLINGS[: num_couplings if coupled_measures else 0]
    ]
    products = RankingTask(graph).products

    def variants() -> Iterator[tuple[RankingTask, Sequence[str]]]:
        for coupling_strength in strengths:
            yield RankingTask(graph, coupling_strength, restart, products), coupled_measures
        for sample_number in range(num_samples):
            random = np.random.default_rng([random_state, sample_number])
            thinned_graph = graph.replace(layers={name: thinned(layer, random) for name, layer in graph.layers.items()})
            yield RankingTask(thinned_graph, coupling, restart), measures

    num_all_steps = len(strengths) + num_samples
    for num_done, (ranking_task, measure_names) in enumerate(variants(), start=1):
        for name in measure_names:
            node_ranks = ranks_of(MEASURES[name].compute(ranking_task))
            best_ranks, worst_ranks = rank_bounds.get(name, (node_ranks, node_ranks))
            rank_bounds[name] = np.minimum(best_ranks, node_ranks), np.maximum(worst_ranks, node_ranks)
        advance(num_done / num_all_steps)
        if tell is not None:
            tell(num_done, num_all_steps)
    return rank_bounds


def num_steps(graph: MultilayerGraph) -> tuple[int, int]:
    """Strengths of coupling that are tried, and graphs with some edges left out; fewer where each takes seconds."""
    return (len(SPREAD_COUPLINGS) if graph.num_layers > 1 else 0), 10 if graph.num_entries < 500_000 else 4


def thinned(layer: Layer, random: np.random.Generator, share: float = 0.1) -> Layer:
    """A layer that lacks a random share of its edges, or of its memberships, and no nodes."""
    return layer.with_entries(random.random(layer.num_entries) >= share)


def rank(
    graph: MultilayerGraph,
    measures: Iterable[str] | str | None = None,
    *,
    coupling: float = 1.0,
    per_layer: bool = False,
    restart: Iterable[Any] | None = None,
    spread: bool = False,
    negative: Iterable[str] | str | None = None,
    random_state: int = 0,
    tell: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Say how much each node matters, over all layers.

    Parameters
    ----------
    graph : MultilayerGraph
    measures : sequence of str, default=None
        Names of measures, see :data:`gramme.ranking.MEASURES`; all that are usual if not given.
    coupling : float, default=1.0
        Weight of the edges between the copies of a node in different layers, for the measures on the supra graph.
    per_layer : bool, default=False
        Whether to add the same measures of each layer alone.
    restart : sequence of node names, default=None
        With ``"pagerank"``: the nodes at which the walker starts anew, so that nodes near them rank high.
    spread : bool, default=False
        Whether to add how far each rank moves when the coupling is weaker or stronger and when a tenth of the edges is
        left out at random: columns ``..._rank_low`` and ``..._rank_high``.
    negative : sequence of str, default=None
        Layers whose edges speak against a node, like dislike; they are left out. Guessed from the names of layers if
        not given, which a warning says; an empty sequence keeps all.
    random_state : int, default=0
        Which edges are left out.
    tell : callable, optional
        Called while the spread is found, with the number of steps done and in all.

    Returns
    -------
    DataFrame
        A row per node; for each measure a column of its name, larger is better, and ``..._rank``, where 1 is best and
        equal values share the better rank. With ``per_layer`` also ``degree[advice]`` and ``degree[advice]_rank``.

    Examples
    --------
    >>> from gramme.graph import EdgeLayer
    >>> g = MultilayerGraph(
    ...     {"talk": EdgeLayer(4, [0, 0, 0], [1, 2, 3]), "mail": EdgeLayer(4, [0, 2], [1, 3])},
    ...     nodes=["Ann", "Bo", "Cy", "Di"],
    ... )
    >>> rank(g, measures=["degree", "pagerank"]).round(2).rename_axis(None)
         degree  degree_rank  pagerank  pagerank_rank
    Ann     4.0            1      0.32              1
    Bo      2.0            2      0.22              4
    Cy      2.0            2      0.23              2
    Di      2.0            2      0.23              2
    """
    ranked_measures = chosen_measures(measures)
    check_rankable(graph)
    graph = without_negative(graph, negative)
    given_graph, name_order = graph, in_name_order(graph)
    graph = name_order.graph
    restart_positions = None if restart is None else graph.positions([restart] if isinstance(restart, str) else restart)
    if restart_positions is not None and not restart_positions.size:
        raise DataError("restart names no node; leave it out to start anywhere")
    ranking_task = RankingTask(graph, coupling, restart_positions)
    columns: dict[str, NDArray[Any]] = {}
    rank_bounds: Bounds = {}
    if spread:
        num_rounds = sum(num_steps(graph))  # each computes the measures anew
        measure_names = [one.name for one in ranked_measures]
        with part("how sure they are", num_rounds / (num_rounds + 1)):
            rank_bounds = rank_spread(
                graph, measure_names, coupling=coupling, restart=restart_positions, random_state=random_state, tell=tell
            )
    for measure in ranked_measures:
        _add(columns, measure.name, measure.compute(ranking_task))
        if measure.name in rank_bounds:
            node_ranks = columns[f"{measure.name}_rank"]
            best_ranks, worst_ranks = rank_bounds[measure.name]
            columns[f"{measure.name}_rank_low"] = np.minimum(best_ranks, node_ranks)
            columns[f"{measure.name}_rank_high"] = np.maximum(worst_ranks, node_ranks)
    if per_layer:
        for layer_name in given_graph.layers:
            layer_task = RankingTask(graph.select_layers([layer_name]), coupling, restart_positions)
            for measure in ranked_measures:
                _add(columns, f"{measure.name}[{layer_name}]", measure.compute(layer_task))
    given_columns = {name: name_order.to_given(column_values) for name, column_values in columns.items()}
    return pd.DataFrame(given_columns, index=pd.Index(given_graph.nodes, name="node"))


def coinciding_measures(ranks: pd.DataFrame) -> dict[str, list[str]]:
    """The measures in a table of :func:`rank`, each with those after it that say the same on this graph.

    On an undirected graph without weights, degree is strength, and eigenvector, hub and authority are one.

    >>> table = pd.DataFrame({"degree": [2.0, 1.0], "strength": [4.0, 2.0], "katz": [1.0, 3.0]})
    >>> coinciding_measures(table.assign(degree_rank=[1, 2], strength_rank=[1, 2], katz_rank=[2, 1]))
    {'degree': ['strength'], 'katz': []}
    """
    coinciding: dict[str, list[str]] = {}
    for measure_name in (name for name in ranks.columns if name in MEASURES):
        first_same = next((first for first in coinciding if _coincide(ranks, first, measure_name)), None)
        if first_same is None:
            coinciding[measure_name] = []
        else:
            coinciding[first_same].append(measure_name)
    return coinciding


def _coincide(ranks: pd.DataFrame, one: str, other: str) -> bool:
    if MEASURES[one].importance != MEASURES[other].importance:
        return False
    if (ranks[f"{one}_rank"] == ranks[f"{other}_rank"]).all():
        return True
    measure_values = [ranks[measure_name].to_numpy(dtype=np.float64) for measure_name in (one, other)]
    scaled_values = [node_values / (np.abs(node_values).max(initial=0.0) or 1.0) for node_values in measure_values]
    # iterations end with a tolerance below this
    return bool(np.abs(scaled_values[0] - scaled_values[1]).max(initial=0.0) <= 1e-6)


def distinct_importances(ranks: pd.DataFrame) -> list[str]:
    """The measures of importance in a table of :func:`rank`, each once that others only repeat; else all measures."""
    measure_names = list(coinciding_measures(ranks))
    return [measure_name for measure_name in measure_names if MEASURES[measure_name].importance] or measure_names


def middle_ranks(ranks: pd.DataFrame, measures: Sequence[str]) -> Floats:
    """Ranks in which tied nodes have the middle of the places they share, shape (nodes, measures).

    Otherwise each of a hundred nodes with the same value would count as first.
    """
    rank_columns = [rankdata(ranks[f"{measure_name}_rank"].to_numpy()) for measure_name in measures]
    return np.column_stack(rank_columns) if rank_columns else np.zeros((len(ranks), 0))


def tied(ranks: Ints) -> NDArray[np.bool_]:
    """Which nodes share their rank with another.

    >>> tied(np.array([1, 2, 2, 4])).tolist()
    [False, True, True, False]
    """
    _, rank_index, rank_counts = np.unique(ranks, return_inverse=True, return_counts=True)
    is_shared: NDArray[np.bool_] = rank_counts[rank_index] > 1
    return is_shared


def mean_ranks(ranks: pd.DataFrame) -> Floats:
    """The mean rank of each node over the measures of importance that differ, ties at the middle of their places."""
    mean_rank: Floats = middle_ranks(ranks, distinct_importances(ranks)).mean(axis=1)
    return mean_rank


def leading_nodes(ranks: pd.DataFrame) -> Ints:
    """Positions of the nodes in a table of :func:`rank`, those with the best mean rank over its measures first.

    Measures that coincide count once. Nodes that rank alike come in the order of their names.
    """
    mean_rank = mean_ranks(ranks)
    by_name = sorted_places(ranks.index)
    name_places = np.arange(len(ranks)) if by_name is None else by_name
    leading_places: Ints = name_places[np.argsort(mean_rank[name_places], kind="stable")]
    return leading_places


NEGATIVE_STEMS = (
    "dislike", "blame", "hate", "hatred", "enem", "enmity", "disesteem", "distrust", "hostil", "antagonis", "negative",
    "conflict", "avoid",
)  # fmt: skip
"""How words in the name of a layer begin that make its edges negative: layers of Sampson's monks, and the like."""


def negative_layers(names: Iterable[str]) -> list[str]:
    """Layers whose names say that their edges are negative.

    >>> negative_layers(["like", "dislike", "blame_2", "friend", "negative influence"])
    ['dislike', 'blame_2', 'negative influence']
    """
    return [
        layer_name
        for layer_name in names
        if any(name_word.startswith(NEGATIVE_STEMS) for name_word in re.split(r"[^a-z]+", str(layer_name).lower()))
    ]


def without_negative(graph: MultilayerGraph, negative: Iterable[str] | str | None = None) -> MultilayerGraph:
    """The graph without layers whose edges speak against a node; a warning says which were guessed from their names."""
    if negative is None:
        left_out = negative_layers(graph.layers)
        if left_out and len(left_out) < graph.num_layers:
            quoted_names = ", ".join(repr(name) for name in left_out)
            subject, verb = ("the layer", "is") if len(left_out) == 1 else ("the layers", "are")
            warnings.warn(
                f"{subject} {quoted_names} {verb} taken "
                f"to hold negative edges, judging by the name, and left out of the ranks; "
                f"{setting('negative', option='negative')} names such layers, or none with an empty one",
                GrammeWarning,
                stacklevel=3,
            )
        else:
            left_out = []
    else:
        left_out = [name for name in ([negative] if isinstance(negative, str) else negative) if name]
        for layer_name in left_out:
            graph.layer(layer_name)
        if left_out and set(left_out) >= set(graph.layers):
            raise DataError("all layers are named as negative, so none is left to rank by")
    return graph.select_layers([name for name in graph.layers if name not in left_out]) if left_out else graph


def layer_influences(graph: MultilayerGraph) -> pd.Series:
    """The influence of each layer by MultiRank, in the order of layers; sums to 1."""
    check_rankable(graph)
    ranking_task = RankingTask(in_name_order(graph).graph)
    layer_names = pd.Index(list(ranking_task.graph.layers), name="layer")
    influence_shares = pd.Series(ranking_task.multirank.layers, index=layer_names, name="influence")
    return influence_shares[list(with_coupling_layers(graph).layers)]


def check_rankable(graph: MultilayerGraph) -> None:
    """A graph in which somebody can matter: with nodes, layers and edges."""
    checked_graph(graph)
    if not graph.num_layers or not graph.num_nodes:
        raise DataError("the graph has no layers or no nodes, so there is nothing to rank")
    if not graph.num_edges:
        first_layer = next(iter(graph.layers))
        subject_words = f"the layer {first_layer!r} has no" if graph.num_layers == 1 else "no layer of the graph has"
        raise DataError(f"{subject_words} edges, so no node matters more than another")


def _add(columns: dict[str, NDArray[Any]], name: str, values: Floats) -> None:
    columns[name] = values
    columns[f"{name}_rank"] = ranks_of(values)
