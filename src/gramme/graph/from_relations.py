"""From relations between several kinds of node: papers, authors, venues.

One kind is the target, whose nodes are to be labelled. A relation from the target to another kind *is* a membership
layer: papers that share an author are neighbours. So is a path: authors who published at the same venue, each with the
number of times as the weight. Its incidence is the product of the relations' sparse incidences; the meta-path's edges,
quadratic in the target's nodes, are never built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from gramme.errors import DataError, did_you_mean
from gramme.graph.arrays import loose_index
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.features import Features, checked_features
from gramme.graph.from_edges import layer_directions
from gramme.graph.kind_paths import Path, chosen_paths
from gramme.graph.layer import Layer
from gramme.graph.membership_layer import MembershipLayer
from gramme.graph.multilayer import MultilayerGraph
from gramme.graph.relation_pairs import Kinds, number_relations


def from_relations(
    relations: Mapping[Any, Any],
    *,
    target: str,
    paths: Iterable[Sequence[str]] | None = None,
    directed: bool | Mapping[str, bool] = False,
    nodes: Iterable[Any] | Mapping[str, Iterable[Any]] | None = None,
    labels: Any = None,
    features: Any = None,
    name: str | None = None,
) -> MultilayerGraph:
    """A graph over the nodes of one kind, from relations between several kinds.

    Parameters
    ----------
    relations : mapping of (kind, kind) or (kind, name, kind) to pairs
        Pairs by name: a DataFrame (columns source, target, perhaps weight, or the first two or three columns), an array
        of two or three columns, a list of rows (source, target[, weight]), or a sparse matrix over positions.
    target : str
        The kind whose nodes become the nodes of the graph.
    paths : list of lists of kinds, optional
        From the target to another kind; each is a membership layer. A meta-path that comes back the way it went,
        author-paper-author, means its first half. If not given: every relation of the target, and paths of two steps
        to the kinds that it touches only through another.
    directed : bool or mapping of layer name to bool, default=False
        Whether relations within the target kind, which are edge layers, have a direction.
    nodes : iterable, or mapping of kind to iterable, optional
        All nodes of the target (of each kind), in order. If not given, those that the relations name: whole numbers
        sorted, others as they first appear.
    labels : sequence or mapping, optional
        Of the target's nodes.
    features : matrix, or mapping of kind to matrix, DataFrame or mapping by name, optional
        The target's own are the graph's features. Those of another kind are averaged along the layers that lead to it
        (by weight) and become the features of these layers; a node that reaches nobody has a missing row.
    name : str, optional
        What to call the graph.

    Examples
    --------
    >>> g = from_relations(
    ...     {
    ...         ("paper", "author"): [("p1", "Ann"), ("p1", "Bo"), ("p2", "Bo")],
    ...         ("paper", "venue"): [("p1", "KDD"), ("p2", "ICML")],
    ...     },
    ...     target="author",
    ... )
    >>> g
    MultilayerGraph(2 nodes, 2 layers: paper 2 groups, venue 2 groups)
    >>> g.layers["venue"].incidence().toarray().tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    by_kind = _features_by_kind(features, target)
    stated = dict(nodes) if isinstance(nodes, Mapping) else {}
    if nodes is not None and not isinstance(nodes, Mapping):
        stated[target] = nodes
    sizes = {}
    for kind, given in by_kind.items():
        if isinstance(given, pd.DataFrame):
            stated.setdefault(kind, given.index)
        elif hasattr(given, "shape") and not isinstance(given, pd.Series):
            sizes[kind] = int(given.shape[0])
    kinds = number_relations(relations, stated, sizes)
    for what, named in (("features", by_kind), ("nodes", stated)):
        for kind in named:
            if kind not in kinds.nodes:
                raise DataError(
                    f"{what} were given for the unknown kind {kind!r}; {did_you_mean(str(kind), kinds.nodes)}"
                )
    chosen = chosen_paths(kinds, target, paths)
    matrices = {
        kind: _matrix(kind, given, kinds.nodes[kind])
        for kind, given in by_kind.items()
        if given is not None
    }
    layers: dict[str, Layer] = _edge_layers(kinds, target, directed)
    layer_features: dict[str, Any] = {}
    for layer_name, path, names in _named_layers(kinds, chosen, list(layers)):
        steps = [
            _step(kinds, here, there, relation)
            for here, there, relation in zip(path[:-1], path[1:], names, strict=True)
        ]
        incidence, weighted = _product(steps)
        layers[layer_name] = _membership(incidence, kinds.nodes[path[-1]], weighted)
        along = _along(path, steps, chosen, matrices)
        if along is not None:
            layer_features[layer_name] = along
    return MultilayerGraph(
        layers,
        nodes=kinds.nodes[target],
        labels=labels,
        features=matrices.get(target),
        layer_features=layer_features,
        name=name,
    )


def _features_by_kind(features: Any, target: str) -> dict[str, Any]:
    if features is None:
        return {}
    return dict(features) if isinstance(features, Mapping) else {target: features}


def _matrix(kind: str, given: Any, nodes: pd.Index) -> Features:
    """The features of a kind in the order of its nodes."""
    if isinstance(given, pd.DataFrame):
        places = loose_index(given.index).get_indexer(nodes)
        if (places < 0).any():
            missing = nodes[int(np.flatnonzero(places < 0)[0])]
            raise DataError(f"the features of the kind {kind!r} have no row for {missing!r}")
        given = given.to_numpy()[places]
    elif isinstance(given, Mapping):
        missing = next((node for node in nodes if node not in given), None)
        if missing is not None:
            raise DataError(f"the features of the kind {kind!r} have no row for {missing!r}")
        given = [given[node] for node in nodes]
    try:
        return checked_features(given, nodes)
    except DataError as error:
        raise DataError(f"kind {kind!r}: {error}") from error


def _edge_layers(
    kinds: Kinds, target: str, directed: bool | Mapping[str, bool]
) -> dict[str, Layer]:
    """The relations within the target kind."""
    found = {
        relation.name or target: (matrix, relation.weight is not None)
        for relation, matrix in zip(kinds.relations, kinds.matrices, strict=True)
        if relation.source_kind == relation.target_kind == target
    }
    one_way = layer_directions(directed, found)
    made: dict[str, Layer] = {}
    for name, (matrix, weighted) in found.items():
        pairs = matrix.tocoo()
        made[name] = EdgeLayer(
            matrix.shape[0],
            pairs.row,
            pairs.col,
            pairs.data if weighted else None,
            directed=bool(one_way[name]),
        )
    return made


def _named_layers(
    kinds: Kinds, paths: Sequence[Path], taken: Sequence[str]
) -> list[tuple[str, Path, tuple[str, ...]]]:
    """A layer per path and choice of relations along it: its name, the path, the relations' names.

    A layer is called by the kind it leads to; by all kinds on the way, or by the relations, where that is not enough.
    """
    ways: list[tuple[Path, tuple[str, ...]]] = []
    for path in paths:
        choices: list[tuple[str, ...]] = [()]
        for here, there in pairwise(path):
            choices = [
                (*chosen, name) for chosen in choices for name, _, _ in kinds.steps(here, there)
            ]
        ways += [(path, chosen) for chosen in dict.fromkeys(choices)]
    candidates = [
        [
            path[-1],
            "-".join(path[1:]),
            "-".join(names) if all(names) else "-".join((*path[1:], *names)),
        ]
        for path, names in ways
    ]
    named = []
    for place, (path, names) in enumerate(ways):
        for form, candidate in enumerate(candidates[place]):
            others = [each[form] for other, each in enumerate(candidates) if other != place]
            if candidate not in others and candidate not in taken:
                break
        named.append((candidate, path, names))
    return named


def _step(kinds: Kinds, here: str, there: str, relation: str) -> tuple[sp.csr_array, bool]:
    return next(
        (matrix, weighted)
        for name, matrix, weighted in kinds.steps(here, there)
        if name == relation
    )


def _product(steps: Sequence[tuple[sp.csr_array, bool]]) -> tuple[sp.csr_array, bool]:
    """The incidence of a path, and whether its weights say more than that a way exists."""
    incidence, weighted = steps[0]
    for matrix, more in steps[1:]:
        incidence = sp.csr_array(incidence @ matrix)
        weighted = weighted or more
    if len(steps) > 1 and not weighted:
        weighted = bool((incidence.data != 1).any())
    return incidence, weighted


def _membership(incidence: sp.csr_array, groups: pd.Index, weighted: bool) -> MembershipLayer:
    pairs = incidence.tocoo()
    return MembershipLayer(
        incidence.shape[0], pairs.row, pairs.col, groups, weight=pairs.data if weighted else None
    )


def _along(
    path: Path,
    steps: Sequence[tuple[sp.csr_array, bool]],
    paths: Sequence[Path],
    matrices: Mapping[str, Features],
) -> Any:
    """The features that a layer brings to the target: those of its last kind, and of kinds on the way with no layer."""
    parts: list[Any] = []
    missing = None
    ends = {each[-1] for each in paths}
    for length in range(1, len(path)):
        kind = path[length]
        if kind not in matrices or (length < len(path) - 1 and kind in ends):
            continue
        incidence, _ = _product(steps[:length])
        total = np.asarray(incidence.sum(axis=1)).ravel()
        shares = sp.diags_array(np.divide(1, total, where=total > 0, out=np.zeros(total.size)))
        parts.append(sp.csr_array(shares @ incidence) @ matrices[kind])
        missing = (total == 0) if missing is None else missing & (total == 0)
    if not parts:
        return None
    if any(sp.issparse(part) for part in parts):
        return sp.csr_array(sp.hstack([sp.csr_array(part) for part in parts]))
    dense = np.hstack(parts)
    dense[missing] = np.nan
    return dense
