"""What a model file holds of a fitted method, declared field by field.

A method lists its fields as ``saved_fields``; those of its base classes come first. Each field knows the attribute it
saves, its type, its shape in terms of nodes, layers and classes, and its range. When a file is read, a field refuses by
name whatever does not fit, so a loaded model predicts without surprises.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.methods.parameters import Number, Rule
from gramme.methods.saving import (
    Learned,
    MisfitError,
    from_json,
    to_json,
)

if TYPE_CHECKING:
    from gramme.methods.graph_estimator import GraphEstimator

Sizes = dict[str, int]
"""The dimensions of a model that are known so far: nodes, layers, classes, and those a field's shape has named."""


class SavedField(ABC):
    """One part of a fitted method that its file holds.

    Parameters
    ----------
    name : str
        The name in the file.
    attribute : str, optional
        The attribute of the method; the name with ``_`` behind it if not given.
    """

    def __init__(self, name: str, *, attribute: str | None = None) -> None:
        self.name = name
        self.attribute = attribute or f"{name}_"

    @abstractmethod
    def save(self, model: GraphEstimator, learned: Learned) -> None:
        """Add the field to what is written."""

    @abstractmethod
    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        """Set the attribute from what was read, or raise :class:`~gramme.methods.saving.MisfitError`."""

    def misfit(self, needed: str, found: Any = None) -> MisfitError:
        """The error for a field that is not what it must be."""
        shown = "" if found is None else f", not {_shortened(found)}"
        return MisfitError(f"{self.name} must be {needed}{shown}")

    def entry(self, record: Mapping[str, Any]) -> Any:
        """The field in the record of a file."""
        if self.name not in record:
            raise MisfitError(f"{self.name} is missing")
        return record[self.name]


class SavedValue(SavedField):
    """A number, a word or a flag, which a rule for parameters checks.

    Parameters
    ----------
    name : str
    rule : Rule
    default : optional
        The value for files of older versions that lack the field; if not given, the field must be there.
    attribute : str, optional
    """

    _REQUIRED = object()

    def __init__(
        self, name: str, rule: Rule, *, default: Any = _REQUIRED, attribute: str | None = None
    ) -> None:
        super().__init__(name, attribute=attribute)
        self.rule, self.default = rule, default

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = to_json(getattr(model, self.attribute), self.name)

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        if self.name not in learned.record and self.default is not self._REQUIRED:
            setattr(model, self.attribute, self.default)
            return
        try:
            value = self.rule.check_saved(self.name, from_json(self.entry(learned.record)))
        except DataError as error:
            raise MisfitError(str(error)) from error
        setattr(model, self.attribute, value)


class SavedArray(SavedField):
    """An array of numbers.

    Parameters
    ----------
    name : str
    dtype : numpy type
    shape : tuple of str or int
        A dimension by its number, or by its name: "nodes", "layers", "classes", or a name of your own, which must then
        be equally long wherever it occurs among the fields of the method.
    low, high : float, optional
        The range of the values, both included.
    below : str, optional
        For positions: the dimension they count in, from 0.
    rows_sum_to_one : bool, default=False
    optional : bool, default=False
        Whether a model may lack it; the attribute is then not set.
    attribute : str, optional
    """

    def __init__(
        self,
        name: str,
        dtype: Any,
        shape: tuple[str | int, ...],
        *,
        low: float | None = None,
        high: float | None = None,
        below: str | None = None,
        rows_sum_to_one: bool = False,
        optional: bool = False,
        attribute: str | None = None,
    ) -> None:
        super().__init__(name, attribute=attribute)
        self.dtype, self.shape = np.dtype(dtype), shape
        self.low, self.high, self.below = low, high, below
        self.rows_sum_to_one, self.optional = rows_sum_to_one, optional

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        if not self.optional or hasattr(model, self.attribute):
            value = np.ascontiguousarray(getattr(model, self.attribute))
            learned.tensors[self.name] = torch.from_numpy(value)

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        if self.name in learned.tensors:
            setattr(model, self.attribute, self.array(learned.tensors[self.name], sizes))
        elif not self.optional:
            raise MisfitError(f"{self.name} is missing")

    def array(self, tensor: torch.Tensor, sizes: Sizes) -> NDArray[Any]:
        """A tensor of a file as the array, once it is known to fit."""
        expected = torch.from_numpy(np.empty(0, dtype=self.dtype)).dtype
        if tensor.dtype != expected:
            raise self.misfit(f"of type {self.dtype}", str(tensor.dtype).removeprefix("torch."))
        self._check_shape(tuple(tensor.shape), sizes)
        array: NDArray[Any] = tensor.numpy()
        if array.size:
            self._check_values(array, sizes)
        return array

    def _check_shape(self, found: tuple[int, ...], sizes: Sizes) -> None:
        fits = len(found) == len(self.shape)
        for wanted, length in zip(self.shape, found, strict=False):
            known = wanted if isinstance(wanted, int) else sizes.setdefault(wanted, length)
            fits &= known == length
        if not fits:
            wanted_text = " x ".join(
                f"{sizes[one]} {one}" if one in sizes else f"{one}" for one in map(str, self.shape)
            )
            raise self.misfit(f"of shape {wanted_text}", " x ".join(map(str, found)) or "a number")

    def _check_values(self, array: NDArray[Any], sizes: Sizes) -> None:
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise self.misfit("finite", array[~np.isfinite(array)].flat[0])
        slack = 1e-4 if array.dtype.kind == "f" else 0
        low, high = self.low, self.high
        if self.below is not None:
            low, high = 0, sizes[self.below] - 1
        if low is not None and array.min() < low - slack:
            raise self.misfit(f"at least {low:g}", array.min())
        if high is not None and array.max() > high + slack:
            raise self.misfit(f"at most {high:g}", array.max())
        if self.rows_sum_to_one and (np.abs(array.sum(-1, dtype=np.float64) - 1) > 1e-3).any():
            raise self.misfit("rows that sum to 1")


class SavedSeries(SavedField):
    """A number per layer, as a Series by layer name."""

    def __init__(
        self, name: str, *, label: str = "importance", attribute: str = "layer_importance_"
    ) -> None:
        super().__init__(name, attribute=attribute)
        self.label = label

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = getattr(model, self.attribute).tolist()

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        numbers = _numbers(self, self.entry(learned.record), sizes["layers"])
        if (numbers < 0).any():
            raise self.misfit("at least 0", numbers.min())
        setattr(model, self.attribute, pd.Series(numbers, index=model.layers_, name=self.label))


@dataclass(frozen=True)
class Column:
    """A column of a :class:`SavedTable`: its name and, where it holds no plain numbers, what each entry must be."""

    name: str
    rule: Rule | None = None


class SavedTable(SavedField):
    """A DataFrame of numbers, NaN included, in columns of equal length.

    Parameters
    ----------
    name : str
    columns : tuple of Column
        Columns that must be there.
    """

    def __init__(self, name: str, *columns: Column, attribute: str | None = None) -> None:
        super().__init__(name, attribute=attribute)
        self.columns = columns

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        table: pd.DataFrame = getattr(model, self.attribute)
        learned.record[self.name] = table.astype(object).to_dict(orient="list")

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        if not isinstance(entry, dict) or not all(isinstance(one, list) for one in entry.values()):
            raise self.misfit("a table of columns", entry)
        if len({len(column) for column in entry.values()}) > 1:
            raise self.misfit("a table with columns of equal length")
        rules = {column.name: column.rule for column in self.columns}
        for name in rules:
            if name not in entry:
                raise MisfitError(f"{self.name} has no column {name}")
        for name, values in entry.items():
            rule = rules.get(name)
            for value in values:
                if rule is not None:
                    _checked(rule, f"{self.name}[{name!r}]", value)
                elif isinstance(value, bool) or not isinstance(value, (int, float)):
                    raise MisfitError(f"{self.name}[{name!r}] must hold numbers, not {value!r}")
        setattr(model, self.attribute, pd.DataFrame(entry))


class SavedWeights(SavedField):
    """The weights of a network by name, as its ``state_dict`` has them."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        weights: Mapping[str, torch.Tensor] = getattr(model, self.attribute)
        learned.tensors |= {f"{self.name}.{key}": value for key, value in weights.items()}

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        start = f"{self.name}."
        found = {
            key.removeprefix(start): value
            for key, value in learned.tensors.items()
            if key.startswith(start)
        }
        for key, value in found.items():
            if not value.is_floating_point() or not bool(value.isfinite().all()):
                raise MisfitError(f"the weights {key} must be finite numbers")
        setattr(model, self.attribute, found)


def check_weights(
    found: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Size | tuple[int, ...]]
) -> None:
    """Refuse weights that are not those of a network, given the shape of each of its weights."""
    for key, shape in expected.items():
        if key not in found:
            raise MisfitError(f"the weights {key} are missing")
        if tuple(found[key].shape) != tuple(shape):
            raise MisfitError(
                f"the weights {key} must be of shape {tuple(shape)}, not {tuple(found[key].shape)}"
            )
    for key in found:
        if key not in expected:
            raise MisfitError(f"the weights {key} are not of this network")


def save_fields(fields: Iterable[SavedField], model: GraphEstimator) -> Learned:
    """What a fitted method holds, for its file."""
    learned = Learned()
    for field in fields:
        field.save(model, learned)
    return learned


def load_fields(fields: Iterable[SavedField], model: GraphEstimator, learned: Learned) -> None:
    """Set the attributes of a method from its file; each field is refused by name where it does not fit."""
    sizes: Sizes = {}
    for field in fields:
        field.load(model, learned, sizes)


def _checked(rule: Rule, name: str, value: Any) -> Any:
    try:
        return rule.check_saved(name, value)
    except DataError as error:
        raise MisfitError(str(error)) from error


def _numbers(field: SavedField, entry: Any, length: int) -> NDArray[np.float64]:
    """A list of so many finite numbers."""
    if not isinstance(entry, list) or len(entry) != length:
        raise field.misfit(f"a list of {length} numbers", entry)
    finite = Number(-np.inf, open_low=True)
    return np.array([_checked(finite, field.name, value) for value in entry], dtype=np.float64)


def _shortened(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
