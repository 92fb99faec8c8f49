"""``gramme.groups``: what groups are there, seen from all layers at once.

1. every layer becomes ties (``layer_ties``);
2. layer weights are learned from the layers (``layer_weights``), unless they are given;
3. Leiden's algorithm maximises the modularity over all layers, from several seeds; the best partition is kept;
4. the search is repeated on resampled ties and layers, which says how far the groups can be trusted, and on randomised
   graphs, which says what chance would give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._types import Floats, Ints
from gramme.errors import DataError, MissingExtraError
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import in_name_order
from gramme.ops.leiden import by_size

from .found_groups import Groups
from .layer_ties import LayerTies, check_has_ties, ties_of
from .layer_weights import NEGLIGIBLE_WEIGHT, TiedLayers, description_length, evidence, learn_weights

TRIES = 4
"""Times that Leiden's algorithm is run for one partition of a graph that is not large; the best is kept."""
RESOLUTIONS = (0.35, 0.5, 0.7, 1.0, 1.4)
"""Resolutions that are tried. Layers of nearest neighbours have ever finer groups at larger ones, since their ties
are not independent of each other. Chosen by agreement with classes on the graphs of benchmarks/accuracy/groups.py."""
ENGINES = ("gramme", "leidenalg")
Partition = Callable[[TiedLayers, Floats, np.random.Generator], Ints]


def groups(
    graph: MultilayerGraph,
    count: int | None = None,
    *,
    resolution: float | None = None,
    layer_weights: str | Mapping[str, float] | None = None,
    coupling: float = 0.5,
    repeats: int | None = None,
    engine: str = "gramme",
    random_state: int = 0,
) -> Groups:
    """Divide the nodes into groups that are tied more than their degrees explain, over all layers.

    Parameters
    ----------
    graph : MultilayerGraph
        Layers of edges and memberships, directed or not, weighted or not; couplings count as layers.
    count : int, default=None
        How many groups, isolated nodes not counted; as many as the layers show if not given.
    resolution : float, default=None
        Larger values give more and smaller groups. If not given, the one of 0.35, 0.5, 0.7, 1 and 1.4 whose groups
        describe the ties in the fewest words; for memberships alone, the one at which the layers foresee each other
        best. Not used where ``count`` is
        given.
    layer_weights : "equal" or mapping of layer name to float, default=None
        How much each layer counts; learned from the layers if not given, so that a layer of noise counts nothing.
    coupling : float, default=0.5
        From 0 to 1: how strongly a node's group in each layer is bound to its group over all layers. It is another one
        only where the node's ties in that layer gain more by it than this share of their weight.
    repeats : int, default=None
        How often groups are sought again for the stability; 20, and 8 for large graphs, if not given.
    engine : {"gramme", "leidenalg"}, default="gramme"
        What maximises the modularity. The second is an optional library under the GPL.
    random_state : int, default=0

    Returns
    -------
    Groups
        With ``labels_``, ``layer_labels_``, ``stability_``, ``layer_part_``, ``summary()``, ``plot()`` and more.

    Notes
    -----
    Cost: ties x a few hundred passes; a million edges take less than a minute of CPU. Memberships never become edges.

    Examples
    --------
    >>> from gramme.graph import EdgeLayer
    >>> talk = EdgeLayer(6, [0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> g = MultilayerGraph({"talk": talk}, nodes=["Ann", "Bo", "Cy", "Di", "Ed", "Flo"])
    >>> groups(g, repeats=4).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    _check_settings(graph, count, resolution, coupling, repeats, engine)
    joined = check_has_ties(graph, "finding groups")
    order = in_name_order(joined)
    names = list(order.graph.layers)
    random = np.random.default_rng(random_state)
    ties = ties_of(order.graph, random)
    layers = TiedLayers.of(ties)
    weights = chosen_weights(layers, layer_weights, names, random)
    if resolution is None and count is None:
        resolution = _chosen_resolution(layers, weights, random)
    resolution = 1.0 if resolution is None else resolution
    partition = _partition_finder(count, resolution, engine)

    if repeats is None:
        repeats = 8 if layers.is_large else 20  # in a large graph each takes a second or more
    by_seed, resampled = repeated(ties, layers, weights, partition, repeats, random)
    group = max(by_seed, key=lambda found: layers.quality(found, weights, resolution))
    quality = layers.quality(group, weights)
    best = max(quality, layers.quality(layers.partition(weights, random, tries=TRIES), weights))
    chance = chance_qualities(ties, weights, random)

    isolated = layers.strengths.sum(axis=1) == 0
    group = _isolated_last(group, isolated)
    per_layer = _layer_groups(layers, group, weights, coupling)
    found, expected = layers.inside(group)
    gained = np.maximum(weights * (found - expected), 0.0)
    place = [names.index(name) for name in joined.layers]
    support = pd.DataFrame(
        {
            "weight": weights / weights.sum() if weights.sum() > 0 else weights,
            "part": gained / gained.sum() if gained.sum() > 0 else gained,
            "inside": found / layers.totals,
            "expected": expected / layers.totals,
        },
        index=pd.Index(names, name="layer"),
    ).iloc[place]
    nodes = pd.Index(graph.nodes, name="node")
    in_layers = {name: pd.array(order.to_given(per_layer[:, names.index(name)])) for name in joined.layers}
    return Groups(
        graph,
        labels_=order.to_given(group),
        layer_labels_=pd.DataFrame(in_layers, index=nodes).replace(-1, pd.NA),
        stability_=pd.Series(order.to_given(together(group, by_seed + resampled)), index=nodes, name="stability"),
        layer_support_=support,
        layer_weights_=pd.Series(weights, index=pd.Index(names, name="layer"), name="weight").iloc[place],
        quality_=quality,
        best_quality_=best,
        chance_qualities_=chance,
        seed_agreement_=agreement(by_seed),
        resampled_agreement_=agreement(resampled),
        resolution_=resolution,
        has_groups_=beyond_chance(best, chance),
        isolated_=order.to_given(isolated),
    )


def _chosen_resolution(layers: TiedLayers, weights: Floats, random: np.random.Generator) -> float:
    """The resolution whose groups serve best.

    With layers of edges, those with the shortest description. With memberships alone, whose ties are too alike to be
    counted as so many observations, those of the highest modularity that a layer does not bring about itself.
    """
    tied = layers.strengths.sum(axis=1) > 0
    totals = layers.strengths.sum(axis=0)
    best = (np.inf, 1.0)
    for resolution in RESOLUTIONS:
        group = layers.partition(weights, random, resolution=resolution, tries=TRIES)
        # at a low resolution anything is one group
        if resolution >= 1 or np.unique(group[tied]).size > 1:
            found, expected = evidence(layers, group, weights)
            if layers.from_groups.all():
                loss = -float(weights @ (found - expected))
            else:
                loss = description_length(group, found, expected, totals)
            best = min(best, (loss, resolution))
    return best[1]


def _partition_finder(count: int | None, resolution: float, engine: str) -> Partition:
    """How a partition is found: by a resolution, or by the number of groups."""

    def at(resolution: float, layers: TiedLayers, weights: Floats, random: np.random.Generator) -> Ints:
        if engine == "leidenalg":
            return _by_leidenalg(layers, weights, random, resolution)
        return layers.partition(weights, random, resolution=resolution, tries=TRIES)

    def of_count(layers: TiedLayers, weights: Floats, random: np.random.Generator) -> Ints:
        # the resolution at which there are enough groups, then the mergers that cost least
        tied = layers.strengths.sum(axis=1) > 0
        low, high = -4.0, 4.0  # of the binary logarithm of the resolution
        best: Ints | None = None
        for _ in range(12):
            middle = (low + high) / 2
            group = at(2.0**middle, layers, weights, random)
            number = np.unique(group[tied]).size
            if number >= count:
                high, best = middle, group
            else:
                low = middle
            if number == count:
                break
        if best is None:
            best = at(2.0**high, layers, weights, random)
        return merged(layers, weights, best, count, 2.0**high)

    return partial(at, resolution) if count is None else of_count


def merged(layers: TiedLayers, weights: Floats, group: Ints, count: int, resolution: float) -> Ints:
    """Groups merged in pairs, each time the pair that loses least, until ``count`` have ties."""
    group = by_size(group)
    number = int(group.max()) + 1
    member = sp.csr_array((np.ones(group.size), (np.arange(group.size), group)))
    tied = np.asarray((member.T @ layers.joined(weights) @ member).toarray())
    rows: Any = member.T @ (layers.strengths * np.sqrt(weights * resolution / layers.totals))
    # per unit of what is expected, so that small groups that are tied to one other come first
    alive = np.bincount(group, layers.strengths.sum(axis=1), minlength=number) > 0
    owner = np.arange(number)
    while alive.sum() > count:
        places = np.flatnonzero(alive)
        gain = tied[np.ix_(places, places)] - rows[places] @ rows[places].T
        np.fill_diagonal(gain, -np.inf)
        first, second = np.unravel_index(int(gain.argmax()), gain.shape)
        kept, gone = places[first], places[second]
        tied[kept] += tied[gone]
        tied[:, kept] += tied[:, gone]
        rows[kept] += rows[gone]
        alive[gone] = False
        owner[owner == gone] = kept
    return by_size(owner[group])


def learned_layer_weights(graph: MultilayerGraph, *, random_state: int = 0) -> pd.Series:
    """How much each layer counts when groups are sought, learned without labels; by layer name.

    Useful where labels are too few to tell which layers speak of them: pass it to
    :class:`~gramme.methods.LabelPropagation` as ``layer_weights``.
    """
    joined = check_has_ties(graph, "learning layer weights")
    order = in_name_order(joined)
    random = np.random.default_rng(random_state)
    layers = TiedLayers.of(ties_of(order.graph, random))
    weights = learn_weights(layers, random).weights
    names = pd.Index(list(order.graph.layers), name="layer")
    return pd.Series(weights, index=names, name="weight")[list(joined.layers)]


def chosen_weights(
    layers: TiedLayers, given: str | Mapping[str, float] | None, names: list[str], random: np.random.Generator
) -> Floats:
    """The weight of each layer: learned, equal, or as given by name."""
    if given is None:
        return learn_weights(layers, random).weights
    if isinstance(given, str):
        if given != "equal":
            raise DataError(f'layer_weights must be "equal" or a mapping, not {given!r}')
        return np.where(layers.strengths.sum(axis=0) > 0, 1e3 / layers.totals, 0.0)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise DataError(f"layer_weights names the layer {unknown[0]!r}; the layers are {', '.join(names)}")
    weights = np.array([float(given.get(name, 0.0)) for name in names])
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise DataError("layer_weights must be finite, not negative, and not all 0")
    floored: Floats = np.maximum(weights, NEGLIGIBLE_WEIGHT)
    return floored


def _layer_groups(layers: TiedLayers, group: Ints, weights: Floats, coupling: float) -> Ints:
    """The group of each node in each layer, -1 where it has no ties there; shape (nodes, layers)."""
    found = np.full(layers.strengths.shape, -1, dtype=np.int64)
    nodes = np.arange(group.size)
    for layer in range(len(layers.matrices)):
        strength = layers.strengths[:, layer]
        pull = layers.pull(group, layer)
        pull[nodes, group] += coupling * strength
        found[:, layer] = np.where(strength > 0, pull.argmax(axis=1), -1)
    return found


def _isolated_last(group: Ints, isolated: NDArray[np.bool_]) -> Ints:
    """Groups by size, with the isolated nodes, each a group of its own, after all others."""
    found = by_size(group)
    if isolated.any():
        found[isolated] = found.max() + 1 + np.arange(int(isolated.sum()))
        _, found = np.unique(found, return_inverse=True)
    return found.astype(np.int64)


def _by_leidenalg(layers: TiedLayers, weights: Floats, random: np.random.Generator, resolution: float) -> Ints:
    """The same quality by the optional library leidenalg."""
    try:
        import igraph
        import leidenalg
    except ImportError as error:
        raise MissingExtraError(
            'engine="leidenalg" needs the libraries leidenalg and igraph: pip install leidenalg'
        ) from error
    parts = []
    for one in layers.matrices:
        half = sp.triu(one, 1).tocoo()
        graph = igraph.Graph(n=layers.num_nodes, edges=np.stack([half.row, half.col], axis=1).tolist())
        parts.append(
            leidenalg.RBConfigurationVertexPartition(graph, weights=half.data.tolist(), resolution_parameter=resolution)
        )
    optimiser = leidenalg.Optimiser()
    optimiser.set_rng_seed(int(random.integers(2**31)))
    optimiser.optimise_partition_multiplex(parts, layer_weights=weights.tolist(), n_iterations=2)
    return by_size(np.array(parts[0].membership, dtype=np.int64))


def _check_settings(
    graph: Any, count: Any, resolution: float | None, coupling: float, repeats: int | None, engine: str
) -> None:
    if engine not in ENGINES:
        raise DataError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    if resolution is not None and not (np.isfinite(resolution) and resolution > 0):
        raise DataError(f"resolution must be a positive number, not {resolution}")
    if not 0 <= coupling <= 1:
        raise DataError(f"coupling must be from 0 to 1, not {coupling}")
    if repeats is not None and repeats < 2:
        raise DataError(f"repeats must be at least 2, not {repeats}")
    if count is not None:
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise DataError(f"count must be a whole number from 1, not {count!r}")
        if isinstance(graph, MultilayerGraph) and count > graph.num_nodes:
            raise DataError(
                f"count is {count}, but the graph has {graph.num_nodes} nodes; ask for fewer groups, or leave count out"
            )


def repeated(
    ties: Sequence[LayerTies],
    layers: TiedLayers,
    weights: Floats,
    partition: Partition,
    repeats: int,
    random: np.random.Generator,
) -> tuple[list[Ints], list[Ints]]:
    """Partitions found again: half of them with other seeds only, the others of resampled data.

    In turn the ties are resampled, each counted as often as it is drawn when as many as there are are drawn at random
    (the bootstrap), and the layers, each weighed by a random number of mean 1 (the Bayesian bootstrap, which loses
    none).
    """
    seeds = (repeats + 1) // 2
    by_seed = [partition(layers, weights, random) for _ in range(seeds)]
    resampled = []
    for turn in range(repeats - seeds):
        if turn % 2 and len(ties) > 1:
            counts = random.exponential(size=len(ties))
            resampled.append(partition(layers, weights * counts, random))
        else:
            factors = [random.poisson(1.0, layer.weight.size).astype(float) for layer in ties]
            resampled.append(partition(TiedLayers.of(ties, factors), weights, random))
    return by_seed, resampled


def together(group: Ints, others: Sequence[Ints]) -> Floats:
    """For each node the share of pairs with members of its group that stay together, mean over the other partitions.

    A node alone in its group has no pairs: its share says how often it stays alone.

    Examples
    --------
    >>> together(np.array([0, 0, 0, 1]), [np.array([0, 0, 1, 1])]).tolist()
    [0.5, 0.5, 0.0, 0.0]
    """
    sizes = np.bincount(group)
    share = np.zeros(group.size)
    for other in others:
        count = int(other.max()) + 1
        _, place, both = np.unique(group * count + other, return_inverse=True, return_counts=True)
        kept = both[place] - 1
        pairs = sizes[group] - 1
        alone = np.bincount(other, minlength=count)[other] == 1
        share += np.where(pairs > 0, kept / np.maximum(pairs, 1), alone)
    found: Floats = share / max(len(others), 1)
    return found


def agreement(partitions: Sequence[Ints]) -> float:
    """The mean adjusted Rand index of every two partitions; 1 if there are fewer than two."""
    from sklearn.metrics import adjusted_rand_score

    scores = [adjusted_rand_score(one, other) for place, one in enumerate(partitions) for other in partitions[:place]]
    return float(np.mean(scores)) if scores else 1.0


def chance_qualities(ties: Sequence[LayerTies], weights: Floats, random: np.random.Generator) -> Floats:
    """The best modularity of graphs with the same degrees, or the same columns, and random partners."""
    found = []
    for _ in range(5):
        other = TiedLayers.of([layer.shuffled(random) for layer in ties])
        found.append(other.quality(other.partition(weights, random), weights))
    return np.array(found)


def beyond_chance(quality: float, chance: Floats) -> bool:
    """Whether groups are clearly better than those of randomised graphs.

    By three standard deviations, and by 2 % at least, since weights were fitted to the graph, not to randomised ones.
    """
    return quality > float(chance.mean()) + max(3.0 * float(chance.std(ddof=1)), 0.02 * quality)
