"""Read the files of the Planetoid split: Python 2 pickles, admitted only where they hold plain data.

A pickle can call any function it names. This reader knows four names - numpy's arrays and dtypes, scipy's CSR
matrix (under its old module path) and ``collections.defaultdict(list)`` - and refuses a file with any other.
"""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.errors import FileFormatError


class _Csr:
    """Stands in for scipy's matrix, so that the state in the file is looked at before it becomes one."""


class _RefusedError(Exception):
    """The file names something else."""


_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}
_ADMITTED |= {(f"scipy.sparse.{name}", "csr_matrix"): _Csr for name in ("csr", "_csr")}
_ADMITTED |= {
    (f"numpy.{name}.multiarray", "_reconstruct"): np._core.multiarray._reconstruct  # type: ignore[attr-defined]
    for name in ("core", "_core")
}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ADMITTED:
            raise _RefusedError(f"{module}.{name}")
        return _ADMITTED[module, name]

    def persistent_load(self, pid: Any) -> Any:
        raise _RefusedError(f"persistent object {pid!r}")


def _unpickle(path: Path) -> Any:
    try:
        return _PlainUnpickler(io.BytesIO(path.read_bytes()), encoding="latin1").load()
    except _RefusedError as error:
        raise FileFormatError(
            f"the pickle names {error}; only numpy arrays, CSR matrices and dicts of lists are read",
            file=path,
        ) from error
    except Exception as error:  # a broken pickle can raise anything
        raise FileFormatError(f"this is no readable pickle ({error})", file=path) from error


def read_matrix(path: Path) -> sp.csr_array:
    """A sparse matrix."""
    stored = _unpickle(path)
    state = vars(stored) if isinstance(stored, _Csr) else {}
    try:
        parts = (state["data"], state["indices"], state["indptr"])
        matrix = sp.csr_array(parts, shape=state["_shape"], dtype=np.float64)
        matrix.check_format(full_check=True)
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"this is no CSR matrix ({error})", file=path) from error
    return matrix


def read_classes(path: Path) -> NDArray[np.int64]:
    """The class of each row of a one-hot array."""
    stored = _unpickle(path)
    if not (
        isinstance(stored, np.ndarray)
        and stored.ndim == 2
        and stored.dtype.kind in "iufb"
        and (stored.sum(axis=1) == 1).all()
    ):
        raise FileFormatError("every row must be one-hot: a single 1 among zeros", file=path)
    return np.asarray(stored.argmax(axis=1), dtype=np.int64)


def read_adjacency(path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sources and targets of a mapping from a node to the list of its neighbours."""
    stored = _unpickle(path)
    try:
        pairs = [(int(node), int(other)) for node, others in stored.items() for other in others]
    except (AttributeError, TypeError, ValueError) as error:
        raise FileFormatError(f"this is no dict of lists of nodes ({error})", file=path) from error
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return edges[:, 0], edges[:, 1]
