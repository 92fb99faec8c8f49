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
        found_steps = []
        for relation, matrix in zip(self.relations, self.matrices, strict=True):
            has_weights = relation.weight is not None
            end_kinds = (relation.source_kind, relation.target_kind)
            if end_kinds == (here, there):
                found_steps.append((relation.name, matrix, has_weights))
            elif end_kinds == (there, here):
                found_steps.append((relation.name, sp.csr_array(matrix.T.tocsr()), has_weights))
        return found_steps

    def neighbours(self, kind: str) -> list[str]:
        """The other kinds that some relation joins to this one, in order."""
        met_kinds = [
            there if here == kind else here
            for here, there in ((r.source_kind, r.target_kind) for r in self.relations)
            if kind in (here, there) and here != there
        ]
        return list(dict.fromkeys(met_kinds))


def number_relations(relations: Any, given: Mapping[str, Iterable[Any]], sizes: Mapping[str, int]) -> Kinds:
    """Pairs by name become matrices."""
    if not isinstance(relations, Mapping) or not relations:
        raise DataError("relations must be a mapping of (kind, kind) to pairs, and not empty")
    named_relations = [_relation(key, pairs) for key, pairs in relations.items()]
    kind_columns: dict[str, list[pd.Series]] = {}
    for relation in named_relations:
        kind_columns.setdefault(relation.source_kind, []).append(relation.source)
        kind_columns.setdefault(relation.target_kind, []).append(relation.target)
    nodes = {
        kind: name_index(given[kind], what=kind) if kind in given else _names(kind, met, sizes.get(kind))
        for kind, met in kind_columns.items()
    }
    numbered_kinds = Kinds(nodes, named_relations)
    for relation in named_relations:
        source_nodes = _places(relation, relation.source_kind, relation.source, nodes)
        target_nodes = _places(relation, relation.target_kind, relation.target, nodes)
        shape = (len(nodes[relation.source_kind]), len(nodes[relation.target_kind]))
        pair_weights = np.ones(source_nodes.size) if relation.weight is None else relation.weight
        matrix = sp.csr_array((pair_weights, (source_nodes, target_nodes)), shape=shape)
        matrix.sum_duplicates()
        if relation.weight is None:
            matrix.data[:] = 1
        numbered_kinds.matrices.append(matrix)
    return numbered_kinds


def _relation(key: object, pairs: Any) -> Relation:
    if not (isinstance(key, tuple) and len(key) in (2, 3) and all(isinstance(word, str) and word for word in key)):
        raise DataError(f"a relation is between two kinds, (kind, kind) or (kind, name, kind), not {key!r}")
    relation_name = key[1] if len(key) == 3 else ""
    relation_text = f"the relation {' - '.join(key)}"
    source, target, weight = _columns(pairs, relation_text)
    for column, side in ((source, "source"), (target, "target")):
        if column.isna().any():
            empty_row = int(np.flatnonzero(column.isna())[0])
            raise DataError(f"{relation_text}: row {empty_row} has no {side}")
    pair_weights = None if weight is None else positive_numbers(weight, lambda row: f"{relation_text}: row {row}")
    return Relation(relation_name, key[0], key[-1], source, target, pair_weights)


def _columns(pairs: Any, what: str) -> tuple[pd.Series, pd.Series, Any]:
    if sp.issparse(pairs):
        given_matrix: Any = pairs
        matrix = sp.coo_array(given_matrix)
        plain_ones = matrix.data.size == 0 or bool((matrix.data == 1).all())
        return pd.Series(matrix.row), pd.Series(matrix.col), None if plain_ones else matrix.data
    if isinstance(pairs, pd.DataFrame):
        if {"source", "target"} <= set(pairs.columns):
            weight_column = pairs["weight"] if "weight" in pairs.columns else None
            pair_columns: list[Any] = [pairs["source"], pairs["target"], weight_column]
        elif pairs.shape[1] in (2, 3):
            pair_columns = [pairs.iloc[:, place] for place in range(pairs.shape[1])] + [None]
        else:
            raise DataError(
                f"{what}: the table has {pairs.shape[1]} columns; it needs source and target, and may have weight"
            )
        source_column, target_column = (column.reset_index(drop=True) for column in pair_columns[:2])
        return source_column, target_column, pair_columns[2]
    if isinstance(pairs, np.ndarray):
        if pairs.ndim != 2 or pairs.shape[1] not in (2, 3):
            raise DataError(f"{what}: pairs of shape {pairs.shape}; two or three columns are needed")
        end_numbers = pairs[:, :2]
        if end_numbers.dtype.kind == "f" and bool((end_numbers == np.floor(end_numbers)).all()):
            end_numbers = end_numbers.astype(np.int64)  # numbers of nodes beside weights
        return (
            pd.Series(end_numbers[:, 0]),
            pd.Series(end_numbers[:, 1]),
            pairs[:, 2] if pairs.shape[1] == 3 else None,
        )
    if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Sequence):
        raise DataError(f"{what}: pairs must be a table, an array or a list of rows, not {pairs!r}")
    row_widths = {len(row) if isinstance(row, (tuple, list)) else 0 for row in pairs}
    if not row_widths <= {2} and not row_widths <= {3}:
        raise DataError(f"{what}: every row must be (source, target) or (source, target, weight)")
    column_arrays = [object_array(list(column)) for column in zip(*pairs, strict=True)]
    column_arrays = column_arrays or [object_array([])] * 2
    source_column, target_column = (pd.Series(column).infer_objects() for column in column_arrays[:2])
    return source_column, target_column, column_arrays[2] if len(column_arrays) == 3 else None


def _names(kind: str, columns: Sequence[pd.Series], size: int | None) -> pd.Index:
    """The names met, whole numbers sorted, others as they first appear; all positions where a size is known."""
    if all(column.dtype.kind in "iu" for column in columns):
        if size is not None and all(column.empty or (column.min() >= 0 and column.max() < size) for column in columns):
            return pd.RangeIndex(size)
        met_numbers = np.unique(np.concatenate([column.unique() for column in columns]))
        return name_index(met_numbers, what=kind)
    all_names = pd.concat(columns, ignore_index=True)
    try:
        return name_index(pd.unique(all_names.astype(object)), what=kind)
    except TypeError as error:
        raise DataError(f"a {kind} name must be hashable: {error}") from error


def _places(relation: Relation, kind: str, column: pd.Series, nodes: Mapping[str, pd.Index]) -> NDArray[np.int64]:
    node_positions = nodes[kind].get_indexer(loose_index(column))
    if (node_positions < 0).any():
        unknown_row = int(np.flatnonzero(node_positions < 0)[0])
        raise DataError(
            f"the relation {relation}: row {unknown_row} names the {kind} "
            f"{plain(column.iloc[unknown_row])!r}, which is not among "
            f"the {len(nodes[kind])} nodes given of that kind"
        )
    return node_positions.astype(np.int64)


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
    reached_kinds, waiting_kinds = {target}, [target]
    while waiting_kinds:
        for kind in kinds.neighbours(waiting_kinds.pop()):
            if kind not in reached_kinds:
                reached_kinds.add(kind)
                waiting_kinds.append(kind)
    for relation in kinds.relations:
        if relation.source_kind not in reached_kinds:
            raise DataError(
                f"the relation {relation} never reaches the target {target!r}: no chain of relations joins them"
            )


def _default_paths(kinds: Kinds, target: str) -> list[Path]:
    """All of length one, and of length two to the kinds that the target touches only through another."""
    near_kinds = kinds.neighbours(target)
    default_paths: list[Path] = [(target, kind) for kind in near_kinds]
    for middle_kind in near_kinds:
        far_kinds = [kind for kind in kinds.neighbours(middle_kind) if kind not in (target, *near_kinds)]
        default_paths += [(target, middle_kind, kind) for kind in far_kinds]
    used_pairs = {frozenset(step) for path in default_paths for step in pairwise(path)}
    used_pairs.add(frozenset([target]))
    for relation in kinds.relations:
        if frozenset((relation.source_kind, relation.target_kind)) not in used_pairs:
            warnings.warn(
                f"the relation {relation} is not used: no path of at most two steps from {target!r} needs it; "
                "name one in paths=",
                GrammeWarning,
                stacklevel=4,
            )
    return default_paths


def _named_path(path: Any, kinds: Kinds, target: str) -> Path:
    if isinstance(path, str) or not isinstance(path, Sequence) or len(path) < 2:
        raise DataError(f"a path is a list of at least two kinds, not {path!r}")
    path_kinds: Path = tuple(path)
    for kind in path_kinds:
        if kind not in kinds.nodes:
            raise DataError(
                f"the path {'-'.join(map(str, path_kinds))} names the unknown kind {kind!r}; "
                f"{did_you_mean(str(kind), kinds.nodes)}"
            )
    if path_kinds[0] != target and path_kinds[-1] == target:
        path_kinds = path_kinds[::-1]
    if path_kinds[0] != target:
        raise DataError(f"the path {'-'.join(path_kinds)} does not start at the target {target!r}")
    if path_kinds[-1] == target:
        if path_kinds != path_kinds[::-1] or len(path_kinds) % 2 == 0:
            raise DataError(f"the path {'-'.join(path_kinds)} returns by another route; name only the way there")
        path_kinds = path_kinds[: len(path_kinds) // 2 + 1]
    for here, there in pairwise(path_kinds):
        if not kinds.steps(here, there):
            raise DataError(
                f"the path {'-'.join(path_kinds)} goes from {here!r} to {there!r}, but no relation does; relations: "
                + ", ".join(map(str, kinds.relations))
            )
    return path_kinds


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
    stated_nodes = dict(nodes) if isinstance(nodes, Mapping) else {}
    if nodes is not None and not isinstance(nodes, Mapping):
        stated_nodes[target] = nodes
    kind_sizes = {}
    for kind, given in by_kind.items():
        if isinstance(given, pd.DataFrame):
            stated_nodes.setdefault(kind, given.index)
        elif hasattr(given, "shape") and not isinstance(given, pd.Series):
            kind_sizes[kind] = int(given.shape[0])
    kinds = number_relations(relations, stated_nodes, kind_sizes)
    for what, named in (("features", by_kind), ("nodes", stated_nodes)):
        for kind in named:
            if kind not in kinds.nodes:
                raise DataError(
                    f"{what} were given for the unknown kind {kind!r}; {did_you_mean(str(kind), kinds.nodes)}"
                )
    chosen_kinds = chosen_paths(kinds, target, paths)
    kind_features = {
        kind: _matrix(kind, given, kinds.nodes[kind]) for kind, given in by_kind.items() if given is not None
    }
    made_layers: dict[str, Layer] = _edge_layers(kinds, target, directed)
    layer_features: dict[str, Any] = {}
    for layer_name, path, steps in _named_layers(kinds, chosen_kinds, list(made_layers)):
        incidence, has_weights = _product(steps)
        member_pairs, group_names = incidence.tocoo(), kinds.nodes[path[-1]]
        pair_weights = member_pairs.data if has_weights else None
        made_layers[layer_name] = MembershipLayer(
            incidence.shape[0], member_pairs.row, member_pairs.col, group_names, weight=pair_weights
        )
        along_features = _along(path, steps, chosen_kinds, kind_features)
        if along_features is not None:
            layer_features[layer_name] = along_features
    return MultilayerGraph(
        made_layers,
        nodes=kinds.nodes[target],
        labels=labels,
        features=kind_features.get(target),
        layer_features=layer_features,
        name=name,
    )


def _matrix(kind: str, given: Any, nodes: pd.Index) -> Features:
    """The features of a kind in the order of its nodes."""
    if isinstance(given, pd.DataFrame):
        row_positions = loose_index(given.index).get_indexer(nodes)
        if (row_positions < 0).any():
            missing_node = nodes[int(np.flatnonzero(row_positions < 0)[0])]
            raise DataError(f"the features of the kind {kind!r} have no row for {missing_node!r}")
        given = given.to_numpy()[row_positions]
    elif isinstance(given, Mapping):
        missing_node = next((node for node in nodes if node not in given), None)
        if missing_node is not None:
            raise DataError(f"the features of the kind {kind!r} have no row for {missing_node!r}")
        given = [given[node] for node in nodes]
    try:
        return checked_features(given, nodes)
    except DataError as error:
        raise DataError(f"kind {kind!r}: {error}") from error


def _edge_layers(kinds: Kinds, target: str, directed: bool | Mapping[str, bool]) -> dict[str, Layer]:
    """The relations within the target kind."""
    inner_relations = {
        relation.name or target: (matrix, relation.weight is not None)
        for relation, matrix in zip(kinds.relations, kinds.matrices, strict=True)
        if relation.source_kind == relation.target_kind == target
    }
    one_way = layer_directions(directed, inner_relations)
    made_layers: dict[str, Layer] = {}
    for name, (matrix, has_weights) in inner_relations.items():
        edge_pairs = matrix.tocoo()
        made_layers[name] = EdgeLayer(
            matrix.shape[0],
            edge_pairs.row,
            edge_pairs.col,
            edge_pairs.data if has_weights else None,
            directed=bool(one_way[name]),
            ways=np.ones(edge_pairs.nnz, dtype=np.int8),
        )
    return made_layers


def _named_layers(kinds: Kinds, paths: Sequence[Path], taken: Sequence[str]) -> list[tuple[str, Path, list[Step]]]:
    """A layer per path and choice of relations along it: its name, the path, the steps.

    A layer is called by the kind it leads to; by all kinds on the way, or by the relations, where that is not enough.
    """
    path_ways: dict[tuple[Path, tuple[str, ...]], list[Step]] = {}
    for path in paths:
        for chosen_steps in product(*(kinds.steps(here, there) for here, there in pairwise(path))):
            path_ways.setdefault(
                (path, tuple(name for name, _, _ in chosen_steps)), [step[1:] for step in chosen_steps]
            )
    name_candidates = [
        [path[-1], "-".join(path[1:]), "-".join(names) if all(names) else "-".join((*path[1:], *names))]
        for path, names in path_ways
    ]
    named_layers = []
    for way_number, ((path, _), steps) in enumerate(path_ways.items()):
        for name_form, name_candidate in enumerate(name_candidates[way_number]):
            other_names = [each[name_form] for other, each in enumerate(name_candidates) if other != way_number]
            if name_candidate not in other_names and name_candidate not in taken:
                break
        named_layers.append((name_candidate, path, steps))
    return named_layers


def _product(steps: Sequence[Step]) -> tuple[sp.csr_array, bool]:
    """The incidence of a path, and whether its weights say more than that a way exists."""
    incidence, has_weights = steps[0]
    for matrix, step_weighted in steps[1:]:
        incidence = sp.csr_array(incidence @ matrix)
        has_weights = has_weights or step_weighted
    if len(steps) > 1 and not has_weights:
        has_weights = bool((incidence.data != 1).any())
    return incidence, has_weights


def _along(path: Path, steps: Sequence[Step], paths: Sequence[Path], matrices: Mapping[str, Features]) -> Any:
    """The features that a layer brings to the target: those of its last kind, and of kinds on the way with no layer."""
    feature_parts: list[Any] = []
    missing_rows = None
    path_ends = {each[-1] for each in paths}
    for path_length in range(1, len(path)):
        passed_kind = path[path_length]
        if passed_kind not in matrices or (path_length < len(path) - 1 and passed_kind in path_ends):
            continue
        incidence, _ = _product(steps[:path_length])
        row_sums = np.asarray(incidence.sum(axis=1)).ravel()
        row_shares = sp.diags_array(np.divide(1, row_sums, where=row_sums > 0, out=np.zeros(row_sums.size)))
        feature_parts.append(sp.csr_array(row_shares @ incidence) @ matrices[passed_kind])
        missing_rows = (row_sums == 0) if missing_rows is None else missing_rows & (row_sums == 0)
    if not feature_parts:
        return None
    if any(sp.issparse(part) for part in feature_parts):
        return sp.csr_array(sp.hstack([sp.csr_array(part) for part in feature_parts]))
    dense_features = np.hstack(feature_parts)
    dense_features[missing_rows] = np.nan
    return dense_features
