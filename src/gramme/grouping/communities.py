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
    full_graph = check_has_ties(graph, "finding groups")
    name_order = in_name_order(full_graph)
    layer_names = list(name_order.graph.layers)
    random_numbers = np.random.default_rng(random_state)
    layer_ties = ties_of(name_order.graph, random_numbers)
    tied_layers = TiedLayers.of(layer_ties)
    used_weights = chosen_weights(tied_layers, layer_weights, layer_names, random_numbers)
    if resolution is None and count is None:
        resolution = _chosen_resolution(tied_layers, used_weights, random_numbers)
    resolution = 1.0 if resolution is None else resolution
    find_partition = _partition_finder(count, resolution, engine)

    if repeats is None:
        repeats = 8 if tied_layers.is_large else 20  # in a large graph each takes a second or more
    by_seed, resampled = repeated(layer_ties, tied_layers, used_weights, find_partition, repeats, random_numbers)
    node_groups = max(by_seed, key=lambda found: tied_layers.quality(found, used_weights, resolution))
    quality = tied_layers.quality(node_groups, used_weights)
    best_quality = max(
        quality, tied_layers.quality(tied_layers.partition(used_weights, random_numbers, tries=TRIES), used_weights)
    )
    chance_quality = chance_qualities(layer_ties, used_weights, random_numbers)

    is_isolated = tied_layers.strengths.sum(axis=1) == 0
    node_groups = _isolated_last(node_groups, is_isolated)
    per_layer = _layer_groups(tied_layers, node_groups, used_weights, coupling)
    inside_weight, expected_weight = tied_layers.inside(node_groups)
    gained_weight = np.maximum(used_weights * (inside_weight - expected_weight), 0.0)
    given_order = [layer_names.index(name) for name in full_graph.layers]
    layer_support = pd.DataFrame(
        {
            "weight": used_weights / used_weights.sum() if used_weights.sum() > 0 else used_weights,
            "part": gained_weight / gained_weight.sum() if gained_weight.sum() > 0 else gained_weight,
            "inside": inside_weight / tied_layers.totals,
            "expected": expected_weight / tied_layers.totals,
        },
        index=pd.Index(layer_names, name="layer"),
    ).iloc[given_order]
    node_index = pd.Index(graph.nodes, name="node")
    in_layers = {
        name: pd.array(name_order.to_given(per_layer[:, layer_names.index(name)])) for name in full_graph.layers
    }
    return Groups(
        graph,
        labels_=name_order.to_given(node_groups),
        layer_labels_=pd.DataFrame(in_layers, index=node_index).replace(-1, pd.NA),
        stability_=pd.Series(
            name_order.to_given(together(node_groups, by_seed + resampled)), index=node_index, name="stability"
        ),
        layer_support_=layer_support,
        layer_weights_=pd.Series(used_weights, index=pd.Index(layer_names, name="layer"), name="weight").iloc[
            given_order
        ],
        quality_=quality,
        best_quality_=best_quality,
        chance_qualities_=chance_quality,
        seed_agreement_=agreement(by_seed),
        resampled_agreement_=agreement(resampled),
        resolution_=resolution,
        has_groups_=beyond_chance(best_quality, chance_quality),
        isolated_=name_order.to_given(is_isolated),
    )


def _chosen_resolution(layers: TiedLayers, weights: Floats, random: np.random.Generator) -> float:
    """The resolution whose groups serve best.

    With layers of edges, those with the shortest description. With memberships alone, whose ties are too alike to be
    counted as so many observations, those of the highest modularity that a layer does not bring about itself.
    """
    has_ties = layers.strengths.sum(axis=1) > 0
    layer_totals = layers.strengths.sum(axis=0)
    best_choice = (np.inf, 1.0)
    for resolution in RESOLUTIONS:
        group_of_node = layers.partition(weights, random, resolution=resolution, tries=TRIES)
        # at a low resolution anything is one group
        if resolution >= 1 or np.unique(group_of_node[has_ties]).size > 1:
            inside_weight, expected_weight = evidence(layers, group_of_node, weights)
            if layers.from_groups.all():
                resolution_loss = -float(weights @ (inside_weight - expected_weight))
            else:
                resolution_loss = description_length(group_of_node, inside_weight, expected_weight, layer_totals)
            best_choice = min(best_choice, (resolution_loss, resolution))
    return best_choice[1]


def _partition_finder(count: int | None, resolution: float, engine: str) -> Partition:
    """How a partition is found: by a resolution, or by the number of groups."""

    def at(resolution: float, layers: TiedLayers, weights: Floats, random: np.random.Generator) -> Ints:
        if engine == "leidenalg":
            return _by_leidenalg(layers, weights, random, resolution)
        return layers.partition(weights, random, resolution=resolution, tries=TRIES)

    def of_count(count: int, layers: TiedLayers, weights: Floats, random: np.random.Generator) -> Ints:
        # the resolution at which there are enough groups, then the mergers that cost least
        has_ties = layers.strengths.sum(axis=1) > 0
        low_exponent, high_exponent = -4.0, 4.0  # of the binary logarithm of the resolution
        best_groups: Ints | None = None
        for _ in range(12):
            middle_exponent = (low_exponent + high_exponent) / 2
            group_of_node = at(2.0**middle_exponent, layers, weights, random)
            num_groups = np.unique(group_of_node[has_ties]).size
            if num_groups >= count:
                high_exponent, best_groups = middle_exponent, group_of_node
            else:
                low_exponent = middle_exponent
            if num_groups == count:
                break
        if best_groups is None:
            best_groups = at(2.0**high_exponent, layers, weights, random)
        return merged(layers, weights, best_groups, count, 2.0**high_exponent)

    return partial(at, resolution) if count is None else partial(of_count, count)


def merged(layers: TiedLayers, weights: Floats, group: Ints, count: int, resolution: float) -> Ints:
    """Groups merged in pairs, each time the pair that loses least, until ``count`` have ties."""
    group = by_size(group)
    num_groups = int(group.max()) + 1
    member_matrix = sp.csr_array((np.ones(group.size), (np.arange(group.size), group)))
    tied_weight = np.asarray((member_matrix.T @ layers.joined(weights) @ member_matrix).toarray())
    expected_rows: Any = member_matrix.T @ (layers.strengths * np.sqrt(weights * resolution / layers.totals))
    # per unit of what is expected, so that small groups that are tied to one other come first
    is_alive = np.bincount(group, layers.strengths.sum(axis=1), minlength=num_groups) > 0
    owner_group = np.arange(num_groups)
    while is_alive.sum() > count:
        alive_groups = np.flatnonzero(is_alive)
        merge_gain = (
            tied_weight[np.ix_(alive_groups, alive_groups)]
            - expected_rows[alive_groups] @ expected_rows[alive_groups].T
        )
        np.fill_diagonal(merge_gain, -np.inf)
        first_index, second_index = np.unravel_index(int(merge_gain.argmax()), merge_gain.shape)
        kept_group, merged_group = alive_groups[first_index], alive_groups[second_index]
        tied_weight[kept_group] += tied_weight[merged_group]
        tied_weight[:, kept_group] += tied_weight[:, merged_group]
        expected_rows[kept_group] += expected_rows[merged_group]
        is_alive[merged_group] = False
        owner_group[owner_group == merged_group] = kept_group
    return by_size(owner_group[group])


def learned_layer_weights(graph: MultilayerGraph, *, random_state: int = 0) -> pd.Series:
    """How much each layer counts when groups are sought, learned without labels; by layer name.

    Useful where labels are too few to tell which layers speak of them: pass it to
    :class:`~gramme.methods.LabelPropagation` as ``layer_weights``.
    """
    joined_graph = check_has_ties(graph, "learning layer weights")
    name_order = in_name_order(joined_graph)
    random_numbers = np.random.default_rng(random_state)
    tied_layers = TiedLayers.of(ties_of(name_order.graph, random_numbers))
    learned_weights = learn_weights(tied_layers, random_numbers).weights
    layer_names = pd.Index(list(name_order.graph.layers), name="layer")
    return pd.Series(learned_weights, index=layer_names, name="weight")[list(joined_graph.layers)]


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
    unknown_names = [layer_name for layer_name in given if layer_name not in names]
    if unknown_names:
        raise DataError(f"layer_weights names the layer {unknown_names[0]!r}; the layers are {', '.join(names)}")
    given_weights = np.array([float(given.get(layer_name, 0.0)) for layer_name in names])
    if not np.isfinite(given_weights).all() or (given_weights < 0).any() or not given_weights.any():
        raise DataError("layer_weights must be finite, not negative, and not all 0")
    floored_weights: Floats = np.maximum(given_weights, NEGLIGIBLE_WEIGHT)
    return floored_weights


def _layer_groups(layers: TiedLayers, group: Ints, weights: Floats, coupling: float) -> Ints:
    """The group of each node in each layer, -1 where it has no ties there; shape (nodes, layers)."""
    groups_by_layer = np.full(layers.strengths.shape, -1, dtype=np.int64)
    node_index = np.arange(group.size)
    for layer_index in range(len(layers.matrices)):
        node_strength = layers.strengths[:, layer_index]
        group_pull = layers.pull(group, layer_index)
        group_pull[node_index, group] += coupling * node_strength
        groups_by_layer[:, layer_index] = np.where(node_strength > 0, group_pull.argmax(axis=1), -1)
    return groups_by_layer


def _isolated_last(group: Ints, isolated: NDArray[np.bool_]) -> Ints:
    """Groups by size, with the isolated nodes, each a group of its own, after all others."""
    ordered_groups = by_size(group)
    if isolated.any():
        ordered_groups[isolated] = ordered_groups.max() + 1 + np.arange(int(isolated.sum()))
        _, ordered_groups = np.unique(ordered_groups, return_inverse=True)
    return ordered_groups.astype(np.int64)


def _by_leidenalg(layers: TiedLayers, weights: Floats, random: np.random.Generator, resolution: float) -> Ints:
    """The same quality by the optional library leidenalg."""
    try:
        import igraph
        import leidenalg
    except ImportError as error:
        raise MissingExtraError(
            'engine="leidenalg" needs the libraries leidenalg and igraph: pip install leidenalg'
        ) from error
    layer_partitions = []
    for layer_matrix in layers.matrices:
        half_ties = sp.triu(layer_matrix, 1).tocoo()
        layer_graph = igraph.Graph(n=layers.num_nodes, edges=np.stack([half_ties.row, half_ties.col], axis=1).tolist())
        layer_partitions.append(
            leidenalg.RBConfigurationVertexPartition(
                layer_graph, weights=half_ties.data.tolist(), resolution_parameter=resolution
            )
        )
    optimiser = leidenalg.Optimiser()
    optimiser.set_rng_seed(int(random.integers(2**31)))
    optimiser.optimise_partition_multiplex(layer_partitions, layer_weights=weights.tolist(), n_iterations=2)
    return by_size(np.array(layer_partitions[0].membership, dtype=np.int64))


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
    num_seeds = (repeats + 1) // 2
    by_seed = [partition(layers, weights, random) for _ in range(num_seeds)]
    resampled = []
    for repeat_number in range(repeats - num_seeds):
        if repeat_number % 2 and len(ties) > 1:
            layer_counts = random.exponential(size=len(ties))
            resampled.append(partition(layers, weights * layer_counts, random))
        else:
            tie_factors = [random.poisson(1.0, layer.weight.size).astype(float) for layer in ties]
            resampled.append(partition(TiedLayers.of(ties, tie_factors), weights, random))
    return by_seed, resampled


def together(group: Ints, others: Sequence[Ints]) -> Floats:
    """For each node the share of pairs with members of its group that stay together, mean over the other partitions.

    A node alone in its group has no pairs: its share says how often it stays alone.

    Examples
    --------
    >>> together(np.array([0, 0, 0, 1]), [np.array([0, 0, 1, 1])]).tolist()
    [0.5, 0.5, 0.0, 0.0]
    """
    group_sizes = np.bincount(group)
    summed_share = np.zeros(group.size)
    for other_group in others:
        num_groups = int(other_group.max()) + 1
        _, pair_block, block_sizes = np.unique(
            group * num_groups + other_group, return_inverse=True, return_counts=True
        )
        kept_mates = block_sizes[pair_block] - 1
        num_mates = group_sizes[group] - 1
        is_alone = np.bincount(other_group, minlength=num_groups)[other_group] == 1
        summed_share += np.where(num_mates > 0, kept_mates / np.maximum(num_mates, 1), is_alone)
    mean_share: Floats = summed_share / max(len(others), 1)
    return mean_share


def agreement(partitions: Sequence[Ints]) -> float:
    """The mean adjusted Rand index of every two partitions; 1 if there are fewer than two."""
    from sklearn.metrics import adjusted_rand_score

    rand_scores = [
        adjusted_rand_score(one_partition, other_partition)
        for partition_index, one_partition in enumerate(partitions)
        for other_partition in partitions[:partition_index]
    ]
    return float(np.mean(rand_scores)) if rand_scores else 1.0


def chance_qualities(ties: Sequence[LayerTies], weights: Floats, random: np.random.Generator) -> Floats:
    """The best modularity of graphs with the same degrees, or the same columns, and random partners."""
    chance_values = []
    for _ in range(5):
        shuffled_layers = TiedLayers.of([layer.shuffled(random) for layer in ties])
        chance_values.append(shuffled_layers.quality(shuffled_layers.partition(weights, random), weights))
    return np.array(chance_values)


def beyond_chance(quality: float, chance: Floats) -> bool:
    """Whether groups are clearly better than those of randomised graphs.

    By three standard deviations, and by 2 % at least, since weights were fitted to the graph, not to randomised ones.
    """
    return quality > float(chance.mean()) + max(3.0 * float(chance.std(ddof=1)), 0.02 * quality)
