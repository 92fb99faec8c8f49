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
    elected, first_of_tie, last_tie = voterank(task.layers, task.graph.num_nodes)
    values = np.zeros(task.graph.num_nodes)
    if elected.size:
        values[last_tie] = elected.size - first_of_tie[-1]
    values[elected] = elected.size - first_of_tie
    return values


def _over_layers(of_layer: Callable[[Layer], Floats], task: RankingTask) -> Floats:
    return np.asarray(np.sum([of_layer(layer) for layer in task.layers], axis=0))


def _strength(task: RankingTask) -> Floats:
    products = task.products
    return np.asarray(np.sum([one.out_strength + one.directed * one.in_strength for one in products], axis=0))


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
    wanted = [names] if isinstance(names, str) else list(DEFAULT_MEASURES if names is None else names)
    for name in wanted:
        if name not in MEASURES:
            raise DataError(f"there is no measure {name!r}; {did_you_mean(str(name), MEASURES)}")
    if not wanted:
        raise DataError(f"no measure is named; known: {', '.join(MEASURES)}")
    return [MEASURES[name] for name in dict.fromkeys(wanted)]


def ranks_of(values: Floats) -> Ints:
    """Rank 1 for the largest value; equal values (but for rounding) share the better rank.

    >>> ranks_of(np.array([0.2, 0.5, 0.2, 0.1])).tolist()
    [2, 1, 2, 4]
    """
    largest = np.abs(values).max(initial=0.0)
    rounded = np.round(values / largest, 9) if largest > 0 else values
    return rankdata(-rounded, method="min").astype(np.int64)


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
    bounds: Bounds = {}
    couplings, samples = num_steps(graph)
    coupled = [name for name in measures if MEASURES[name].coupled]
    strengths = [factor * (coupling or 1.0) for factor in SPREAD_COUPLINGS[: couplings if coupled else 0]]
    products = RankingTask(graph).products

    def variants() -> Iterator[tuple[RankingTask, Sequence[str]]]:
        for strength in strengths:
            yield RankingTask(graph, strength, restart, products), coupled
        for sample in range(samples):
            random = np.random.default_rng([random_state, sample])
            thinner = graph.replace(layers={name: thinned(layer, random) for name, layer in graph.layers.items()})
            yield RankingTask(thinner, coupling, restart), measures

    steps = len(strengths) + samples
    for done, (task, names) in enumerate(variants(), start=1):
        for name in names:
            ranks = ranks_of(MEASURES[name].compute(task))
            low, high = bounds.get(name, (ranks, ranks))
            bounds[name] = np.minimum(low, ranks), np.maximum(high, ranks)
        advance(done / steps)
        if tell is not None:
            tell(done, steps)
    return bounds


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
    chosen = chosen_measures(measures)
    check_rankable(graph)
    graph = without_negative(graph, negative)
    given, order = graph, in_name_order(graph)
    graph = order.graph
    starts = None if restart is None else graph.positions([restart] if isinstance(restart, str) else restart)
    if starts is not None and not starts.size:
        raise DataError("restart names no node; leave it out to start anywhere")
    task = RankingTask(graph, coupling, starts)
    columns: dict[str, NDArray[Any]] = {}
    bounds: Bounds = {}
    if spread:
        rounds = sum(num_steps(graph))  # each computes the measures anew
        names = [one.name for one in chosen]
        with part("how sure they are", rounds / (rounds + 1)):
            bounds = rank_spread(graph, names, coupling=coupling, restart=starts, random_state=random_state, tell=tell)
    for measure in chosen:
        _add(columns, measure.name, measure.compute(task))
        if measure.name in bounds:
            ranks = columns[f"{measure.name}_rank"]
            low, high = bounds[measure.name]
            columns[f"{measure.name}_rank_low"] = np.minimum(low, ranks)
            columns[f"{measure.name}_rank_high"] = np.maximum(high, ranks)
    if per_layer:
        for name in given.layers:
            alone = RankingTask(graph.select_layers([name]), coupling, starts)
            for measure in chosen:
                _add(columns, f"{measure.name}[{name}]", measure.compute(alone))
    rows = {name: order.to_given(values) for name, values in columns.items()}
    return pd.DataFrame(rows, index=pd.Index(given.nodes, name="node"))


def coinciding_measures(ranks: pd.DataFrame) -> dict[str, list[str]]:
    """The measures in a table of :func:`rank`, each with those after it that say the same on this graph.

    On an undirected graph without weights, degree is strength, and eigenvector, hub and authority are one.

    >>> table = pd.DataFrame({"degree": [2.0, 1.0], "strength": [4.0, 2.0], "katz": [1.0, 3.0]})
    >>> coinciding_measures(table.assign(degree_rank=[1, 2], strength_rank=[1, 2], katz_rank=[2, 1]))
    {'degree': ['strength'], 'katz': []}
    """
    found: dict[str, list[str]] = {}
    for name in (name for name in ranks.columns if name in MEASURES):
        same = next((first for first in found if _coincide(ranks, first, name)), None)
        if same is None:
            found[name] = []
        else:
            found[same].append(name)
    return found


def _coincide(ranks: pd.DataFrame, one: str, other: str) -> bool:
    if MEASURES[one].importance != MEASURES[other].importance:
        return False
    if (ranks[f"{one}_rank"] == ranks[f"{other}_rank"]).all():
        return True
    values = [ranks[name].to_numpy(dtype=np.float64) for name in (one, other)]
    scaled = [some / (np.abs(some).max(initial=0.0) or 1.0) for some in values]
    # iterations end with a tolerance below this
    return bool(np.abs(scaled[0] - scaled[1]).max(initial=0.0) <= 1e-6)


def distinct_importances(ranks: pd.DataFrame) -> list[str]:
    """The measures of importance in a table of :func:`rank`, each once that others only repeat; else all measures."""
    named = list(coinciding_measures(ranks))
    return [name for name in named if MEASURES[name].importance] or named


def middle_ranks(ranks: pd.DataFrame, measures: Sequence[str]) -> Floats:
    """Ranks in which tied nodes have the middle of the places they share, shape (nodes, measures).

    Otherwise each of a hundred nodes with the same value would count as first.
    """
    columns = [rankdata(ranks[f"{name}_rank"].to_numpy()) for name in measures]
    return np.column_stack(columns) if columns else np.zeros((len(ranks), 0))


def tied(ranks: Ints) -> NDArray[np.bool_]:
    """Which nodes share their rank with another.

    >>> tied(np.array([1, 2, 2, 4])).tolist()
    [False, True, True, False]
    """
    _, place, count = np.unique(ranks, return_inverse=True, return_counts=True)
    shared: NDArray[np.bool_] = count[place] > 1
    return shared


def mean_ranks(ranks: pd.DataFrame) -> Floats:
    """The mean rank of each node over the measures of importance that differ, ties at the middle of their places."""
    found: Floats = middle_ranks(ranks, distinct_importances(ranks)).mean(axis=1)
    return found


def leading_nodes(ranks: pd.DataFrame) -> Ints:
    """Positions of the nodes in a table of :func:`rank`, those with the best mean rank over its measures first.

    Measures that coincide count once. Nodes that rank alike come in the order of their names.
    """
    mean = mean_ranks(ranks)
    by_name = sorted_places(ranks.index)
    places = np.arange(len(ranks)) if by_name is None else by_name
    found: Ints = places[np.argsort(mean[places], kind="stable")]
    return found


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
        name
        for name in names
        if any(word.startswith(NEGATIVE_STEMS) for word in re.split(r"[^a-z]+", str(name).lower()))
    ]


def without_negative(graph: MultilayerGraph, negative: Iterable[str] | str | None = None) -> MultilayerGraph:
    """The graph without layers whose edges speak against a node; a warning says which were guessed from their names."""
    if negative is None:
        named = negative_layers(graph.layers)
        if named and len(named) < graph.num_layers:
            listed = ", ".join(repr(name) for name in named)
            subject, verb = ("the layer", "is") if len(named) == 1 else ("the layers", "are")
            warnings.warn(
                f"{subject} {listed} {verb} taken "
                f"to hold negative edges, judging by the name, and left out of the ranks; "
                f"{setting('negative', option='negative')} names such layers, or none with an empty one",
                GrammeWarning,
                stacklevel=3,
            )
        else:
            named = []
    else:
        named = [name for name in ([negative] if isinstance(negative, str) else negative) if name]
        for name in named:
            graph.layer(name)
        if named and set(named) >= set(graph.layers):
            raise DataError("all layers are named as negative, so none is left to rank by")
    return graph.select_layers([name for name in graph.layers if name not in named]) if named else graph


def layer_influences(graph: MultilayerGraph) -> pd.Series:
    """The influence of each layer by MultiRank, in the order of layers; sums to 1."""
    check_rankable(graph)
    task = RankingTask(in_name_order(graph).graph)
    names = pd.Index(list(task.graph.layers), name="layer")
    found = pd.Series(task.multirank.layers, index=names, name="influence")
    return found[list(with_coupling_layers(graph).layers)]


def check_rankable(graph: MultilayerGraph) -> None:
    """A graph in which somebody can matter: with nodes, layers and edges."""
    checked_graph(graph)
    if not graph.num_layers or not graph.num_nodes:
        raise DataError("the graph has no layers or no nodes, so there is nothing to rank")
    if not graph.num_edges:
        first = next(iter(graph.layers))
        what = f"the layer {first!r} has no" if graph.num_layers == 1 else "no layer of the graph has"
        raise DataError(f"{what} edges, so no node matters more than another")


def _add(columns: dict[str, NDArray[Any]], name: str, values: Floats) -> None:
    columns[name] = values
    columns[f"{name}_rank"] = ranks_of(values)
