"""How a table becomes layers, decided once and kept: a later table is cut at the same points as the first.

:func:`gramme.graph.table.from_table` looks at the values to tell categories from amounts and to find cuts. A model
that is to predict the rows of another table needs the same decisions there, so they are made here, put into a record,
and followed as often as there are tables.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._text import setting
from gramme.errors import DataError, GrammeWarning, did_you_mean

from .arrays import as_pandas, loose_index, plain
from .columns import DAY_NANOSECONDS, POLICIES, as_numbers, column_layer, count_within, settled
from .layer import Layer
from .multilayer import MultilayerGraph
from .nearest import nearest_points_layer

# From a table with a row per node: every column becomes a layer that joins rows that are alike.
ROW_NUMBER_NAMES = {
    *("", "...1", "id", "index", "no", "nr", "number", "row", "row.names", "row_id", "rowid"),
    *("rownames", "unnamed: 0", "v1", "x"),
}
"""What a column of row numbers is called where R, pandas or a person wrote one."""
IDENTIFIER_WORDS = {"id", "ids", "uid", "guid", "no", "nr", "num", "number", "code", "key", "index", "idx", "ssn"}
"""Last words of the names of columns that number or mark rows."""
FREE_TEXT_SHARE = 0.9
"""The share of different values from which on text is free text."""
MIN_JUDGED_ROWS = 20
"""The number of rows from which on columns are judged by their values; a smaller table is used as it is."""


def from_table(
    table: pd.DataFrame,
    *,
    label: Any = None,
    id: Any = None,
    columns: Iterable[Any] | None = None,
    bins: Mapping[Any, int | Sequence[float]] | None = None,
    quantiles: Mapping[Any, int] | None = None,
    knn: Mapping[Any, int] | None = None,
    separator: Mapping[Any, str] | None = None,
    dates: Mapping[Any, str] | None = None,
    missing: str | Mapping[Any, str] = "nobody",
    numbers: bool = True,
    name: str | None = None,
) -> MultilayerGraph:
    """A graph with a node per row and a layer per column.

    A column of text, truth values, categories, or whole numbers with at most 20 different values
    joins the rows that share a value. Dates join rows of the same year, of the same decade where there
    are more than 20 years, or of the same month where there are at most two. Other numbers are cut into 5
    groups of about equal size unless ``bins``, ``quantiles``, ``knn`` or ``dates`` say otherwise; a
    number that a fifth of the rows have, such as 0 hours, is a group of its own. Beside their groups,
    columns of numbers and dates are kept as they are: they are the features of the nodes.
    In a table of 20 rows or more, columns that say nothing about who is alike are left out with a
    warning: empty ones, those with one value, and text that hardly ever repeats.

    Parameters
    ----------
    table : DataFrame of pandas or polars
        A row per node. Without ``id``, rows are named by an index that is not 0, 1, 2, ...
    label : column, optional
        The column with the labels; missing ones are unknown. It makes no layer.
    id : column, optional
        The column with the node names, all different. It makes no layer.
    columns : iterable, optional
        The columns to make layers of, in this order; if not given, all others that say something.
    bins : mapping of column to int or list of edges, optional
        So many bins of equal width, or bins between rising edges; a bin holds its lower edge, and
        numbers below the first or from the last edge on join open-ended groups of their own.
    quantiles : mapping of column to int, optional
        So many groups of about equal size; equal numbers are never parted, so there may be fewer.
    knn : mapping of column to int, optional
        Edges to the rows with the so many nearest values instead of groups.
    separator : mapping of column to str, optional
        For cells with several values, such as ``{"authors": ";"}``: a row joins each of them.
    dates : mapping of column to {"decade", "year", "month", "weekday"}, optional
        Dates join the rows of the same year, month (of one year) or day of the week.
    missing : {"nobody", "group", "median", "most common"} or mapping of column to these, default="nobody"
        What becomes of missing values: the row is absent from the layer, or in a group called
        "missing" (absent where ``knn`` makes no groups), or has the column's median (the lower of
        two) or most common value (the first of several).
    numbers : bool, default=True
        Whether numbers, and dates in years, are features as well (``graph.features``, by name in
        ``graph.feature_names``). Gaps are filled with the median; a further feature says where they are.
    name : str, optional
        What to call the graph.

    Examples
    --------
    >>> table = pd.DataFrame({"party": ["red", "blue", None], "city": ["Ulm", "Bonn", "Ulm"], "age": [20, 40, 70]})
    >>> g = from_table(table, label="party", bins={"age": [18, 65]})
    >>> g
    MultilayerGraph(3 nodes, 2 layers: city 2 groups, age 2 groups, 2 classes on 2 nodes, 1 feature)
    >>> list(g.layers["age"].group_names)
    ['[18, 65)', '65 and above']
    """
    table = as_pandas(table)
    check_table(table, label=label, id=id)
    asked_ways = {"bins": bins, "quantiles": quantiles, "knn": knn, "separator": separator, "dates": dates}
    used_columns, left_out = layer_columns(table, columns, label, id, asked_ways)
    for column, reason in left_out.items():
        warnings.warn(f"the column {column!r} is left out: {reason}", GrammeWarning, stacklevel=2)
    column_ways = chosen_ways(used_columns, asked_ways)
    missing_policies = dict.fromkeys(used_columns, missing)
    if isinstance(missing, Mapping):
        for column in missing:
            known_column(column, used_columns, "missing")
        missing_policies = {column: missing.get(column, "nobody") for column in used_columns}
    for policy in missing_policies.values():
        if policy not in POLICIES:
            raise DataError(f"missing={policy!r} is unknown; {did_you_mean(str(policy), POLICIES)}")
    made_layers: dict[str, Layer] = {}
    for column in used_columns:
        way = column_ways.get(column, (None, None))
        layer = _of_column(column, column_layer, table[column], *way, missing=missing_policies[column])
        if str(column) in made_layers:
            raise DataError(f"two columns have the name {str(column)!r}; names must differ")
        made_layers[str(column)] = layer
    kept_columns = [column for column in used_columns if column_ways.get(column, ("",))[0] != "separator"]
    return _graph_of(table, made_layers, label, id, number_columns(table, kept_columns if numbers else ()), name)


def _graph_of(
    table: pd.DataFrame,
    layers: Mapping[str, Layer],
    label: Any,
    id: Any,
    numbers: Mapping[Any, NumberColumn],
    name: str | None,
) -> MultilayerGraph:
    for column, layer in layers.items():
        if not layer.num_edges:
            warnings.warn(
                f"the column {column!r} joins no rows: no value is in two of them", GrammeWarning, stacklevel=3
            )
    features, feature_names = number_features(table, numbers)
    return MultilayerGraph(
        layers,
        nodes=node_names(table, id),
        labels=None if label is None else list(table[label]),
        features=features,
        feature_names=feature_names,
        name=name,
        num_nodes=len(table),
    )


def check_table(table: Any, *, label: Any = None, id: Any = None) -> None:
    """Whether this is a table that nodes can be made of, and has these columns."""
    if not isinstance(table, pd.DataFrame):
        raise DataError(f"the table must be a pandas DataFrame, not {type(table).__name__}")
    if not len(table):
        raise DataError("the table has no rows")
    if not table.columns.is_unique:
        repeated_column = table.columns[table.columns.duplicated()][0]
        raise DataError(f"two columns have the name {repeated_column!r}; names must differ")
    for column, role in ((label, "label"), (id, "id")):
        if column is not None:
            known_column(column, list(table.columns), role)


def known_column(column: Any, columns: Collection[Any], what: str) -> None:
    """Whether there is such a column, or an error that suggests the nearest name."""
    if not isinstance(column, Hashable):
        raise DataError(f"{what} must be the name of a column, not {column!r}")
    if column not in columns:
        hint = did_you_mean(str(column), map(str, columns))
        raise DataError(f"{what}: there is no column {column!r}; {hint}")


def layer_columns(
    table: pd.DataFrame, columns: Iterable[Any] | None, label: Any, id: Any, asked: Mapping[str, Any] | None = None
) -> tuple[list[Any], dict[Any, str]]:
    """The columns that become layers, and why others are left out; a column that an option names stays."""
    taken_columns = [column for column in (label, id) if column is not None]
    left_out: dict[Any, str] = {}
    if columns is None:
        named_columns = {one for each in (asked or {}).values() if isinstance(each, Mapping) for one in each}
        used_columns = [column for column in table.columns if column not in taken_columns]
        for column in used_columns if len(table) >= MIN_JUDGED_ROWS else ():
            reason = None if column in named_columns else says_nothing(table[column])
            if reason is not None:
                left_out[column] = reason
        if len(left_out) < len(used_columns):
            used_columns = [column for column in used_columns if column not in left_out]
        else:
            left_out = {}
    else:
        used_columns = [columns] if isinstance(columns, str) else list(columns)
        present_columns = dict.fromkeys(table.columns)
        for column in used_columns:
            known_column(column, present_columns, "columns")
            if column in taken_columns:
                raise DataError(f"the column {column!r} is the label or id, so it makes no layer")
    if not used_columns:
        raise DataError("the table has no column to make a layer of")
    return used_columns, left_out


def says_nothing(column: pd.Series) -> str | None:
    """Why a column cannot tell which rows are alike; None if it may."""
    try:
        known_cells = column.dropna()
        distinct_count = known_cells.nunique()
    except TypeError:  # lists and the like, about which the layer complains
        return None
    if not distinct_count:
        return "it is empty"
    if distinct_count == 1:
        return f"its only value is {plain(known_cells.iloc[0])!r}"
    if _numbers_rows(column):
        return "it only numbers the rows"
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        hardly_repeats = len(known_cells) >= MIN_JUDGED_ROWS and distinct_count > FREE_TEXT_SHARE * len(known_cells)
        if hardly_repeats and _is_identifier(known_cells):
            return f"{distinct_count:,} of its {len(known_cells):,} values are different, like an identifier"
        return None
    if pd.api.types.infer_dtype(known_cells, skipna=True) not in ("string", "categorical", "mixed"):
        return None
    if distinct_count == len(known_cells):
        return "its values are all different, like names or free text"
    if distinct_count > FREE_TEXT_SHARE * len(known_cells):
        return f"{distinct_count:,} of its {len(known_cells):,} values are different, like free text"
    return None


def _numbers_rows(column: pd.Series) -> bool:
    """Whether the values are 0, 1, 2, ... or 1, 2, 3, ... down the rows, as R and pandas write beside a table."""
    column_name = None if column.name is None else str(column.name).strip().lower()
    if column_name not in ROW_NUMBER_NAMES or not pd.api.types.is_numeric_dtype(column.dtype):
        return False
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_complex_dtype(column.dtype):
        return False
    row_numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    first_number = row_numbers[0]
    return bool(first_number in (0, 1) and np.array_equal(row_numbers, first_number + np.arange(row_numbers.size)))


def _is_identifier(known: pd.Series) -> bool:
    """Whether a column of whole numbers is called like one: ``ID``, ``sample_no``, ``patientCode``."""
    column_name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", ("" if known.name is None else str(known.name)).strip()).lower()
    last_word = re.split(r"[\W_]+", column_name.rstrip("#._ "))[-1]
    if last_word not in IDENTIFIER_WORDS or pd.api.types.is_complex_dtype(known.dtype):
        return False
    if not pd.api.types.is_numeric_dtype(known.dtype):
        return False
    cell_numbers = known.to_numpy(dtype=np.float64)
    return bool((np.isfinite(cell_numbers) & (np.round(cell_numbers) == cell_numbers)).all())


def chosen_ways(used: list[Any], asked: dict[str, Any]) -> dict[Any, tuple[str | None, Any]]:
    """How each column about which something was said becomes a layer."""
    column_ways: dict[Any, tuple[str | None, Any]] = {}
    for way, column_choices in asked.items():
        if column_choices is not None and not isinstance(column_choices, Mapping):
            raise DataError(f"{way} must be a mapping by column, not {column_choices!r}")
        for column, choice in (column_choices or {}).items():
            known_column(column, used, way)
            if column in column_ways:
                raise DataError(f"the column {column!r} is in both {column_ways[column][0]} and {way}")
            column_ways[column] = (way, choice)
    return column_ways


def node_names(table: pd.DataFrame, id: Any) -> Any:
    """The names of the rows, all there and all different; None for 0, 1, 2, ..."""
    if id is None:
        index = table.index
        if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1:
            return None
        row_names, name_source = loose_index(index), "the index of the table"
    else:
        row_names, name_source = loose_index(table[id]), f"the id column {id!r}"
    for is_wrong, problem in ((row_names.isna(), "missing"), (row_names.duplicated(), "there already")):
        if is_wrong.any():
            wrong_row = int(np.flatnonzero(is_wrong)[0])
            raise DataError(
                f"{name_source}: the name {plain(row_names[wrong_row])!r} in row {wrong_row + 1} "
                f"is {problem}; every row "
                f"needs a name of its own: {setting('id')} names the column that has one"
            )
    return row_names


WAYS = ("categories", "bins", "knn", "separator", "dates", "together")


@dataclass(frozen=True)
class LayerPlan:
    """How one layer is made: of which columns, in which way, and with what choice."""

    columns: list[str]  # one, or several whose values are looked at together
    way: str  # one of WAYS
    choice: Any = None  # edges of bins, neighbours of knn and together, the separator, the unit of dates
    scale: list[float] | None = None  # what each of several columns is divided by: its deviation in the first table

    def is_whole(self) -> bool:
        """Whether all parts are of the kinds they should be; a record from a file may hold anything."""
        column_names: Any = self.columns
        column_scale: Any = self.scale
        all_named = isinstance(column_names, list) and all(isinstance(one, str) for one in column_names)
        if not all_named or not column_names or self.way not in WAYS:
            return False
        if column_scale is not None and not (
            isinstance(column_scale, list)
            and len(column_scale) == len(column_names)
            and all(type(one) in (int, float) and 0 < one < float("inf") for one in column_scale)
        ):
            return False
        choice_types: dict[str, Any] = {
            "bins": (int, list),
            "knn": int,
            "together": int,
            "separator": str,
            "dates": str,
        }
        return isinstance(self.choice, choice_types.get(self.way, object))


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
    numbers : dict of str to NumberColumn
        Columns whose numbers are features of the rows as well.

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
    numbers: dict[str, NumberColumn] = field(default_factory=dict)

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
        numbers: bool = True,
    ) -> TablePlan:
        """The plan for a table; what to say about it is as for :meth:`MultilayerGraph.from_table`.

        Parameters
        ----------
        table : DataFrame
            Its columns have names that are text.
        label, id, columns, bins, quantiles, knn, separator, dates, missing, numbers
            See :func:`gramme.graph.table.from_table`; ``missing`` may be "nobody" or "group".
        together : mapping of several columns to int, optional
            A layer of edges to the so many rows that are nearest in all these columns together, each divided by its
            standard deviation. They make no layers of their own unless ``columns`` names them.
        """
        check_table(table, label=label, id=id)
        joint_columns = dict(together or {})
        for column_group in joint_columns:
            for column in column_group:
                known_column(column, [one for one in table.columns if one not in (label, id)], "knn")
        said_ways = {"bins": bins, "quantiles": quantiles, "knn": knn, "separator": separator, "dates": dates}
        lone_columns, left_out = _alone(table, columns, label, id, said_ways, joint_columns)
        asked_ways = chosen_ways(lone_columns, said_ways)
        layer_plans = {}
        for column in lone_columns:
            way, choice = _of_column(column, settled, table[column], *asked_ways.get(column, ()))
            layer_plans[str(column)] = LayerPlan([column], way, choice)
        for column_group, neighbours in joint_columns.items():
            count_within(neighbours, 1, f"knn of {'+'.join(column_group)}", len(table))
            known_numbers = [
                numbers[~np.isnan(numbers)] for numbers in (_numbers(table, column) for column in column_group)
            ]
            column_spreads = [float(np.std(numbers)) if numbers.size else 0.0 for numbers in known_numbers]
            column_scale = [spread if np.isfinite(spread) and spread > 0 else 1.0 for spread in column_spreads]
            layer_plans["+".join(column_group)] = LayerPlan(list(column_group), "together", neighbours, column_scale)
        kept_columns = dict.fromkeys([*lone_columns, *(column for several in joint_columns for column in several)])
        kept_columns = {column: None for column in kept_columns if column not in (separator or {})}
        number_plans = number_columns(table, kept_columns if numbers else ())
        return cls(layer_plans, label, id, missing, left_out, number_plans)

    def graph(self, table: pd.DataFrame, *, name: str | None = None) -> MultilayerGraph:
        """The graph of a table that has the columns of the plan; it may lack the label and the id."""
        check_table(table)
        present_columns = dict.fromkeys(table.columns)
        made_layers: dict[str, Layer] = {}
        for layer_name, layer_plan in self.layers.items():
            for column in layer_plan.columns:
                known_column(column, present_columns, f"the layer {layer_name!r}")
            if layer_plan.way == "together":
                column_scale = layer_plan.scale or [1.0] * len(layer_plan.columns)
                scaled_columns = [
                    _numbers(table, column) / one for column, one in zip(layer_plan.columns, column_scale, strict=True)
                ]
                made_layers[layer_name] = nearest_points_layer(np.stack(scaled_columns, axis=1), int(layer_plan.choice))
                continue
            column, way = layer_plan.columns[0], layer_plan.way
            if way == "bins" and bool(table[column].isna().all()):
                way = "categories"  # without a value it says nothing about what it would hold, not even whether dates
            made_layers[layer_name] = _of_column(
                column, column_layer, table[column], way, layer_plan.choice, missing=self.missing
            )
        label, id = (one if one in table.columns else None for one in (self.label, self.id))
        return _graph_of(table, made_layers, label, id, self.numbers, name)

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
            layer_plans = {str(layer_name): LayerPlan(**one) for layer_name, one in record["layers"].items()}
            left_out = {str(name): str(left_reason) for name, left_reason in record.get("left_out", {}).items()}
            number_plans = {str(name): NumberColumn(**one) for name, one in record.get("numbers", {}).items()}
            table_plan = cls(layer_plans, record["label"], record["id"], record["missing"], left_out, number_plans)
            is_whole = all(one.is_whole() for one in layer_plans.values()) and all(
                one.is_whole() for one in number_plans.values()
            )
            is_whole = is_whole and all(isinstance(one, (str, type(None))) for one in (table_plan.label, table_plan.id))
            is_whole = is_whole and table_plan.missing in ("nobody", "group")
        except (TypeError, KeyError, AttributeError) as error:
            raise DataError(f"this is not a plan of a table's layers: {error!r}") from None
        if not is_whole:
            raise DataError("this is not a plan of a table's layers: a part of it is of another kind than it should be")
        return table_plan


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
    joint_columns = {column for column_group in joint for column in column_group}
    other_columns = table.drop(columns=list(joint_columns))
    if not set(other_columns.columns) - {label, id}:
        return [], {}
    try:
        return layer_columns(other_columns, None, label, id, said)
    except DataError:
        return [], {}


def _of_column(column: Any, work: Any, *arguments: Any, **options: Any) -> Any:
    """What work on a column gives; its errors name the column."""
    try:
        return work(*arguments, **options)
    except DataError as error:
        raise DataError(f"column {column!r}: {error}") from error


def _numbers(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    column_numbers: NDArray[np.float64] = _of_column(column, as_numbers, table[column], required=True)[0]
    return column_numbers


# The number columns of a table as features of its rows, beside the groups they are cut into. What is learned from the
# first table, the median that fills gaps and whether a gap is worth a column of its own, serves every later table.

MAX_NUMBER = 1e100
"""The largest number, whatever its sign, that is kept as a feature; squares of larger ones overflow."""


@dataclass(frozen=True)
class NumberColumn:
    """How a number column becomes a feature."""

    fill: float  # stands where a value is missing: the median of the first table
    gaps: bool  # whether the first table had gaps; then a further feature says where

    def is_whole(self) -> bool:
        """Whether both parts are of the kinds they should be; a record from a file may hold anything."""
        fill_value: Any = self.fill
        is_number = isinstance(fill_value, (int, float)) and not isinstance(fill_value, bool)
        return is_number and bool(np.isfinite(fill_value)) and isinstance(self.gaps, bool)


def number_columns(table: pd.DataFrame, columns: Iterable[Any]) -> dict[Any, NumberColumn]:
    """The columns that are numbers or dates, with more than two different values: two say no more than two groups."""
    number_plans = {}
    for column in columns:
        numbers = _column_numbers(table[column])
        if numbers is None:
            continue
        known_numbers = numbers[~np.isnan(numbers)]
        if pd.unique(known_numbers).size > 2 and np.abs(known_numbers).max() <= MAX_NUMBER:
            number_plans[column] = NumberColumn(float(np.median(known_numbers)), known_numbers.size < numbers.size)
    return number_plans


def number_features(
    table: pd.DataFrame, columns: Mapping[Any, NumberColumn]
) -> tuple[NDArray[np.float64] | None, tuple[str, ...] | None]:
    """The features of a table's rows and their names; None where there are no number columns."""
    feature_columns: dict[str, NDArray[np.float64]] = {}
    for column, number_plan in columns.items():
        numbers = _column_numbers(table[column])
        if numbers is None:
            if table[column].notna().any():
                raise DataError(f"column {column!r}: these are no numbers, as they were in the fit")
            numbers = np.full(len(table), np.nan)
        is_missing = np.isnan(numbers)
        filled_numbers = np.where(is_missing, number_plan.fill, numbers)
        feature_columns[str(column)] = np.clip(filled_numbers, -MAX_NUMBER, MAX_NUMBER)
        if number_plan.gaps:
            feature_columns.setdefault(f"{column} is missing", is_missing.astype(np.float64))
    if not feature_columns:
        return None, None
    return np.column_stack(list(feature_columns.values())), tuple(feature_columns)


def _column_numbers(column: pd.Series) -> NDArray[np.float64] | None:
    """The numbers of a column, dates in years; None for anything else."""
    numbers, show = as_numbers(column, required=False)
    if numbers is None or pd.api.types.is_complex_dtype(column.dtype):
        return None
    return numbers if show is None else 1970 + numbers / (365.2425 * DAY_NANOSECONDS)
