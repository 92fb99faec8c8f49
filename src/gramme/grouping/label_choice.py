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
    choice = cover(graph, labelled, askable, count, layer_weights=layer_weights, random_state=random_state)
    names = list(graph.nodes)
    near = [choice.stood_for(place).tolist() for place in range(choice.nodes.size)]
    degrees = choice.degree[choice.nodes].tolist()
    # not by pandas' guess of a type, which refuses names that are not valid Unicode
    columns = {
        "node": pd.Series([names[node] for node in choice.nodes.tolist()], dtype=graph.nodes.dtype),
        "why": [_why(len(some), degree, bool(labelled.any())) for some, degree in zip(near, degrees, strict=True)],
        "stands_for": [[names[one] for one in some] for some in near],
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
        members = np.flatnonzero(self.nearest == place)
        members = members[members != self.nodes[place]]
        order = np.argsort(self.distance[members], kind="stable")
        return np.concatenate([[self.nodes[place]], members[order]]).astype(np.int64)


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
    joined = check_has_ties(graph, "choosing whom to ask")
    order = in_name_order(joined)
    random = np.random.default_rng(random_state)
    layers = TiedLayers.of(ties_of(order.graph, random))
    weights = chosen_weights(layers, layer_weights, list(order.graph.layers), random)
    back = np.arange(graph.num_nodes) if order.places is None else order.places
    known, open_to = labelled[back], askable[back]
    tied = layers.strengths.sum(axis=1) > 0
    # twice as many eigenvectors as centres: with as many, few centres know only the one or two largest divisions;
    # chosen among 16 layouts on mammography, congress_votes, bbc, wikipedia and wine, halves 0 to 4
    rows = spectral_coordinates(layers.joined(weights), min(2 * (count + int(known.sum())), 20))

    inside = np.flatnonzero(tied)
    fixed = rows[known & tied]
    wanted = min(count, int((open_to & tied).sum()))
    chosen = np.zeros(0, dtype=np.int64)
    if wanted:
        centres = _centres(rows[inside], fixed, wanted, random)
        chosen = _nearest_nodes(rows, centres, np.flatnonzero(open_to & tied))
    if chosen.size < count:
        # nodes without ties stand for nobody but themselves, and come last
        alone = np.flatnonzero(open_to & ~tied)
        chosen = np.concatenate([chosen, alone[: count - chosen.size]])

    nearest, distance = _stands_for(rows, chosen, known, tied)
    sizes = np.bincount(nearest[nearest >= 0], minlength=chosen.size)
    by_size = np.argsort(-sizes, kind="stable")
    place = np.empty(chosen.size + 1, dtype=np.int64)
    place[by_size] = np.arange(chosen.size)
    place[-1] = -1
    degree = sum(np.diff(one.indptr) for one in layers.matrices)
    return Cover(
        back[chosen[by_size]],
        order.to_given(place[nearest]),
        order.to_given(distance),
        order.to_given(np.asarray(degree, dtype=np.int64)),
    )


def _centres(rows: Floats, fixed: Floats, count: int, random: np.random.Generator) -> Floats:
    """Centres of k-means beside fixed ones: the best of four starts by the distances left."""
    to_fixed = to_nearest(rows, fixed)[1]
    best: tuple[float, Floats] | None = None
    for _ in range(4):
        centres = _first_centres(rows, to_fixed, count, random)
        left = np.inf
        for _ in range(50):
            nearest, distance = to_nearest(rows, centres)
            mine = distance < to_fixed
            total = float(np.minimum(distance, to_fixed).sum())
            if total >= left * (1 - 1e-6):
                break
            left = total
            sizes = np.bincount(nearest[mine], minlength=count)
            sums = np.zeros_like(centres)
            np.add.at(sums, nearest[mine], rows[mine])
            centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
        if best is None or left < best[0]:
            best = (left, centres)
    assert best is not None
    return best[1]


def _first_centres(rows: Floats, to_fixed: Floats, count: int, random: np.random.Generator) -> Floats:
    """k-means++: each centre a node drawn in proportion to its squared distance from those before it."""
    distance = to_fixed
    centres = np.empty((count, rows.shape[1]))
    for place in range(count):
        chances = distance if np.isfinite(distance).all() and distance.any() else np.ones(rows.shape[0])
        node = int(np.searchsorted(np.cumsum(chances), random.random() * chances.sum()))
        centres[place] = rows[min(node, rows.shape[0] - 1)]
        distance = np.minimum(distance, ((rows - centres[place]) ** 2).sum(axis=1))
    return centres


def to_nearest(rows: Floats, centres: Floats) -> tuple[Ints, Floats]:
    """The nearest centre of each row and its squared distance; infinite if there are no centres."""
    nearest = np.zeros(rows.shape[0], dtype=np.int64)
    distance = np.full(rows.shape[0], np.inf)
    if not centres.shape[0]:
        return nearest, distance
    lengths = (centres**2).sum(axis=1)
    step = max(1, 4_000_000 // centres.shape[0])  # distances that are held at once
    for start in range(0, rows.shape[0], step):
        part = rows[start : start + step]
        between = lengths[None] - 2.0 * part @ centres.T
        at = between.argmin(axis=1)
        nearest[start : start + step] = at
        found = between[np.arange(part.shape[0]), at] + (part**2).sum(axis=1)
        distance[start : start + step] = np.maximum(found, 0.0)
    return nearest, distance


def _nearest_nodes(rows: Floats, centres: Floats, candidates: Ints) -> Ints:
    """For each centre the nearest candidate that no centre before it has taken; dense centres choose first."""
    free = np.ones(candidates.size, dtype=bool)
    chosen = np.empty(centres.shape[0], dtype=np.int64)
    for place, centre in enumerate(centres):
        distance = ((rows[candidates] - centre) ** 2).sum(axis=1)
        distance[~free] = np.inf
        at = int(distance.argmin())
        free[at] = False
        chosen[place] = candidates[at]
    return chosen


def _stands_for(rows: Floats, chosen: Ints, known: NDArray[np.bool_], tied: NDArray[np.bool_]) -> tuple[Ints, Floats]:
    """Whom each chosen node stands for: unlabelled nodes that are nearer to it than to a label or another one."""
    nearest, distance = to_nearest(rows, rows[chosen])
    to_label = to_nearest(rows, rows[known & tied])[1]
    outside = (to_label < distance) | known | ~tied
    nearest = np.where(outside, -1, nearest)
    nearest[chosen] = np.arange(chosen.size)
    return nearest, np.sqrt(distance)


def _who(graph: Any, y: Any, count: Any, among: Iterable[Any] | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who has a label and who can be asked; an error where that leaves too few."""
    checked_graph(graph)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise DataError(f"count must be a whole number from 1, not {count!r}")
    labelled = np.zeros(graph.num_nodes, dtype=bool)
    if y is not None or graph.labels is not None:
        values = aligned_labels(graph, y)
        labelled = np.array([value is not None for value in values], dtype=bool)
    askable = ~labelled
    if among is not None:
        given = np.zeros(graph.num_nodes, dtype=bool)
        given[graph.positions(among)] = True
        askable &= given
    left = int(askable.sum())
    if not left:
        everyone = "every node" if among is None else "every node that can be asked"
        raise DataError(f"{everyone} has a label already, so there is nobody left to ask")
    if count > left:
        have = "node has" if left == 1 else "nodes have"
        have = have if among is None else f"of the nodes that can be asked {have.split()[1]}"
        raise DataError(f"count is {count:,}, but only {left:,} {have} no label; ask for {left:,} or fewer")
    return labelled, askable


def _why(size: int, degree: int, labels: bool) -> str:
    if degree == 0:
        return "joined to nobody, so that no other label says anything about it"
    others = size - 1
    if not others:
        return "far from all nodes that are labelled or chosen"
    whom = "one other node" if others == 1 else f"{others:,} other nodes"
    covered = " that no label covers yet" if labels else ""
    return f"at the centre of {whom}{covered}"


def spectral_coordinates(ties: sp.csr_array, dimensions: int) -> Floats:
    """Where nodes lie: a row of length 1 per node, 0 for a node without ties; shape (nodes, dimensions).

    With the ties W of all layers and degrees d, rows come from the leading eigenvectors of D^(-1/2) W D^(-1/2) with D
    = diag(d + half of the mean degree). The addition keeps small, loosely tied parts from having eigenvectors of
    their own (T. Qin, K. Rohe, "Regularized spectral clustering under the degree-corrected stochastic blockmodel",
    NIPS 2013). Rows are scaled to length 1, so that what counts is to which groups a node leans and not how many ties
    it has.
    """
    count = ties.shape[0]
    degree = np.asarray(ties.sum(axis=1))
    mean = float(degree.sum()) / max(int((degree > 0).sum()), 1)
    scale = np.where(degree > 0, 1 / np.sqrt(degree + ADDED_DEGREE * mean), 0.0)
    dimensions = min(dimensions, count)
    step = sp.csr_array(sp.diags_array(scale) @ ties @ sp.diags_array(scale))
    if count <= max(400, 2 * dimensions):
        vectors = np.linalg.eigh(step.toarray())[1][:, ::-1][:, :dimensions]
    else:
        start = np.random.default_rng(0).normal(size=count)
        try:
            values, vectors = eigsh(step, dimensions, which="LA", v0=start, tol=1e-3, maxiter=50)
        except ArpackNoConvergence as stopped:
            values, vectors = stopped.eigenvalues, stopped.eigenvectors
        vectors = vectors[:, np.argsort(-values)]
    vectors = np.where(degree[:, None] > 0, vectors, 0.0)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    coordinates: Floats = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 1e-12)
    return coordinates
