"""Saved models: one safetensors file, nothing in it that could run code when it is read.

The fields that a method declares (:mod:`gramme.methods.saved_fields`) make a record of plain values and named tensors
of it and check the same on the way back; this module turns these into a file and says what is wrong with a file that
is damaged. The record is stored as JSON in a tensor of bytes, since the header of a safetensors file is limited in
size. A digest over all tensors tells a damaged file from a whole one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from gramme.errors import DataError, FileFormatError
from gramme.graph.arrays import plain
from gramme.io.atomic import write_files

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
    record = {
        "method": method,
        "parameters": {name: to_json(value, name) for name, value in parameters.items()},
        "learned": learned.record,
    }
    text = np.frombuffer(json.dumps(record, default=_number).encode(), dtype=np.uint8)
    tensors = {name: value.contiguous().cpu() for name, value in learned.tensors.items()}
    tensors[RECORD] = torch.from_numpy(text.copy())
    # one entry only, since safetensors writes several in any order: the same model makes the same file
    seal = json.dumps({"version": VERSION, "sha256": _digest(tensors)})
    write_files({Path(path): save(tensors, {FORMAT: seal})})


def read_model(path: Any) -> tuple[str, dict[str, Any], Learned]:
    """Method name, parameters and what was learned; anything but a whole model of a known version is an error."""
    target = Path(path)
    if not target.is_file():
        raise DataError(f"{target}: there is no such model file")
    try:
        with safe_open(target, framework="pt") as file:
            seal = _seal(file.metadata() or {}, target)
            # copies: a tensor that stayed mapped to the file would change or crash with it
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, UnicodeDecodeError) as error:
        raise FileFormatError(
            f"is not a complete safetensors file, so not a gramme model ({error})", file=target
        ) from error
    if seal.get("sha256") != _digest(tensors):
        raise FileFormatError(
            "is a damaged model file: its content is not what was written; take another copy",
            file=target,
        )
    try:
        record = json.loads(tensors.pop(RECORD).numpy().tobytes())
        parameters = {name: from_json(value) for name, value in record["parameters"].items()}
        return str(record["method"]), parameters, Learned(record["learned"], tensors)
    except Exception as error:  # whatever its content sets off is the file's fault
        raise broken(target, error) from error


class MisfitError(ValueError):
    """A part of a model file is not what it must be; the message names it."""


def broken(path: Any, error: Exception) -> FileFormatError:
    """The error for a model file whose parts do not fit together."""
    problem = str(error) if isinstance(error, MisfitError) else repr(error)
    return FileFormatError(
        f"is a model file, but its content does not fit together ({problem})", file=path
    )


def _seal(metadata: Mapping[str, str], path: Path) -> dict[str, Any]:
    """Version and digest of a model file, once it is known to be one that can be read."""
    if FORMAT not in metadata:
        raise FileFormatError("is a safetensors file, but not a gramme model", file=path)
    try:
        seal = dict(json.loads(metadata[FORMAT]))
        version = int(seal["version"])
    except Exception as error:
        raise broken(path, error) from error
    if not 1 <= version <= VERSION:
        raise FileFormatError(
            f"is a model of version {version}; this gramme reads up to version {VERSION}: "
            "install a newer gramme",
            file=path,
        )
    return seal


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

    >>> (
    ...     to_json({"advice": 2}, "heads"),
    ...     to_json({0: 1.5}, "class_weight"),
    ...     to_json(("a", 1), "a class"),
    ... )
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
    listed = list(values)
    kinds = {type(value) for value in listed}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        array = np.array(listed)
        if array.dtype.kind in "Uifb" and array.tolist() == listed:
            return array
    array = np.empty(len(listed), dtype=object)
    for position, value in enumerate(listed):
        array[position] = value
    return array
