"""``gramme.ask``: whom to label next.

A label serves its surroundings. So nodes are chosen that cover the graph: k-means on where nodes lie
(:func:`spectral_coordinates`) puts ``count`` centres where nodes are dense and far from each other, and the node
nearest to each centre is asked. Labelled nodes are centres that stay where they are, so that new ones go to what no
label covers. Every node is stood for by the centre it is nearest to.

Choosing the nodes a model doubts most (margin, entropy) gives its labels to the borders between classes; with few
labels that is several points behind a cover (``docs/results/ask.csv``), so it is not offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from gramme._types import Floats, Ints
from gramme.errors import DataError
from gramme.graph import MultilayerGraph, checked_graph
from gramme.graph.canonical import in_name_order
from gramme.methods.labels import aligned_labels

from .communities import chosen_weights
from .layer_ties import check_has_ties, ties_of
from .layer_weights import TiedLayers

ADDED_DEGREE = 0.5
"""Share of the mean degree that is added; chosen on 3sources, bbc, wikipedia, dkpol and seven datasets, six pools
each."""


def ask(
    graph: MultilayerGraph,
    y: Any = None,
    count: int = 10,
    *,
    among: Iterable[Any] | None = None,
    layer_weights: str | Mapping[str, float] | None = None,
    random_state: int = 0,
) -> pd.DataFrame:
    """Choose the nodes whose labels would tell most about the others.

    Parameters
    ----------
    graph : MultilayerGraph
    y : sequence, mapping or Series, default=None
        Labels that are known already, in node order or by node name; -1, None and NaN mean unknown. If not given, the
        graph's own labels, where it has some. Only who has a label is used, not which.
    count : int, default=10
        How many nodes to choose.
    among : sequence of node names, default=None
        The nodes that can be asked; all without a label if not given.
    layer_weights : "equal" or mapping of layer name to float, default=None
        How much each layer counts; learned from the layers if not given, as :func:`gramme.groups` does.
    random_state : int, default=0

    Returns
    -------
    DataFrame
        A row per node, the one that stands for most first: ``node``, ``why`` in words, and ``stands_for``, the list
        of unlabelled nodes that are nearest to it, itself first and then by distance.

    Notes
    -----
    Cost: learning layer weights as in :func:`gramme.groups`, a few hundred products with the ties, and nodes x count x
    20 for each step of k-means. Memberships never become edges.

    Examples
    --------
    >>> from gramme.graph import EdgeLayer
    >>> talk = EdgeLayer(6, [0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> g = MultilayerGraph({"talk": talk}, nodes=["Ann", "Bo", "Cy", "Di", "Ed", "Flo"])
    >>> chosen = ask(g, count=2)
    >>> sorted(len(some) for some in chosen["stands_for"])
    [3, 3]
    """
    labelled, askable = _who(graph, y, count, among)
    node_cover = cover(graph, labelled, askable, count, layer_weights=layer_weights, random_state=random_state)
    node_names = list(graph.nodes)
    nodes_stood_for = [node_cover.stood_for(chosen_index).tolist() for chosen_index in range(node_cover.nodes.size)]
    chosen_degrees = node_cover.degree[node_cover.nodes].tolist()
    # not by pandas' guess of a type, which refuses names that are not valid Unicode
    columns = {
        "node": pd.Series([node_names[node] for node in node_cover.nodes.tolist()], dtype=graph.nodes.dtype),
        "why": [
            _why(len(near_nodes), degree, bool(labelled.any()))
            for near_nodes, degree in zip(nodes_stood_for, chosen_degrees, strict=True)
        ],
        "stands_for": [[node_names[node_position] for node_position in near_nodes] for near_nodes in nodes_stood_for],
    }
    return pd.DataFrame(
        {name: pd.Series(values, dtype=getattr(values, "dtype", object)) for name, values in columns.items()}
    )


@dataclass(frozen=True)
class Cover:
    """Chosen nodes and the nodes that each stands for."""

    nodes: Ints  # positions of the chosen nodes
    nearest: Ints
    """For each node the place of the nearest chosen one; -1 for labelled nodes and those nearer to a label."""
    distance: Floats  # of each node to that one
    degree: Ints  # ties of each node in all layers

    def stood_for(self, place: int) -> Ints:
        """The nodes that a chosen one stands for, itself first and then by distance."""
        member_nodes = np.flatnonzero(self.nearest == place)
        member_nodes = member_nodes[member_nodes != self.nodes[place]]
        distance_order = np.argsort(self.distance[member_nodes], kind="stable")
        return np.concatenate([[self.nodes[place]], member_nodes[distance_order]]).astype(np.int64)


def cover(
    graph: MultilayerGraph,
    labelled: NDArray[np.bool_],
    askable: NDArray[np.bool_],
    count: int,
    *,
    layer_weights: str | Mapping[str, float] | None = None,
    random_state: int = 0,
) -> Cover:
    """The cover of a graph by some of the askable nodes beside the labelled ones; see :func:`ask`."""
    joined_graph = check_has_ties(graph, "choosing whom to ask")
    name_order = in_name_order(joined_graph)
    random_numbers = np.random.default_rng(random_state)
    tied_layers = TiedLayers.of(ties_of(name_order.graph, random_numbers))
    used_weights = chosen_weights(tied_layers, layer_weights, list(name_order.graph.layers), random_numbers)
    given_position = np.arange(graph.num_nodes) if name_order.places is None else name_order.places
    has_label, open_to = labelled[given_position], askable[given_position]
    has_ties = tied_layers.strengths.sum(axis=1) > 0
    # twice as many eigenvectors as centres: with as many, few centres know only the one or two largest divisions;
    # chosen among 16 layouts on mammography, congress_votes, bbc, wikipedia and wine, halves 0 to 4
    coordinates = spectral_coordinates(tied_layers.joined(used_weights), min(2 * (count + int(has_label.sum())), 20))

    tied_nodes = np.flatnonzero(has_ties)
    fixed_centres = coordinates[has_label & has_ties]
    num_wanted = min(count, int((open_to & has_ties).sum()))
    chosen_nodes = np.zeros(0, dtype=np.int64)
    if num_wanted:
        centres = _centres(coordinates[tied_nodes], fixed_centres, num_wanted, random_numbers)
        chosen_nodes = _nearest_nodes(coordinates, centres, np.flatnonzero(open_to & has_ties))
    if chosen_nodes.size < count:
        # nodes without ties stand for nobody but themselves, and come last
        isolated_nodes = np.flatnonzero(open_to & ~has_ties)
        chosen_nodes = np.concatenate([chosen_nodes, isolated_nodes[: count - chosen_nodes.size]])

    nearest_chosen, distance = _stands_for(coordinates, chosen_nodes, has_label, has_ties)
    num_stood_for = np.bincount(nearest_chosen[nearest_chosen >= 0], minlength=chosen_nodes.size)
    by_size = np.argsort(-num_stood_for, kind="stable")
    size_place = np.empty(chosen_nodes.size + 1, dtype=np.int64)
    size_place[by_size] = np.arange(chosen_nodes.size)
    size_place[-1] = -1
    node_degree = sum(np.diff(layer_matrix.indptr) for layer_matrix in tied_layers.matrices)
    return Cover(
        given_position[chosen_nodes[by_size]],
        name_order.to_given(size_place[nearest_chosen]),
        name_order.to_given(distance),
        name_order.to_given(np.asarray(node_degree, dtype=np.int64)),
    )


def _centres(rows: Floats, fixed: Floats, count: int, random: np.random.Generator) -> Floats:
    """Centres of k-means beside fixed ones: the best of four starts by the distances left."""
    to_fixed = to_nearest(rows, fixed)[1]
    best_cover: tuple[float, Floats] | None = None
    for _ in range(4):
        current_centres = _first_centres(rows, to_fixed, count, random)
        distance_left = np.inf
        for _ in range(50):
            nearest, distance = to_nearest(rows, current_centres)
            is_nearer = distance < to_fixed
            total_distance = float(np.minimum(distance, to_fixed).sum())
            if total_distance >= distance_left * (1 - 1e-6):
                break
            distance_left = total_distance
            cluster_sizes = np.bincount(nearest[is_nearer], minlength=count)
            coordinate_sums = np.zeros_like(current_centres)
            np.add.at(coordinate_sums, nearest[is_nearer], rows[is_nearer])
            current_centres = np.where(
                cluster_sizes[:, None] > 0, coordinate_sums / np.maximum(cluster_sizes, 1)[:, None], current_centres
            )
        if best_cover is None or distance_left < best_cover[0]:
            best_cover = (distance_left, current_centres)
    assert best_cover is not None
    return best_cover[1]


def _first_centres(rows: Floats, to_fixed: Floats, count: int, random: np.random.Generator) -> Floats:
    """k-means++: each centre a node drawn in proportion to its squared distance from those before it."""
    min_distance = to_fixed
    centres = np.empty((count, rows.shape[1]))
    for centre_index in range(count):
        draw_chance = min_distance if np.isfinite(min_distance).all() and min_distance.any() else np.ones(rows.shape[0])
        drawn_node = int(np.searchsorted(np.cumsum(draw_chance), random.random() * draw_chance.sum()))
        centres[centre_index] = rows[min(drawn_node, rows.shape[0] - 1)]
        min_distance = np.minimum(min_distance, ((rows - centres[centre_index]) ** 2).sum(axis=1))
    return centres


def to_nearest(rows: Floats, centres: Floats) -> tuple[Ints, Floats]:
    """The nearest centre of each row and its squared distance; infinite if there are no centres."""
    nearest = np.zeros(rows.shape[0], dtype=np.int64)
    distance = np.full(rows.shape[0], np.inf)
    if not centres.shape[0]:
        return nearest, distance
    squared_lengths = (centres**2).sum(axis=1)
    block_size = max(1, 4_000_000 // centres.shape[0])  # distances that are held at once
    for block_start in range(0, rows.shape[0], block_size):
        block_rows = rows[block_start : block_start + block_size]
        block_distances = squared_lengths[None] - 2.0 * block_rows @ centres.T
        nearest_index = block_distances.argmin(axis=1)
        nearest[block_start : block_start + block_size] = nearest_index
        squared_distance = block_distances[np.arange(block_rows.shape[0]), nearest_index] + (block_rows**2).sum(axis=1)
        distance[block_start : block_start + block_size] = np.maximum(squared_distance, 0.0)
    return nearest, distance


def _nearest_nodes(rows: Floats, centres: Floats, candidates: Ints) -> Ints:
    """For each centre the nearest candidate that no centre before it has taken; dense centres choose first."""
    is_free = np.ones(candidates.size, dtype=bool)
    chosen_nodes = np.empty(centres.shape[0], dtype=np.int64)
    for centre_index, centre in enumerate(centres):
        distance = ((rows[candidates] - centre) ** 2).sum(axis=1)
        distance[~is_free] = np.inf
        nearest_index = int(distance.argmin())
        is_free[nearest_index] = False
        chosen_nodes[centre_index] = candidates[nearest_index]
    return chosen_nodes


def _stands_for(rows: Floats, chosen: Ints, known: NDArray[np.bool_], tied: NDArray[np.bool_]) -> tuple[Ints, Floats]:
    """Whom each chosen node stands for: unlabelled nodes that are nearer to it than to a label or another one."""
    nearest, distance = to_nearest(rows, rows[chosen])
    to_label = to_nearest(rows, rows[known & tied])[1]
    is_outside = (to_label < distance) | known | ~tied
    nearest = np.where(is_outside, -1, nearest)
    nearest[chosen] = np.arange(chosen.size)
    return nearest, np.sqrt(distance)


def _who(graph: Any, y: Any, count: Any, among: Iterable[Any] | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who has a label and who can be asked; an error where that leaves too few."""
    checked_graph(graph)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise DataError(f"count must be a whole number from 1, not {count!r}")
    labelled = np.zeros(graph.num_nodes, dtype=bool)
    if y is not None or graph.labels is not None:
        label_values = aligned_labels(graph, y)
        labelled = np.array([label_value is not None for label_value in label_values], dtype=bool)
    askable = ~labelled
    if among is not None:
        is_named = np.zeros(graph.num_nodes, dtype=bool)
        is_named[graph.positions(among)] = True
        askable &= is_named
    num_open = int(askable.sum())
    if not num_open:
        subject_words = "every node" if among is None else "every node that can be asked"
        raise DataError(f"{subject_words} has a label already, so there is nobody left to ask")
    if count > num_open:
        have_words = "node has" if num_open == 1 else "nodes have"
        have_words = have_words if among is None else f"of the nodes that can be asked {have_words.split()[1]}"
        raise DataError(
            f"count is {count:,}, but only {num_open:,} {have_words} no label; ask for {num_open:,} or fewer"
        )
    return labelled, askable


def _why(size: int, degree: int, labels: bool) -> str:
    if degree == 0:
        return "joined to nobody, so that no other label says anything about it"
    num_others = size - 1
    if not num_others:
        return "far from all nodes that are labelled or chosen"
    others_words = "one other node" if num_others == 1 else f"{num_others:,} other nodes"
    label_words = " that no label covers yet" if labels else ""
    return f"at the centre of {others_words}{label_words}"


def spectral_coordinates(ties: sp.csr_array, dimensions: int) -> Floats:
    """Where nodes lie: a row of length 1 per node, 0 for a node without ties; shape (nodes, dimensions).

    With the ties W of all layers and degrees d, rows come from the leading eigenvectors of D^(-1/2) W D^(-1/2) with D
    = diag(d + half of the mean degree). The addition keeps small, loosely tied parts from having eigenvectors of
    their own (T. Qin, K. Rohe, "Regularized spectral clustering under the degree-corrected stochastic blockmodel",
    NIPS 2013). Rows are scaled to length 1, so that what counts is to which groups a node leans and not how many ties
    it has.
    """
    num_nodes = ties.shape[0]
    node_degree = np.asarray(ties.sum(axis=1))
    mean_degree = float(node_degree.sum()) / max(int((node_degree > 0).sum()), 1)
    node_scale = np.where(node_degree > 0, 1 / np.sqrt(node_degree + ADDED_DEGREE * mean_degree), 0.0)
    dimensions = min(dimensions, num_nodes)
    scaled_ties = sp.csr_array(sp.diags_array(node_scale) @ ties @ sp.diags_array(node_scale))
    if num_nodes <= max(400, 2 * dimensions):
        values, vectors = np.linalg.eigh(scaled_ties.toarray())
    else:
        start_vector = np.random.default_rng(0).normal(size=num_nodes)
        try:
            values, vectors = eigsh(scaled_ties, dimensions, which="LA", v0=start_vector, tol=1e-3, maxiter=50)
        except ArpackNoConvergence as stopped:
            values, vectors = stopped.eigenvalues.real, stopped.eigenvectors.real
    # neighbours differ in what a negative eigenvalue belongs to: that tells no groups apart
    leading = [column for column in np.argsort(-values)[:dimensions] if values[column] > 0]
    vectors = vectors[:, leading]
    vectors = np.where(node_degree[:, None] > 0, vectors, 0.0)
    row_length = np.linalg.norm(vectors, axis=1, keepdims=True)
    coordinates: Floats = np.divide(vectors, row_length, out=np.zeros_like(vectors), where=row_length > 1e-12)
    return coordinates
