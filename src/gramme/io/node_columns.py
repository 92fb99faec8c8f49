"""The columns of a table of nodes as what they are: numbers are features, categories layers, the rest nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._wording import setting
from gramme.errors import DataError, FileFormatError, did_you_mean
from gramme.graph import MembershipLayer
from gramme.graph.from_table import says_nothing
from gramme.graph.table_column import column_layer, settled
from gramme.io.attributes import AttributeTable, is_feature_name
from gramme.io.column_text import typed_column
from gramme.io.notes import tell
from gramme.io.parsed import Groups, ReadOptions

MAX_FEATURE_CATEGORIES = 50
"""Categories that still become features of 0 and 1 where that is asked for."""


@dataclass
class NodeColumns:
    """What the columns of a table say about its rows: features with a row each, and groups by layer."""

    features: NDArray[np.float64] | None = None
    groups: dict[str, Groups] = field(default_factory=dict)


def node_columns(
    table: AttributeTable, nodes: Sequence[str], taken: Collection[str], options: ReadOptions
) -> NodeColumns:
    """The columns that are neither the name nor the label.

    Columns named like ``feature_1``, as gramme writes them, are features as they stand. Where the user names columns,
    no others are used.

    Parameters
    ----------
    table : AttributeTable
    nodes : sequence of str
        The node of each row.
    taken : collection of str
        The columns with the name and the label.
    options : ReadOptions
        ``columns``, ``features`` and ``layers_from`` choose.
    """
    chosen = _chosen(table, taken, options)
    made = NodeColumns()
    matrix: list[NDArray[np.float64]] = []
    for name, role in chosen.items():
        if role is None and is_feature_name(name):
            plain = table.features([name])
            assert plain is not None
            matrix.append(plain)
            continue
        series = typed_column(
            pd.Series(table.column(name), dtype=object),
            name,
            options.marks,
            decimal_comma=table.decimal_comma,
        )
        useless = says_nothing(series.rename(name))
        if useless is not None and role is None:
            tell(f"{table.path.name}: {name!r} is not used, {useless}")
            continue
        number = pd.api.types.is_numeric_dtype(series.dtype)
        if role == "feature" or (role is None and number):
            matrix.append(_as_features(table, name, series))
        else:
            made.groups[name] = _as_groups(table, name, series, nodes)
    if matrix:
        made.features = np.hstack(matrix)
    return made


def _chosen(
    table: AttributeTable, taken: Collection[str], options: ReadOptions
) -> dict[str, str | None]:
    """The columns to use and what the user wants them to be, None if that is left to their values."""
    asked: dict[str, str | None] = {}
    for names, role in (
        (options.columns, None),
        (options.features, "feature"),
        (options.layers_from, "layer"),
    ):
        for name in [names] if isinstance(names, str) else names or ():
            if name not in table.header:
                raise DataError(
                    f"{table.path} has no column {name!r}; {did_you_mean(name, table.header)}"
                )
            if asked.get(name) is not None and role is not None:
                raise DataError(f"the column {name!r} cannot be both a feature and a layer")
            asked[name] = role
    if asked or any(
        one is not None for one in (options.columns, options.features, options.layers_from)
    ):
        return asked
    return {name: None for name in table.header if name not in taken}


def _as_features(table: AttributeTable, name: str, series: pd.Series) -> NDArray[np.float64]:
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        years = 1970 + series.astype("datetime64[ns]").astype("int64") / (365.2425 * 86_400e9)
        series = years.where(series.notna())
    if pd.api.types.is_numeric_dtype(series.dtype):
        missing = series.isna()
        if missing.all():
            raise FileFormatError(f"the feature {name!r} has no value", file=table.path)
        filled = series.fillna(series.median()).to_numpy(dtype=np.float64)
        gaps = f"; {int(missing.sum())} unknown, filled with the median" if missing.any() else ""
        tell(f"{table.path.name}: {name!r} is a feature, a number{gaps}")
        return filled[:, None]
    found = series.cat.remove_unused_categories().cat.categories
    if len(found) > MAX_FEATURE_CATEGORIES:
        raise FileFormatError(
            f"the feature {name!r} has {len(found)} different values, too many for a feature each; "
            f"{setting('layers_from', [name])} makes a layer of them",
            file=table.path,
        )
    tell(f"{table.path.name}: {name!r} is {len(found)} features, one per value")
    return np.stack([(series == value).to_numpy(dtype=np.float64) for value in found], axis=1)


def _as_groups(table: AttributeTable, name: str, series: pd.Series, nodes: Sequence[str]) -> Groups:
    layer = column_layer(series)
    assert isinstance(layer, MembershipLayer)
    way, unit = settled(series)
    by = f", dates by {unit}" if way == "dates" else ""
    names = [str(group) for group in layer.group_names]
    absent = int((~layer.present).sum())
    gaps = f"; {absent} unknown, in none of them" if absent else ""
    tell(
        f"{table.path.name}: {name!r} is a layer of {len(names)} groups{by}{gaps} "
        f"({setting('features', [name])} makes it features)"
    )
    return Groups(
        [nodes[row] for row in layer.node.tolist()],
        [names[group] for group in layer.group.tolist()],
    )
