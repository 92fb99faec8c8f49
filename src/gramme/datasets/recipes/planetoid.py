"""Read the files of the Planetoid split: Python 2 pickles of arrays, CSR matrices and dicts of lists.

The pickles are read as data; arrays are made from the bytes here, with dtypes of plain numbers only.
"""

from __future__ import annotations

import math
import pickletools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.datasets.readers import read_integers
from gramme.datasets.record import Paths, Split
from gramme.errors import FileFormatError
from gramme.graph import EdgeLayer, MultilayerGraph


# Read a pickle as data: its opcodes are interpreted here, and nothing in the file is ever called or built.
class RefusedError(Exception):
    """The pickle names something that is not admitted."""


@dataclass(frozen=True)
class Name:
    """A class or function that the file names."""

    name: str


@dataclass
class Call:
    """What the file would have built: the name called, its arguments, and the state and items set afterwards."""

    name: str
    arguments: tuple[Any, ...]
    state: Any = None
    items: dict[Any, Any] = field(default_factory=dict)


_MARK = object()
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_PICKLE_DATA_NUMBERS = {"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"}
_TEXTS = {"STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE"}
_BYTES = {"BINBYTES", "SHORT_BINBYTES", "BINBYTES8"}
_VALUES = _PICKLE_DATA_NUMBERS | _TEXTS | _BYTES
_EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_TUPLE": tuple, "EMPTY_LIST": list, "EMPTY_DICT": dict}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = frozenset({"PROTO", "FRAME"})


def read_pickle(content: bytes, admitted: frozenset[str]) -> Any:
    """The value in a pickle, made of plain values, :class:`Name` and :class:`Call`."""
    machine = _Machine(admitted)
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name == "STOP":
            return machine.stack.pop()
        machine.step(opcode.name, argument)
    raise ValueError("the pickle has no end")


class _Machine:
    def __init__(self, admitted: frozenset[str]) -> None:
        self.admitted = admitted
        self.stack: list[Any] = []
        self.memory: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in _IGNORED:
            return
        if name in _VALUES:
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name == "MARK":
            stack.append(_MARK)
        elif name in _TUPLES:
            count = _TUPLES[name]
            if len(stack) < count:
                raise ValueError("the pickle takes more values than it has")
            stack[-count:] = [tuple(stack[-count:])]
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self.memory[argument] = stack[-1]
        elif name == "MEMOIZE":
            self.memory[len(self.memory)] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(self.memory[argument])
        elif name in ("PERSID", "BINPERSID"):
            raise RefusedError(f"persistent object {argument!r}")
        else:
            self._build(name, argument)

    def _build(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in ("TUPLE", "LIST", "DICT"):
            values = self._since_mark()
            stack.append(_pairs(values) if name == "DICT" else tuple(values) if name == "TUPLE" else values)
        elif name == "GLOBAL":
            stack.append(self._name(argument.replace(" ", ".", 1)))
        elif name == "STACK_GLOBAL":
            member, module = stack.pop(), stack.pop()
            stack.append(self._name(f"{module}.{member}"))
        elif name in ("REDUCE", "NEWOBJ"):
            arguments, called = stack.pop(), stack.pop()
            if not isinstance(called, Name) or not isinstance(arguments, tuple):
                raise ValueError("the pickle calls something that is not a name")
            stack.append(Call(called.name, arguments))
        elif name == "BUILD":
            state, made = stack.pop(), stack[-1]
            if not isinstance(made, Call):
                raise ValueError("the pickle sets the state of a plain value")
            made.state = state
        elif name in ("APPEND", "APPENDS"):
            values = [stack.pop()] if name == "APPEND" else self._since_mark()
            if not isinstance(stack[-1], list):
                raise ValueError("the pickle appends to something that is not a list")
            stack[-1].extend(values)
        elif name in ("SETITEM", "SETITEMS"):
            values = self._since_mark() if name == "SETITEMS" else [stack.pop(), stack.pop()][::-1]
            self._set_items(_pairs(values))
        else:
            raise RefusedError(f"the instruction {name}")

    def _set_items(self, items: dict[Any, Any]) -> None:
        target = self.stack[-1]
        if isinstance(target, Call):
            target.items.update(items)
        elif isinstance(target, dict):
            target.update(items)
        else:
            raise ValueError("the pickle sets items of what has none")

    def _since_mark(self) -> list[Any]:
        values = []
        while (value := self.stack.pop()) is not _MARK:
            values.append(value)
        return values[::-1]

    def _name(self, name: str) -> Name:
        if name not in self.admitted:
            raise RefusedError(name)
        return Name(name)


def _pairs(values: list[Any]) -> dict[Any, Any]:
    return dict(zip(values[::2], values[1::2], strict=True))


_MATRICES = ("scipy.sparse.csr.csr_matrix", "scipy.sparse._csr.csr_matrix")
_ARRAYS = ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct")
_LISTS = ("__builtin__.list", "builtins.list")
_ADMITTED = frozenset({*_MATRICES, *_ARRAYS, *_LISTS, "numpy.ndarray", "numpy.dtype", "collections.defaultdict"})
_NUMBERS = re.compile(r"[biuf][1248]")


def read_matrix(path: Path) -> sp.csr_array:
    """A sparse matrix."""
    stored = _read(path)
    try:
        if not (isinstance(stored, Call) and stored.name in _MATRICES):
            raise ValueError("it holds something else")
        state = stored.state
        matrix_parts = (_array(state["data"]), _array(state["indices"]), _array(state["indptr"]))
        matrix = sp.csr_array(matrix_parts, shape=state["_shape"], dtype=np.float64)
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
        raise FileFormatError(f"this is not a dict of lists of nodes ({error})", file=path) from error
    return edges[:, 0], edges[:, 1]


def _read(path: Path) -> Any:
    try:
        return read_pickle(path.read_bytes(), _ADMITTED)
    except RefusedError as error:
        raise FileFormatError(
            f"the pickle names {error}; only numpy arrays, CSR matrices and dicts of lists are read", file=path
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


# Cora: machine-learning papers and their citations, one layer, with the split everybody uses.
PAPERS = 2708
TRAIN, VALIDATION, TEST = 140, 500, 1000
# The seven classes differ in size (351, 217, 418, 818, 426, 298, 180), which tells their names.
CLASSES = (
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)
# The graph has no use for x and y, which are the first rows of allx and ally.


def build_cora(paths: Paths) -> MultilayerGraph:
    """Citations as undirected edges, the 1433 word features as they are, sparse."""
    order = np.arange(PAPERS)
    # The test rows are stored apart, in the order of test.index.
    test = _test_papers(paths)
    order[test] = order[-TEST:].copy()
    classes = np.concatenate([read_classes(paths[f"ind.cora.{part}"]) for part in ("ally", "ty")])
    feature_matrix = sp.vstack([read_matrix(paths[f"ind.cora.{part}"]) for part in ("allx", "tx")])
    return MultilayerGraph(
        {"citations": EdgeLayer(PAPERS, *read_adjacency(paths["ind.cora.graph"]))},
        labels=[CLASSES[number] for number in classes[order]],
        features=sp.csr_array(feature_matrix)[order],
        name="cora",
    )


def split_cora(paths: Paths) -> Split:
    """140 training papers (20 per class), 500 for validation, 1000 for the test."""
    return {
        "train": np.arange(TRAIN),
        "validation": np.arange(TRAIN, TRAIN + VALIDATION),
        "test": np.sort(_test_papers(paths)),
    }


def _test_papers(paths: Paths) -> NDArray[np.int64]:
    """The test papers in the order in which their rows are stored."""
    path = paths["ind.cora.test.index"]
    papers = read_integers(path, range(PAPERS - TEST, PAPERS), expected=TEST)[:, 0]
    if np.unique(papers).size != TEST:
        raise FileFormatError("a paper is listed twice", file=path)
    return papers
