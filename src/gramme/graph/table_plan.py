"""How a table becomes layers, decided once and kept: a later table is cut at the same points as the first.

:func:`gramme.graph.from_table.from_table` looks at the values to tell categories from amounts and to find cuts. A model
that is to predict the rows of another table needs the same decisions there, so they are made here, put into a record,
and followed as often as there are tables.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError, GrammeWarning
from gramme.graph.from_table import (
    check_table,
    chosen_ways,
    known_column,
    layer_columns,
    node_names,
)
from gramme.graph.layer import Layer
from gramme.graph.multilayer import MultilayerGraph
from gramme.graph.nearest_points import nearest_points_layer
from gramme.graph.number_groups import count_within
from gramme.graph.table_column import as_numbers, column_layer, settled

WAYS = ("categories", "bins", "knn", "separator", "dates", "together")


@dataclass(frozen=True)
class LayerPlan:
    """How one layer is made: of which columns, in which way, and with what choice.

    Attributes
    ----------
    columns : list of str
        One column, or several whose values are looked at together.
    way : {"categories", "bins", "knn", "separator", "dates", "together"}
    choice
        Edges for bins, the number of neighbours for knn and together, the separator, the unit for dates; None for
        categories.
    scale : list of float, optional
        What each of several columns is divided by: its standard deviation in the first table.
    """

    columns: list[str]
    way: str
    choice: Any = None
    scale: list[float] | None = None

    def is_whole(self) -> bool:
        """Whether all parts are of the kinds they should be; a record from a file may hold anything."""
        columns: Any = self.columns
        scale: Any = self.scale
        named = isinstance(columns, list) and all(isinstance(one, str) for one in columns)
        if not named or not columns or self.way not in WAYS:
            return False
        if scale is not None and not (
            isinstance(scale, list)
            and len(scale) == len(columns)
            and all(type(one) in (int, float) and 0 < one < float("inf") for one in scale)
        ):
            return False
        kinds: dict[str, Any] = {
            "bins": (int, list),
            "knn": int,
            "together": int,
            "separator": str,
            "dates": str,
        }
        return isinstance(self.choice, kinds.get(self.way, object))


@dataclass(frozen=True)
class TablePlan:
    """A plan by which tables with the same columns become graphs with the same layers.

    Attributes
    ----------
    layers : dict of str to LayerPlan
    label, id : str, optional
        The columns with the labels and with the node names.
    missing : {"nobody", "group"}
        Whether rows with a missing value are absent from a layer or make a group.
    left_out : dict of str to str
        Columns of the first table that make no layer, and why.

    Examples
    --------
    >>> first = pd.DataFrame({"age": [20.5, 30.5, 60.5, 70.5], "party": ["a", "a", "b", "b"]})
    >>> plan = TablePlan.of(first, label="party", bins={"age": 2})
    >>> plan.graph(pd.DataFrame({"age": [1, 46, 80]})).layers["age"].codes().tolist()
    [0, 1, 1]
    """

    layers: dict[str, LayerPlan]
    label: str | None = None
    id: str | None = None
    missing: str = "nobody"
    left_out: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        table: pd.DataFrame,
        *,
        label: str | None = None,
        id: str | None = None,
        columns: Iterable[str] | None = None,
        bins: Mapping[str, int | Sequence[float]] | None = None,
        quantiles: Mapping[str, int] | None = None,
        knn: Mapping[str, int] | None = None,
        together: Mapping[tuple[str, ...], int] | None = None,
        separator: Mapping[str, str] | None = None,
        dates: Mapping[str, str] | None = None,
        missing: str = "nobody",
    ) -> TablePlan:
        """The plan for a table; what to say about it is as for :meth:`MultilayerGraph.from_table`.

        Parameters
        ----------
        table : DataFrame
            Its columns have names that are text.
        label, id, columns, bins, quantiles, knn, separator, dates, missing
            See :func:`gramme.graph.from_table.from_table`; ``missing`` may be "nobody" or "group".
        together : mapping of several columns to int, optional
            A layer of edges to the so many rows that are nearest in all these columns together, each divided by its
            standard deviation. They make no layers of their own unless ``columns`` names them.
        """
        check_table(table)
        for column, role in ((label, "label"), (id, "id")):
            if column is not None:
                known_column(column, list(table.columns), role)
        joint = dict(together or {})
        for several in joint:
            for column in several:
                known_column(
                    column, [one for one in table.columns if one not in (label, id)], "knn"
                )
        said = {
            "bins": bins,
            "quantiles": quantiles,
            "knn": knn,
            "separator": separator,
            "dates": dates,
        }
        alone, left_out = _alone(table, columns, label, id, said, joint)
        asked = chosen_ways(alone, said)
        layers = {}
        for column in alone:
            way, choice = _of_column(column, settled, table[column], *asked.get(column, ()))
            layers[str(column)] = LayerPlan([column], way, choice)
        for several, neighbours in joint.items():
            count_within(neighbours, 1, f"knn of {'+'.join(several)}", len(table))
            scale = [_spread(_numbers(table, column)) for column in several]
            layers["+".join(several)] = LayerPlan(list(several), "together", neighbours, scale)
        return cls(layers, label, id, missing, left_out)

    def graph(self, table: pd.DataFrame, *, name: str | None = None) -> MultilayerGraph:
        """The graph of a table that has the columns of the plan; it may lack the label and the id."""
        check_table(table)
        there = dict.fromkeys(table.columns)
        layers: dict[str, Layer] = {}
        for title, plan in self.layers.items():
            for column in plan.columns:
                known_column(column, there, f"the layer {title!r}")
            if plan.way == "together":
                layers[title] = self._together(table, plan)
            else:
                column = plan.columns[0]
                # a column without a value says nothing about what it would hold, not even whether dates
                empty = plan.way == "bins" and bool(table[column].isna().all())
                layers[title] = _of_column(
                    column,
                    column_layer,
                    table[column],
                    "categories" if empty else plan.way,
                    plan.choice,
                    missing=self.missing,
                )
            if not layers[title].num_edges:
                warnings.warn(
                    f"the column {title!r} joins no rows: no value is in two of them",
                    GrammeWarning,
                    stacklevel=2,
                )
        label = self.label if self.label in table.columns else None
        return MultilayerGraph(
            layers,
            nodes=node_names(table, self.id if self.id in table.columns else None),
            labels=None if label is None else list(table[label]),
            name=name,
            num_nodes=len(table),
        )

    def _together(self, table: pd.DataFrame, plan: LayerPlan) -> Layer:
        scale = plan.scale or [1.0] * len(plan.columns)
        points = [
            _numbers(table, column) / one for column, one in zip(plan.columns, scale, strict=True)
        ]
        return nearest_points_layer(np.stack(points, axis=1), int(plan.choice))

    def record(self) -> dict[str, Any]:
        """The plan as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Any) -> TablePlan:
        """The plan that :meth:`record` made a record of.

        >>> plan = TablePlan({"age": LayerPlan(["age"], "bins", [18.0])}, label="party")
        >>> TablePlan.from_record(plan.record()) == plan
        True
        """
        try:
            layers = {str(title): LayerPlan(**one) for title, one in record["layers"].items()}
            left_out = {str(name): str(why) for name, why in record.get("left_out", {}).items()}
            plan = cls(layers, record["label"], record["id"], record["missing"], left_out)
            fits = all(one.is_whole() for one in layers.values())
            fits = fits and all(isinstance(one, (str, type(None))) for one in (plan.label, plan.id))
            fits = fits and plan.missing in ("nobody", "group")
        except (TypeError, KeyError, AttributeError) as error:
            raise DataError(f"this is not a plan of a table's layers: {error!r}") from None
        if not fits:
            raise DataError(
                "this is not a plan of a table's layers: a part of it is of another kind than it should be"
            )
        return plan


def _alone(
    table: pd.DataFrame,
    columns: Iterable[str] | None,
    label: str | None,
    id: str | None,
    said: Mapping[str, Any],
    joint: Mapping[tuple[str, ...], int],
) -> tuple[list[str], dict[str, str]]:
    """The columns that make a layer of their own, and why others do not."""
    if columns is not None or not joint:
        return layer_columns(table, columns, label, id, said)
    together = {column for several in joint for column in several}
    others = table.drop(columns=list(together))
    if not set(others.columns) - {label, id}:
        return [], {}
    try:
        return layer_columns(others, None, label, id, said)
    except DataError:
        return [], {}


def _of_column(column: Any, work: Any, *arguments: Any, **options: Any) -> Any:
    """What work on a column gives; its errors name the column."""
    try:
        return work(*arguments, **options)
    except DataError as error:
        raise DataError(f"column {column!r}: {error}") from error


def _numbers(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    numbers, _ = _of_column(column, as_numbers, table[column], required=True)
    found: NDArray[np.float64] = numbers
    return found


def _spread(numbers: NDArray[np.float64]) -> float:
    known = numbers[~np.isnan(numbers)]
    spread = float(np.std(known)) if known.size else 0.0
    return spread if np.isfinite(spread) and spread > 0 else 1.0
