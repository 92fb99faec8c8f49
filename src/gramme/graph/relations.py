"""From relations between several kinds of node: papers, authors, venues.

One kind is the target, whose nodes are to be labelled. A relation from the target to another kind *is* a membership
layer: papers that share an author are neighbours. So is a path: authors who published at the same venue, each with the
number of times as the weight. Its incidence is the product of the relations' sparse incidences; the meta-path's edges,
quadratic in the target's nodes, are never built.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.errors import DataError, GrammeWarning, did_you_mean

from .arrays import loose_index, name_index, object_array, plain, positive_numbers
from .edge_layer import EdgeLayer
from .edges import layer_directions
from .layer import Layer
from .membership_layer import MembershipLayer
from .multilayer import MultilayerGraph
from .node_values import Features, checked_features

# Relations between kinds of node as people have them: pairs of names, as sparse matrices over numbered nodes.
Step = tuple[sp.csr_array, bool]  # a relation along a path, and whether it has weights


@dataclass
class Relation:
    """One relation: its name, the kinds it joins, and its pairs by name, with weights or none."""

    name: str
    source_kind: str
    target_kind: str
    source: pd.Series
    target: pd.Series
    weight: NDArray[np.float64] | None

    def __str__(self) -> str:
        return f"{self.source_kind}-{self.target_kind}" + (f" {self.name!r}" if self.name else "")


@dataclass
class Kinds:
    """The nodes of every kind, and the relations as sparse matrices over them.

    ``matrices`` has one matrix per relation, shape (nodes of the source kind, nodes of the target kind): weights, or
    ones where the relation has none, as an unweighted pair counts once.
    """

    nodes: dict[str, pd.Index]
    relations: list[Relation]
    matrices: list[sp.csr_array] = field(default_factory=list)

    def steps(self, here: str, there: str) -> list[tuple[str, sp.csr_array, bool]]:
        """The relations from one kind to another, either way round: name, matrix, whether it has weights."""
        found = []
        for relation, matrix in zip(self.relations, self.matrices, strict=True):
            weighted = relation.weight is not None
            ends = (relation.source_kind, relation.target_kind)
            if ends == (here, there):
                found.append((relation.name, matrix, weighted))
            elif ends == (there, here):
                found.append((relation.name, sp.csr_array(matrix.T.tocsr()), weighted))
        return found

    def neighbours(self, kind: str) -> list[str]:
        """The other kinds that some relation joins to this one, in order."""
        met = [
            there if here == kind else here
            for here, there in ((r.source_kind, r.target_kind) for r in self.relations)
            if kind in (here, there) and here != there
        ]
        return list(dict.fromkeys(met))


def number_relations(relations: Any, given: Mapping[str, Iterable[Any]], sizes: Mapping[str, int]) -> Kinds:
    """Pairs by name become matrices."""
    if not isinstance(relations, Mapping) or not relations:
        raise DataError("relations must be a mapping of (kind, kind) to pairs, and not empty")
    found = [_relation(key, pairs) for key, pairs in relations.items()]
    columns: dict[str, list[pd.Series]] = {}
    for relation in found:
        columns.setdefault(relation.source_kind, []).append(relation.source)
        columns.setdefault(relation.target_kind, []).append(relation.target)
    nodes = {
        kind: name_index(given[kind], what=kind) if kind in given else _names(kind, met, sizes.get(kind))
        for kind, met in columns.items()
    }
    made = Kinds(nodes, found)
    for relation in found:
        start = _places(relation, relation.source_kind, relation.source, nodes)
        end = _places(relation, relation.target_kind, relation.target, nodes)
        shape = (len(nodes[relation.source_kind]), len(nodes[relation.target_kind]))
        values = np.ones(start.size) if relation.weight is None else relation.weight
        matrix = sp.csr_array((values, (start, end)), shape=shape)
        matrix.sum_duplicates()
        if relation.weight is None:
            matrix.data[:] = 1
        made.matrices.append(matrix)
    return made


def _relation(key: object, pairs: Any) -> Relation:
    if not (isinstance(key, tuple) and len(key) in (2, 3) and all(isinstance(word, str) and word for word in key)):
        raise DataError(f"a relation is between two kinds, (kind, kind) or (kind, name, kind), not {key!r}")
    name = key[1] if len(key) == 3 else ""
    what = f"the relation {' - '.join(key)}"
    source, target, weight = _columns(pairs, what)
    for column, side in ((source, "source"), (target, "target")):
        if column.isna().any():
            row = int(np.flatnonzero(column.isna())[0])
            raise DataError(f"{what}: row {row} has no {side}")
    weights = None if weight is None else positive_numbers(weight, lambda row: f"{what}: row {row}")
    return Relation(name, key[0], key[-1], source, target, weights)


def _columns(pairs: Any, what: str) -> tuple[pd.Series, pd.Series, Any]:
    if sp.issparse(pairs):
        given: Any = pairs
        matrix = sp.coo_array(given)
        plain_ones = matrix.data.size == 0 or bool((matrix.data == 1).all())
        return pd.Series(matrix.row), pd.Series(matrix.col), None if plain_ones else matrix.data
    if isinstance(pairs, pd.DataFrame):
        if {"source", "target"} <= set(pairs.columns):
            weight = pairs["weight"] if "weight" in pairs.columns else None
            columns: list[Any] = [pairs["source"], pairs["target"], weight]
        elif pairs.shape[1] in (2, 3):
            columns = [pairs.iloc[:, place] for place in range(pairs.shape[1])] + [None]
        else:
            raise DataError(
                f"{what}: the table has {pairs.shape[1]} columns; it needs source and target, and may have weight"
            )
        start, end = (column.reset_index(drop=True) for column in columns[:2])
        return start, end, columns[2]
    if isinstance(pairs, np.ndarray):
        if pairs.ndim != 2 or pairs.shape[1] not in (2, 3):
            raise DataError(f"{what}: pairs of shape {pairs.shape}; two or three columns are needed")
        ends = pairs[:, :2]
        if ends.dtype.kind == "f" and bool((ends == np.floor(ends)).all()):
            ends = ends.astype(np.int64)  # numbers of nodes beside weights
        return (pd.Series(ends[:, 0]), pd.Series(ends[:, 1]), pairs[:, 2] if pairs.shape[1] == 3 else None)
    if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Sequence):
        raise DataError(f"{what}: pairs must be a table, an array or a list of rows, not {pairs!r}")
    widths = {len(row) if isinstance(row, (tuple, list)) else 0 for row in pairs}
    if not widths <= {2} and not widths <= {3}:
        raise DataError(f"{what}: every row must be (source, target) or (source, target, weight)")
    turned = [object_array(list(column)) for column in zip(*pairs, strict=True)]
    turned = turned or [object_array([])] * 2
    start, end = (pd.Series(column).infer_objects() for column in turned[:2])
    return start, end, turned[2] if len(turned) == 3 else None


def _names(kind: str, columns: Sequence[pd.Series], size: int | None) -> pd.Index:
    """The names met, whole numbers sorted, others as they first appear; all positions where a size is known."""
    if all(column.dtype.kind in "iu" for column in columns):
        if size is not None and all(column.empty or (column.min() >= 0 and column.max() < size) for column in columns):
            return pd.RangeIndex(size)
        met = np.unique(np.concatenate([column.unique() for column in columns]))
        return name_index(met, what=kind)
    together = pd.concat(columns, ignore_index=True)
    try:
        return name_index(pd.unique(together.astype(object)), what=kind)
    except TypeError as error:
        raise DataError(f"a {kind} name must be hashable: {error}") from error


def _places(relation: Relation, kind: str, column: pd.Series, nodes: Mapping[str, pd.Index]) -> NDArray[np.int64]:
    places = nodes[kind].get_indexer(loose_index(column))
    if (places < 0).any():
        row = int(np.flatnonzero(places < 0)[0])
        raise DataError(
            f"the relation {relation}: row {row} names the {kind} {plain(column.iloc[row])!r}, which is not among "
            f"the {len(nodes[kind])} nodes given of that kind"
        )
    return places.astype(np.int64)


# Paths from the target kind to another kind: which there are by default, and what the user may name.
Path = tuple[str, ...]


def chosen_paths(kinds: Kinds, target: str, paths: Iterable[Sequence[str]] | None) -> list[Path]:
    """The paths as the user named them, or the default ones."""
    if target not in kinds.nodes:
        raise DataError(f"no relation has the target kind {target!r}; {did_you_mean(str(target), kinds.nodes)}")
    _check_reach(kinds, target)
    if paths is None:
        return _default_paths(kinds, target)
    if isinstance(paths, str):
        raise DataError(f"paths must be a list of kinds in order, such as [({target!r}, ...)]")
    return list(dict.fromkeys(_named_path(path, kinds, target) for path in paths))


def _check_reach(kinds: Kinds, target: str) -> None:
    """Every relation must hang together with the target."""
    reached, waiting = {target}, [target]
    while waiting:
        for kind in kinds.neighbours(waiting.pop()):
            if kind not in reached:
                reached.add(kind)
                waiting.append(kind)
    for relation in kinds.relations:
        if relation.source_kind not in reached:
            raise DataError(
                f"the relation {relation} never reaches the target {target!r}: no chain of relations joins them"
            )


def _default_paths(kinds: Kinds, target: str) -> list[Path]:
    """All of length one, and of length two to the kinds that the target touches only through another."""
    near = kinds.neighbours(target)
    paths: list[Path] = [(target, kind) for kind in near]
    for middle in near:
        far = [kind for kind in kinds.neighbours(middle) if kind not in (target, *near)]
        paths += [(target, middle, kind) for kind in far]
    used = {frozenset(step) for path in paths for step in pairwise(path)}
    used.add(frozenset([target]))
    for relation in kinds.relations:
        if frozenset((relation.source_kind, relation.target_kind)) not in used:
            warnings.warn(
                f"the relation {relation} is not used: no path of at most two steps from {target!r} needs it; "
                "name one in paths=",
                GrammeWarning,
                stacklevel=4,
            )
    return paths


def _named_path(path: Any, kinds: Kinds, target: str) -> Path:
    if isinstance(path, str) or not isinstance(path, Sequence) or len(path) < 2:
        raise DataError(f"a path is a list of at least two kinds, not {path!r}")
    steps: Path = tuple(path)
    for kind in steps:
        if kind not in kinds.nodes:
            raise DataError(
                f"the path {'-'.join(map(str, steps))} names the unknown kind {kind!r}; "
                f"{did_you_mean(str(kind), kinds.nodes)}"
            )
    if steps[0] != target and steps[-1] == target:
        steps = steps[::-1]
    if steps[0] != target:
        raise DataError(f"the path {'-'.join(steps)} does not start at the target {target!r}")
    if steps[-1] == target:
        if steps != steps[::-1] or len(steps) % 2 == 0:
            raise DataError(f"the path {'-'.join(steps)} returns by another route; name only the way there")
        steps = steps[: len(steps) // 2 + 1]
    for here, there in pairwise(steps):
        if not kinds.steps(here, there):
            raise DataError(
                f"the path {'-'.join(steps)} goes from {here!r} to {there!r}, but no relation does; relations: "
                + ", ".join(map(str, kinds.relations))
            )
    return steps


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
    by_kind: dict[str, Any] = dict(features) if isinstance(features, Mapping) else {}
    if features is not None and not isinstance(features, Mapping):
        by_kind[target] = features
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
    matrices = {kind: _matrix(kind, given, kinds.nodes[kind]) for kind, given in by_kind.items() if given is not None}
    layers: dict[str, Layer] = _edge_layers(kinds, target, directed)
    layer_features: dict[str, Any] = {}
    for layer_name, path, steps in _named_layers(kinds, chosen, list(layers)):
        incidence, weighted = _product(steps)
        pairs, groups = incidence.tocoo(), kinds.nodes[path[-1]]
        weight = pairs.data if weighted else None
        layers[layer_name] = MembershipLayer(incidence.shape[0], pairs.row, pairs.col, groups, weight=weight)
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


def _edge_layers(kinds: Kinds, target: str, directed: bool | Mapping[str, bool]) -> dict[str, Layer]:
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
            ways=np.ones(pairs.nnz, dtype=np.int8),
        )
    return made


def _named_layers(kinds: Kinds, paths: Sequence[Path], taken: Sequence[str]) -> list[tuple[str, Path, list[Step]]]:
    """A layer per path and choice of relations along it: its name, the path, the steps.

    A layer is called by the kind it leads to; by all kinds on the way, or by the relations, where that is not enough.
    """
    ways: dict[tuple[Path, tuple[str, ...]], list[Step]] = {}
    for path in paths:
        for chosen in product(*(kinds.steps(here, there) for here, there in pairwise(path))):
            ways.setdefault((path, tuple(name for name, _, _ in chosen)), [step[1:] for step in chosen])
    candidates = [
        [path[-1], "-".join(path[1:]), "-".join(names) if all(names) else "-".join((*path[1:], *names))]
        for path, names in ways
    ]
    named = []
    for place, ((path, _), steps) in enumerate(ways.items()):
        for form, candidate in enumerate(candidates[place]):
            others = [each[form] for other, each in enumerate(candidates) if other != place]
            if candidate not in others and candidate not in taken:
                break
        named.append((candidate, path, steps))
    return named


def _product(steps: Sequence[Step]) -> tuple[sp.csr_array, bool]:
    """The incidence of a path, and whether its weights say more than that a way exists."""
    incidence, weighted = steps[0]
    for matrix, more in steps[1:]:
        incidence = sp.csr_array(incidence @ matrix)
        weighted = weighted or more
    if len(steps) > 1 and not weighted:
        weighted = bool((incidence.data != 1).any())
    return incidence, weighted


def _along(path: Path, steps: Sequence[Step], paths: Sequence[Path], matrices: Mapping[str, Features]) -> Any:
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
