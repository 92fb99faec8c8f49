"""Names and labels of any plain kind as JSON and back, without pickles.

Text, whole numbers of any size, decimals, booleans and None stand for themselves; a tuple and what JSON has no word for
are objects with one key that names the kind.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gramme.errors import DataError

_MAX_NESTING = 50
# Python refuses to print longer numbers in decimal.
_DECIMAL_LIMIT = 1 << 10_000


def encode(values: Sequence[Any]) -> bytes:
    """The values as JSON.

    >>> decode(encode(["a", 3, (1, "b"), None, 2.5, True]))
    ['a', 3, (1, 'b'), None, 2.5, True]
    """
    return json.dumps([_encoded(value) for value in values], separators=(",", ":")).encode("ascii")


def decode(data: bytes) -> list[Any]:
    """The values of a JSON text; ValueError where it is not one of ours."""
    try:
        values = json.loads(data)
        if not isinstance(values, list):
            raise ValueError("the values are not a list")
        return [_decoded(value) for value in values]
    except RecursionError:
        raise ValueError("values are nested too deeply") from None


def _encoded(value: Any, depth: int = 0) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return value if not isinstance(value, str) else str(value)
    if isinstance(value, int):
        return int(value) if -_DECIMAL_LIMIT < value < _DECIMAL_LIMIT else {"int": hex(value)}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, tuple) and depth < _MAX_NESTING:
        return {"tuple": [_encoded(part, depth + 1) for part in value]}
    raise DataError(
        f"{value!r} ({type(value).__name__}) cannot be kept in a file; names and labels may be text, numbers, "
        "booleans, bytes and tuples of these"
    )


def _decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise ValueError("a list stands where a value is expected")
        return value
    if len(value) != 1:
        raise ValueError("a value of unknown kind")
    kind, content = next(iter(value.items()))
    if kind == "tuple" and isinstance(content, list):
        return tuple(_decoded(part) for part in content)
    if kind == "int" and isinstance(content, str):
        return int(content, 16)
    if kind == "float" and content in ("inf", "-inf", "nan"):
        return float(content)
    if kind == "bytes" and isinstance(content, str):
        return bytes.fromhex(content)
    raise ValueError(f"a value of unknown kind {kind!r}")
