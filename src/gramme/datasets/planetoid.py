"""Read the files of the Planetoid split: Python 2 pickles of arrays, CSR matrices and dicts of lists.

The pickles are read as data (:mod:`gramme.datasets.pickle_data`); arrays are made from the bytes here, with dtypes of
plain numbers only.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.datasets.pickle_data import Call, RefusedError, read_pickle
from gramme.errors import FileFormatError

_MATRICES = ("scipy.sparse.csr.csr_matrix", "scipy.sparse._csr.csr_matrix")
_ARRAYS = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")
_LISTS = ("__builtin__.list", "builtins.list")
_ADMITTED = frozenset(
    {*_MATRICES, *_ARRAYS, *_LISTS, "numpy.ndarray", "numpy.dtype", "collections.defaultdict"}
)
_NUMBERS = re.compile(r"[biuf][1248]")


def read_matrix(path: Path) -> sp.csr_array:
    """A sparse matrix."""
    stored = _read(path)
    try:
        if not (isinstance(stored, Call) and stored.name in _MATRICES):
            raise ValueError("it holds something else")
        state = stored.state
        parts = (_array(state["data"]), _array(state["indices"]), _array(state["indptr"]))
        matrix = sp.csr_array(parts, shape=state["_shape"], dtype=np.float64)
        matrix.check_format(full_check=True)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(f"this is no CSR matrix ({error})", file=path) from error
    return matrix


def read_classes(path: Path) -> NDArray[np.int64]:
    """The class of each row of a one-hot array."""
    record = _read(path)
    try:
        stored = _array(record)
        one_hot = stored.ndim == 2 and (stored.sum(axis=1) == 1).all()
    except (TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(f"this is not an array of numbers ({error})", file=path) from error
    if not one_hot:
        raise FileFormatError("every row must be one-hot: a single 1 among zeros", file=path)
    return np.asarray(stored.argmax(axis=1), dtype=np.int64)


def read_adjacency(path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sources and targets of a mapping from a node to the list of its neighbours."""
    stored = _read(path)
    try:
        if isinstance(stored, Call) and stored.name == "collections.defaultdict":
            stored = stored.items
        # a list may stand in the file once and be referred to many times
        if sum(len(others) for others in stored.values()) > path.stat().st_size:
            raise ValueError("it names more neighbours than it has bytes")
        pairs = [(int(node), int(other)) for node, others in stored.items() for other in others]
        edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(
            f"this is not a dict of lists of nodes ({error})", file=path
        ) from error
    return edges[:, 0], edges[:, 1]


def _read(path: Path) -> Any:
    try:
        return read_pickle(path.read_bytes(), _ADMITTED)
    except RefusedError as error:
        raise FileFormatError(
            f"the pickle names {error}; only numpy arrays, CSR matrices and dicts of lists are read",
            file=path,
        ) from error
    except Exception as error:  # a broken pickle can raise anything
        raise FileFormatError(f"this is not a readable pickle ({error})", file=path) from error


def _array(stored: Any) -> NDArray[Any]:
    """An array of plain numbers from the record of how numpy would have rebuilt it."""
    if not (isinstance(stored, Call) and stored.name in _ARRAYS):
        raise ValueError("an array is expected")
    _, shape, dtype, by_columns, content = stored.state
    kind = _dtype(dtype)
    if isinstance(content, str):  # a text of Python 2 is a string of bytes
        content = content.encode("latin-1")
    if not isinstance(content, bytes) or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("an array's content is not what it should be")
    if math.prod(shape) * kind.itemsize != len(content):
        raise ValueError(f"{len(content)} bytes do not make an array of shape {shape}")
    flat: NDArray[Any] = np.frombuffer(content, dtype=kind)
    return flat.reshape(shape, order="F" if by_columns else "C")


def _dtype(stored: Any) -> np.dtype[Any]:
    if not (isinstance(stored, Call) and stored.name == "numpy.dtype"):
        raise ValueError("an array needs a dtype")
    code, order = stored.arguments[0], stored.state[1]
    fields = stored.state[2:5]
    if not _NUMBERS.fullmatch(code) or order not in ("<", ">", "|", "=") or any(fields):
        raise ValueError(f"an array of {code!r} is not an array of numbers")
    return np.dtype(f"{order}{code}")
