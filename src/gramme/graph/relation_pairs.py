"""Relations between kinds of node as people have them: pairs of names, as sparse matrices over numbered nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph.arrays import loose_index, name_index, object_array, plain

Key = tuple[str, ...]


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


def number_relations(
    relations: Any, given: Mapping[str, Iterable[Any]], sizes: Mapping[str, int]
) -> Kinds:
    """Pairs by name become matrices.

    Parameters
    ----------
    relations : mapping of (kind, kind) or (kind, name, kind) to pairs
        Pairs: a DataFrame, an array of two or three columns, or rows (source, target[, weight]).
    given : mapping of kind to names
        Kinds whose nodes are stated, in order.
    sizes : mapping of kind to int
        How many rows of features a kind has: whole numbers below it are then positions.
    """
    if not isinstance(relations, Mapping) or not relations:
        raise DataError("relations must be a mapping of (kind, kind) to pairs, and not empty")
    found = [_relation(key, pairs) for key, pairs in relations.items()]
    columns: dict[str, list[pd.Series]] = {}
    for relation in found:
        columns.setdefault(relation.source_kind, []).append(relation.source)
        columns.setdefault(relation.target_kind, []).append(relation.target)
    nodes = {
        kind: name_index(given[kind], what=kind)
        if kind in given
        else _names(kind, met, sizes.get(kind))
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
    if not (
        isinstance(key, tuple)
        and len(key) in (2, 3)
        and all(isinstance(word, str) and word for word in key)
    ):
        raise DataError(
            f"a relation is between two kinds, (kind, kind) or (kind, name, kind), not {key!r}"
        )
    name = key[1] if len(key) == 3 else ""
    what = f"the relation {' - '.join(key)}"
    source, target, weight = _columns(pairs, what)
    for column, side in ((source, "source"), (target, "target")):
        if column.isna().any():
            row = int(np.flatnonzero(column.isna())[0])
            raise DataError(f"{what}: row {row} has no {side}")
    return Relation(name, key[0], key[-1], source, target, _weights(weight, what))


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
            raise DataError(
                f"{what}: pairs of shape {pairs.shape}; two or three columns are needed"
            )
        ends = pairs[:, :2]
        if ends.dtype.kind == "f" and bool((ends == np.floor(ends)).all()):
            ends = ends.astype(np.int64)  # numbers of nodes beside weights
        return (
            pd.Series(ends[:, 0]),
            pd.Series(ends[:, 1]),
            pairs[:, 2] if pairs.shape[1] == 3 else None,
        )
    if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Sequence):
        raise DataError(f"{what}: pairs must be a table, an array or a list of rows, not {pairs!r}")
    widths = {len(row) if isinstance(row, (tuple, list)) else 0 for row in pairs}
    if not widths <= {2} and not widths <= {3}:
        raise DataError(f"{what}: every row must be (source, target) or (source, target, weight)")
    turned = [object_array(list(column)) for column in zip(*pairs, strict=True)]
    turned = turned or [object_array([])] * 2
    start, end = (pd.Series(column).infer_objects() for column in turned[:2])
    return start, end, turned[2] if len(turned) == 3 else None


def _weights(weight: Any, what: str) -> NDArray[np.float64] | None:
    if weight is None:
        return None
    given = pd.Series(weight)
    weights = pd.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if bad.size:
        raise DataError(
            f"{what}: row {bad[0]} has the weight {plain(given.iloc[bad[0]])}; weights must be positive and finite"
        )
    return weights


def _names(kind: str, columns: Sequence[pd.Series], size: int | None) -> pd.Index:
    """The names met, whole numbers sorted, others as they first appear; all positions where a size is known."""
    if all(column.dtype.kind in "iu" for column in columns):
        if size is not None and all(
            column.empty or (column.min() >= 0 and column.max() < size) for column in columns
        ):
            return pd.RangeIndex(size)
        met = np.unique(np.concatenate([column.unique() for column in columns]))
        return name_index(met, what=kind)
    together = pd.concat(columns, ignore_index=True)
    try:
        return name_index(pd.unique(together.astype(object)), what=kind)
    except TypeError as error:
        raise DataError(f"a {kind} name must be hashable: {error}") from error


def _places(
    relation: Relation, kind: str, column: pd.Series, nodes: Mapping[str, pd.Index]
) -> NDArray[np.int64]:
    places = nodes[kind].get_indexer(loose_index(column))
    if (places < 0).any():
        row = int(np.flatnonzero(places < 0)[0])
        raise DataError(
            f"the relation {relation}: row {row} names the {kind} {plain(column.iloc[row])!r}, which is not among "
            f"the {len(nodes[kind])} nodes given of that kind"
        )
    return places.astype(np.int64)
