"""Saved models: one safetensors file, nothing in it that could run code, and what it holds declared field by field."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from gramme.errors import DataError, FileFormatError
from gramme.graph.arrays import loose_index, plain
from gramme.io.atomic import write_files

from .params import Number, Rule

if TYPE_CHECKING:
    from .base import GraphEstimator


FORMAT = "gramme-model"
VERSION = 1
RECORD = "record"
"""The name of the tensor that holds the record."""


@dataclass
class Learned:
    """What a fitted method holds: a record of plain values and named tensors."""

    record: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)


def write_model(path: Any, method: str, parameters: Mapping[str, Any], learned: Learned) -> None:
    """Write a fitted model; the file appears whole or not at all."""
    model_record = {
        "method": method,
        "parameters": {name: to_json(value, name) for name, value in parameters.items()},
        "learned": learned.record,
    }
    record_bytes = np.frombuffer(json.dumps(model_record, default=_number).encode(), dtype=np.uint8)
    saved_tensors = {name: value.contiguous().cpu() for name, value in learned.tensors.items()}
    saved_tensors[RECORD] = torch.from_numpy(record_bytes.copy())
    # one entry only, since safetensors writes several in any order: the same model makes the same file
    seal_text = json.dumps({"version": VERSION, "sha256": _digest(saved_tensors)})
    write_files({Path(path): save(saved_tensors, {FORMAT: seal_text})})


def read_model(path: Any) -> tuple[str, dict[str, Any], Learned]:
    """Method name, parameters and what was learned; anything but a whole model of a known version is an error."""
    model_path = Path(path)
    if not model_path.is_file():
        raise DataError(f"{model_path}: there is no such model file")
    try:
        with safe_open(model_path, framework="pt") as file:
            file_seal = _seal(file.metadata() or {}, model_path)
            # copies: a tensor that stayed mapped to the file would change or crash with it
            file_tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, UnicodeDecodeError) as error:
        raise FileFormatError(
            f"is not a complete safetensors file, so not a gramme model ({error})", file=model_path
        ) from error
    if file_seal.get("sha256") != _digest(file_tensors):
        raise FileFormatError(
            "is a damaged model file: its content is not what was written; take another copy", file=model_path
        )
    try:
        model_record = json.loads(file_tensors.pop(RECORD).numpy().tobytes())
        parameters = {name: from_json(value) for name, value in model_record["parameters"].items()}
        return str(model_record["method"]), parameters, Learned(model_record["learned"], file_tensors)
    except Exception as error:  # whatever its content sets off is the file's fault
        raise broken(model_path, error) from error


class MisfitError(ValueError):
    """A part of a model file is not what it must be; the message names it."""


def broken(path: Any, error: Exception) -> FileFormatError:
    """The error for a model file whose parts do not fit together."""
    problem = str(error) if isinstance(error, MisfitError) else repr(error)
    return FileFormatError(f"is a model file, but its content does not fit together ({problem})", file=path)


def _seal(metadata: Mapping[str, str], path: Path) -> dict[str, Any]:
    """Version and digest of a model file, once it is known to be one that can be read."""
    if FORMAT not in metadata:
        raise FileFormatError("is a safetensors file, but not a gramme model", file=path)
    try:
        file_seal = dict(json.loads(metadata[FORMAT]))
        file_version = int(file_seal["version"])
    except Exception as error:
        raise broken(path, error) from error
    if not 1 <= file_version <= VERSION:
        raise FileFormatError(
            f"is a model of version {file_version}; this gramme reads up to version {VERSION}: install a newer gramme",
            file=path,
        )
    return file_seal


def _digest(tensors: Mapping[str, Tensor]) -> str:
    """A sha256 over names, types, shapes and bytes of all tensors."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        if tensor.numel():
            digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _number(value: Any) -> Any:
    """A number of numpy's, which a parameter may be, as the Python number."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be part of a model file")


def to_json(value: Any, what: str) -> Any:
    """A value as JSON can hold it, or an error that says what cannot be saved; :func:`from_json` is the way back.

    >>> (to_json({"advice": 2}, "heads"), to_json({0: 1.5}, "class_weight"), to_json(("a", 1), "a class"))
    ({'advice': 2}, {'mapping': [[0, 1.5]]}, {'tuple': ['a', 1]})
    """
    value = plain(value)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value) and set(value) not in _MARKS:
            return {key: to_json(inner, what) for key, inner in value.items()}
        return {"mapping": [[to_json(key, what), to_json(value[key], what)] for key in value]}
    if isinstance(value, tuple):
        return {"tuple": [to_json(inner, what) for inner in value]}
    if isinstance(value, list):
        return [to_json(inner, what) for inner in value]
    if what == "random_state":
        return None  # a generator: the seed it gave is saved instead
    raise DataError(f"{what} is {value!r}, which a model file cannot hold; use text or numbers")


_MARKS = ({"mapping"}, {"tuple"})


def plain_name(name: Any) -> Any:
    """A name as JSON can hold it: text, numbers and tuples of them; anything else as its text.

    >>> plain_name(("a", 1)), plain_name(frozenset())
    ({'tuple': ['a', 1]}, 'frozenset()')
    """
    try:
        return to_json(name, "a name")
    except DataError:
        return str(name)


def from_json(value: Any) -> Any:
    """The value that :func:`to_json` made plain.

    >>> from_json(to_json({0: (1, 2)}, "example"))
    {0: (1, 2)}
    """
    if isinstance(value, list):
        return [from_json(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"tuple"}:
        return tuple(from_json(inner) for inner in value["tuple"])
    if set(value) == {"mapping"}:
        return {from_json(key): from_json(inner) for key, inner in value["mapping"]}
    return {key: from_json(inner) for key, inner in value.items()}


def natural_array(values: Iterable[Any]) -> NDArray[Any]:
    """Values as an array of their natural type, or of objects where numpy would change them.

    >>> natural_array([1, 2]).dtype.kind, natural_array(["a", 1]).dtype.kind
    ('i', 'O')
    """
    value_list = list(values)
    value_types = {type(value) for value in value_list}
    if len(value_types) == 1 and value_types <= {str, int, float, bool}:
        natural_values = np.array(value_list)
        if natural_values.dtype.kind in "Uifb" and natural_values.tolist() == value_list:
            return natural_values
    natural_values = np.empty(len(value_list), dtype=object)
    for position, value in enumerate(value_list):
        natural_values[position] = value
    return natural_values


# What a model file holds of a fitted method, declared field by field.
Sizes = dict[str, int]
"""The dimensions of a model that are known so far: nodes, layers, classes, and those a field's shape has named."""


class SavedField(ABC):
    """One part of a fitted method that its file holds: ``name`` there, the name with ``_`` behind it in the method."""

    def __init__(self, name: str, *, attribute: str | None = None) -> None:
        self.name = name
        self.attribute = attribute or f"{name}_"

    @abstractmethod
    def save(self, model: GraphEstimator, learned: Learned) -> None:
        """Add the field to what is written."""

    @abstractmethod
    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        """Set the attribute from what was read, or raise :class:`~gramme.methods.persistence.MisfitError`."""

    def misfit(self, needed: str, found: Any = None) -> MisfitError:
        """The error for a field that is not what it must be."""
        found_words = "" if found is None else f", not {_shortened(found)}"
        return MisfitError(f"{self.name} must be {needed}{found_words}")

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
        The value for files that lack the field; if not given, it must be there.
    attribute : str, optional
    """

    _REQUIRED = object()

    def __init__(self, name: str, rule: Rule, *, default: Any = _REQUIRED, attribute: str | None = None) -> None:
        super().__init__(name, attribute=attribute)
        self.rule, self.default = rule, default

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = to_json(getattr(model, self.attribute), self.name)

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        if self.name not in learned.record and self.default is not self._REQUIRED:
            setattr(model, self.attribute, self.default)
            return
        value = checked(self.rule, self.name, from_json(self.entry(learned.record)))
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
        expected_dtype = torch.from_numpy(np.empty(0, dtype=self.dtype)).dtype
        if tensor.dtype != expected_dtype:
            raise self.misfit(f"of type {self.dtype}", str(tensor.dtype).removeprefix("torch."))
        found_shape = tuple(tensor.shape)
        is_fitting = len(found_shape) == len(self.shape)
        for wanted_length, found_length in zip(self.shape, found_shape, strict=False):
            known_length = (
                wanted_length if isinstance(wanted_length, int) else sizes.setdefault(wanted_length, found_length)
            )
            is_fitting &= known_length == found_length
        if not is_fitting:
            wanted_text = " x ".join(
                f"{sizes[dimension_name]} {dimension_name}" if dimension_name in sizes else f"{dimension_name}"
                for dimension_name in map(str, self.shape)
            )
            raise self.misfit(f"of shape {wanted_text}", " x ".join(map(str, found_shape)) or "a number")
        array: NDArray[Any] = tensor.numpy()
        if array.size:
            self._check_values(array, sizes)
        return array

    def _check_values(self, array: NDArray[Any], sizes: Sizes) -> None:
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise self.misfit("finite", array[~np.isfinite(array)].flat[0])
        rounding_slack = 1e-4 if array.dtype.kind == "f" else 0
        lowest_allowed, highest_allowed = self.low, self.high
        if self.below is not None:
            lowest_allowed, highest_allowed = 0, sizes[self.below] - 1
        if lowest_allowed is not None and array.min() < lowest_allowed - rounding_slack:
            raise self.misfit(f"at least {lowest_allowed:g}", array.min())
        if highest_allowed is not None and array.max() > highest_allowed + rounding_slack:
            raise self.misfit(f"at most {highest_allowed:g}", array.max())
        if self.rows_sum_to_one and (np.abs(array.sum(-1, dtype=np.float64) - 1) > 1e-3).any():
            raise self.misfit("rows that sum to 1")


class SavedSeries(SavedField):
    """A number per layer, as a Series by layer name; a loaded model may lack an optional one."""

    def __init__(
        self, name: str, *, label: str = "importance", attribute: str = "layer_importance_", optional: bool = False
    ) -> None:
        super().__init__(name, attribute=attribute)
        self.label, self.optional = label, optional

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        if not self.optional or {self.attribute, "graph_"} & set(vars(model)):
            learned.record[self.name] = getattr(model, self.attribute).tolist()

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        if self.optional and self.name not in learned.record:
            return
        saved_numbers = self.entry(learned.record)
        if not isinstance(saved_numbers, list) or len(saved_numbers) != sizes["layers"]:
            raise self.misfit(f"a list of {sizes['layers']} numbers", saved_numbers)
        layer_numbers = np.array(
            [checked(Number(-np.inf, open_low=True), self.name, value) for value in saved_numbers], np.float64
        )
        if (layer_numbers < 0).any():
            raise self.misfit("at least 0", layer_numbers.min())
        setattr(model, self.attribute, pd.Series(layer_numbers, index=model.layers_, name=self.label))


@dataclass(frozen=True)
class Column:
    """A column of a :class:`SavedTable`: its name and, where it holds no plain numbers, what each entry must be."""

    name: str
    rule: Rule | None = None


class SavedTable(SavedField):
    """A DataFrame of numbers, NaN included, in columns of equal length; ``columns`` must be among them."""

    def __init__(self, name: str, *columns: Column, attribute: str | None = None) -> None:
        super().__init__(name, attribute=attribute)
        self.columns = columns

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        table: pd.DataFrame = getattr(model, self.attribute)
        learned.record[self.name] = table.astype(object).to_dict(orient="list")

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        saved_columns = self.entry(learned.record)
        if not isinstance(saved_columns, dict) or not all(
            isinstance(column_values_list, list) for column_values_list in saved_columns.values()
        ):
            raise self.misfit("a table of columns", saved_columns)
        if len({len(column) for column in saved_columns.values()}) > 1:
            raise self.misfit("a table with columns of equal length")
        column_rules = {column.name: column.rule for column in self.columns}
        for column_name in column_rules:
            if column_name not in saved_columns:
                raise MisfitError(f"{self.name} has no column {column_name}")
        for column_name, column_values in saved_columns.items():
            rule = column_rules.get(column_name)
            for value in column_values:
                if rule is not None:
                    checked(rule, f"{self.name}[{column_name!r}]", value)
                elif isinstance(value, bool) or not isinstance(value, (int, float)):
                    raise MisfitError(f"{self.name}[{column_name!r}] must hold numbers, not {value!r}")
        setattr(model, self.attribute, pd.DataFrame(saved_columns))


class SavedWeights(SavedField):
    """The weights of a network by name, as its ``state_dict`` has them."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        weights: Mapping[str, torch.Tensor] = getattr(model, self.attribute)
        learned.tensors |= {f"{self.name}.{key}": value for key, value in weights.items()}

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        tensor_prefix = f"{self.name}."
        network_weights = {
            key.removeprefix(tensor_prefix): value
            for key, value in learned.tensors.items()
            if key.startswith(tensor_prefix)
        }
        for key, value in network_weights.items():
            if not value.is_floating_point() or not bool(value.isfinite().all()):
                raise MisfitError(f"the weights {key} must be finite numbers")
        setattr(model, self.attribute, network_weights)


def check_weights(found: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Size | tuple[int, ...]]) -> None:
    """Refuse weights that are not those of a network, given the shape of each of its weights."""
    for key, shape in expected.items():
        if key not in found:
            raise MisfitError(f"the weights {key} are missing")
        if tuple(found[key].shape) != tuple(shape):
            raise MisfitError(f"the weights {key} must be of shape {tuple(shape)}, not {tuple(found[key].shape)}")
    for key in found:
        if key not in expected:
            raise MisfitError(f"the weights {key} are not of this network")


def checked(rule: Rule, name: str, value: Any) -> Any:
    """A value from a file that a rule allows, or a MisfitError."""
    try:
        return rule.check_saved(name, value)
    except DataError as error:
        raise MisfitError(str(error)) from error


def _shortened(value: Any) -> str:
    value_text = value if isinstance(value, str) else repr(value)
    return value_text if len(value_text) <= 60 else value_text[:57] + "..."


class SavedNames(SavedField):
    """The names of nodes, layers or classes; sets the size of that dimension."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        saved_names = getattr(model, self.attribute)
        if self.name == "classes":
            saved_names = [to_json(label, "a class") for label in saved_names.tolist()]
        elif self.name == "nodes":
            saved_names = [plain_name(name) for name in saved_names]
            if len(set(map(repr, saved_names))) < len(saved_names):
                raise DataError("two nodes have the same name as text, so the model cannot be saved")
        learned.record[self.name] = saved_names

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        loaded_names = unique_names(self, self.entry(learned.record))
        least_names = {"classes": 2, "layers": 1}.get(self.name, 0)
        if len(loaded_names) < least_names:
            raise self.misfit(f"a list of at least {least_names}", loaded_names)
        if self.name == "layers" and not all(isinstance(name, str) for name in loaded_names):
            raise self.misfit("a list of texts", loaded_names)
        sizes[self.name] = len(loaded_names)
        array_type = {"nodes": loose_index, "classes": natural_array}.get(self.name, list)
        setattr(model, self.attribute, array_type(loaded_names))


class SavedLayerOrder(SavedField):
    """The layers in the order of the method's own arrays; the first files have them as they were given."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = model.layer_order_

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        layer_names = learned.record.get(self.name, model.layers_)
        if not isinstance(layer_names, list) or sorted(map(repr, layer_names)) != sorted(map(repr, model.layers_)):
            raise self.misfit("the names of the layers", layer_names)
        model.layer_order_ = list(layer_names)


class SavedTransduction(SavedArray):
    """A label for every node, in the file as the number of its class."""

    def __init__(self) -> None:
        super().__init__("transduction", np.int32, ("nodes",), below="classes")

    def save(self, model: Any, learned: Learned) -> None:
        code_of_class = {label: place for place, label in enumerate(model.classes_.tolist())}
        node_codes = [code_of_class[label] for label in model.transduction_.tolist()]
        learned.tensors[self.name] = torch.tensor(node_codes, dtype=torch.int32)

    def load(self, model: Any, learned: Learned, sizes: Sizes) -> None:
        super().load(model, learned, sizes)
        model.transduction_ = model.classes_[model.transduction_]


def unique_names(field: SavedField, entry: Any) -> list[Any]:
    """Names from a file, which must be a list without repetition."""
    if not isinstance(entry, list):
        raise field.misfit("a list", entry)
    loaded_names = from_json(entry)
    try:
        has_repetition = len(set(loaded_names)) < len(loaded_names)
    except TypeError as error:
        raise field.misfit("a list of texts, numbers and tuples of them") from error
    if has_repetition:
        raise field.misfit("a list without repetition")
    return list(loaded_names)
