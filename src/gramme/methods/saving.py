"""Saved models: one safetensors file, tensors and a JSON header, nothing that could run code when it is read.

A method says what it learned as a JSON-able record and named tensors (``NodeClassifier._learned``) and takes the same
back (``_restore``); this file knows how these become a file and what can be wrong with one.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from gramme.errors import DataError, FileFormatError

FORMAT = "gramme-model"
VERSION = 1


@dataclass
class Learned:
    """What a fitted method holds: a record of plain values and named tensors."""

    record: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)


def write_model(path: Any, method: str, parameters: Mapping[str, Any], learned: Learned) -> None:
    """Write a fitted model; the file appears whole or not at all."""
    target = Path(path)
    header = {
        "method": method,
        "parameters": {name: plain(value, name) for name, value in parameters.items()},
        "learned": learned.record,
    }
    metadata = {"format": FORMAT, "version": str(VERSION), "model": json.dumps(header)}
    tensors = {name: value.contiguous().cpu() for name, value in learned.tensors.items()}
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    try:
        save_file(tensors, temporary, metadata=metadata)
        Path(temporary).chmod(0o644)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def read_model(path: Any) -> tuple[str, dict[str, Any], Learned]:
    """Method name, parameters and what was learned; anything but a whole model of a known version is an error."""
    target = Path(path)
    if not target.is_file():
        raise DataError(f"{target}: there is no such model file")
    try:
        with safe_open(target, framework="pt") as file:
            metadata = file.metadata() or {}
            _check_version(metadata, target)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, struct.error, OSError, UnicodeDecodeError) as error:
        raise FileFormatError(
            f"is no whole safetensors file, so no model of gramme's ({error})", file=target
        ) from error
    try:
        header = json.loads(metadata["model"])
        return header["method"], dict(header["parameters"]), Learned(header["learned"], tensors)
    except (KeyError, TypeError, ValueError) as error:
        raise broken(target, error) from error


def broken(path: Any, error: Exception) -> FileFormatError:
    """The error for a model file whose parts do not fit together."""
    return FileFormatError(
        f"is a model file, but its content does not fit together ({error!r})", file=path
    )


def _check_version(metadata: Mapping[str, str], path: Path) -> None:
    if metadata.get("format") != FORMAT:
        raise FileFormatError("is a safetensors file, but no model of gramme's", file=path)
    version = metadata.get("version", "")
    if not version.isdigit() or int(version) > VERSION:
        raise FileFormatError(
            f"is a model of version {version or '?'}; this gramme reads up to version {VERSION}: "
            "install a newer gramme",
            file=path,
        )


def plain(value: Any, what: str) -> Any:
    """A value as JSON can hold it, or an error that says what cannot be saved."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(inner, what) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner, what) for inner in value]
    if what == "random_state":
        return None  # a generator: the seed it gave is saved instead
    raise DataError(f"{what} is {value!r}, which a model file cannot hold; use text or numbers")


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
