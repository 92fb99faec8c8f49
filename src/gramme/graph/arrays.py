"""Small array helpers of the graph room: the smallest safe integers, read-only views, names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gramme.errors import DataError

IntArray = NDArray[np.signedinteger[Any]]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def smallest_int(array: NDArray[Any], largest: int) -> IntArray:
    """The array in the smallest signed type that holds -1 .. ``largest``."""
    for int_type in (np.int8, np.int16, np.int32):
        if largest <= np.iinfo(int_type).max:
            return array.astype(int_type, copy=False)
    return array.astype(np.int64, copy=False)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array, made read-only; only for arrays that nobody else holds."""
    array.flags.writeable = False
    return array


def same_matrix(matrix: sp.csr_array) -> sp.csr_array:
    """A matrix of its own over the same numbers, which nobody may change."""
    parts = frozen(matrix.data), frozen(matrix.indices), frozen(matrix.indptr)
    return sp.csr_array(parts, shape=matrix.shape)


def node_count(value: Any) -> int:
    """A number of nodes as int, or an error that quotes what was given."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0:
        return int(value)
    raise DataError(f"the number of nodes must be a whole number of at least 0, not {value!r}")


def index_array(values: ArrayLike, size: int, what: str, kind: str = "node") -> NDArray[np.int64]:
    """Positions 0 .. size - 1 as int64, or an error that quotes the first one outside."""
    array = whole_numbers(values, what)
    outside_positions = np.flatnonzero((array < 0) | (array >= size))
    if outside_positions.size:
        range_of = f"are numbered from 0 to {size - 1}" if size else "are none"
        raise DataError(
            f"{what}: {array[outside_positions[0]]} at position {outside_positions[0]} is "
            f"not a {kind}; the {kind}s {range_of}"
        )
    return array.astype(np.int64, copy=False)


def whole_numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    """A one-dimensional array of whole numbers, or an error that says what it is instead."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{what} must be one-dimensional: {error}") from error
    if array.ndim != 1:
        raise DataError(f"{what} must be one-dimensional, not of shape {array.shape}")
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    # Python integers beyond 64 bits make an object array, whose comparisons are exact
    beyond_64_bits = array.dtype == object and all(type(value) is int for value in array)
    if not beyond_64_bits and not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"{what} must be whole numbers, not {array.dtype}")
    return array


def checked_weights(weight: ArrayLike, size: int, what: str, named: Callable[[int], str]) -> FloatArray:
    """Positive finite weights as float64, or an error that names the first bad one."""
    try:
        weights = np.array(weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the weights of the {what}s must be numbers: {error}") from error
    if weights.shape != (size,):
        raise DataError(f"weights of shape {weights.shape} were given for {size} {what}s")
    return positive_numbers(weights, named)


def positive_numbers(given: Any, named: Callable[[int], str]) -> FloatArray:
    """A column of weights as positive finite numbers, or an error that names the first row with something else."""
    weights = given
    if not isinstance(given, np.ndarray) or given.dtype != np.float64:
        weights = pd.to_numeric(pd.Series(given), errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad_rows = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if bad_rows.size:
        bad_row = int(bad_rows[0])
        stated_weight = plain(pd.Series(given).iloc[bad_row])
        raise DataError(f"{named(bad_row)} has the weight {stated_weight!r}; weights must be positive and finite")
    return weights  # type: ignore[no-any-return]


def checked_names(names: Sequence[str] | None, columns: int) -> tuple[str, ...] | None:
    """A distinct name for each column of features, or None where they have none."""
    if names is None:
        return None
    given_names = tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in given_names):
        raise DataError(f"feature_names must be texts, not {names!r}")
    if len(given_names) != columns:
        raise DataError(f"{len(given_names)} feature_names were given for {columns} columns of features")
    if len(set(given_names)) < len(given_names):
        repeated_name = next(
            name for name_position, name in enumerate(given_names) if name in given_names[:name_position]
        )
        raise DataError(f"two features have the name {repeated_name!r}; names must differ")
    return given_names


def is_missing(value: object) -> bool:
    """Whether a single value stands for "not known": None, NaN or pandas' NA and NaT."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def plain(value: Any) -> Any:
    """A numpy scalar as the Python value it stands for; anything else as it is."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return pd.Timestamp(value) if isinstance(value, np.datetime64) else pd.Timedelta(value)
    return value.item() if isinstance(value, np.generic) else value


def plain_list(values: Any) -> list[Any]:
    """Values of an array, Series, tensor or other iterable as Python values."""
    # an array of pandas would become numbers with decimals where a whole number is missing
    own_way = (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)
    if isinstance(values, own_way) or not hasattr(values, "__array__"):
        return [plain(value) for value in values]
    as_array = np.asarray(values)
    if as_array.dtype.kind in "mM":
        return list(pd.Index(as_array).astype(object))
    return [plain(value) for value in as_array.tolist()]


def loose_index(names: Iterable[Any]) -> pd.Index:
    """Names as a pandas index, whole numbers as int64 and all else as objects; nothing checked."""
    if isinstance(names, pd.Series):
        names = pd.Index(names)
    if isinstance(names, pd.RangeIndex) or (
        isinstance(names, (pd.Index, np.ndarray))
        and isinstance(names.dtype, np.dtype)
        and np.issubdtype(names.dtype, np.integer)
    ):
        return pd.Index(names).rename(None)
    listed_names = plain_list(names)
    if listed_names and all(type(name) is int for name in listed_names):
        try:
            return pd.Index(np.array(listed_names, dtype=np.int64))
        except OverflowError:
            pass  # names beyond 64 bits stay Python integers
    return pd.Index(object_array(listed_names), dtype=object, tupleize_cols=False)


def name_index(names: Iterable[Any] | None, size: int | None = None, what: str = "node") -> pd.Index:
    """Names as a pandas index: unique, none missing; 0, 1, 2, ... if none are given."""
    if names is None:
        return pd.RangeIndex(0 if size is None else size)
    checked_index = loose_index(names)
    if size is not None and len(checked_index) != size:
        raise DataError(f"{len(checked_index)} {what} names were given for {size} {what}s")
    if checked_index.dtype == object and checked_index.hasnans:
        missing_position = int(np.flatnonzero(checked_index.isna())[0])
        raise DataError(f"the {what} at position {missing_position} has no name")
    try:
        all_unique = checked_index.is_unique
    except TypeError as error:
        raise DataError(f"a {what} name must be hashable: {error}") from error
    if not all_unique:
        repeated_name = plain(checked_index[checked_index.duplicated()][0])
        raise DataError(f"two {what}s have the name {repeated_name!r}; names must differ")
    return checked_index


def object_array(values: list[Any]) -> NDArray[np.object_]:
    """A one-dimensional object array, also of values that are sequences themselves."""
    objects_made = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):
        objects_made[position] = value
    return objects_made


def same_values(left: NDArray[Any] | None, right: NDArray[Any] | None) -> bool:
    """Whether two optional arrays hold the same values (NaN equals NaN)."""
    if left is None or right is None:
        return left is None and right is None
    if left.shape != right.shape:
        return False
    if left.dtype == object or right.dtype == object:
        return all(
            a is b or a == b or (is_missing(a) and is_missing(b))
            for a, b in zip(left.ravel(), right.ravel(), strict=True)
        )
    return bool(np.array_equal(left, right, equal_nan=left.dtype.kind == "f"))


def as_pandas(table: Any) -> Any:
    """A pandas frame for a polars one; anything else as it is."""
    if type(table).__module__.partition(".")[0] != "polars" or not hasattr(table, "to_dict"):
        return table
    return pd.DataFrame({column_name: column.to_list() for column_name, column in table.to_dict().items()})


# Objects that do not change once they are made, so that models may share and remember them.
class Frozen:
    """Base of objects whose declared attributes are set once.

    Only attributes with an annotation in a class body count as parts of the object. Other rooms may
    keep what they computed under a name with a leading underscore; it is left behind by pickling.
    """

    _declared: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._declared = frozenset(
            attribute_name
            for base_class in cls.__mro__
            for attribute_name in vars(base_class).get("__annotations__", ())
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, name) or not (name.startswith("_") or name in self._declared):
            raise AttributeError(
                f"a {type(self).__name__} does not change once made, so {name!r} cannot be set; {self._instead}",
                name=name,
                obj=self,
            )
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} does not change once made, so {name!r} cannot be deleted")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __copy__(self) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        declared_names = self._declared
        return {
            attribute_name: value for attribute_name, value in self.__dict__.items() if attribute_name in declared_names
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__.update(state)

    @property
    def _instead(self) -> str:
        """What to do instead of setting an attribute."""
        return "make a new one"
