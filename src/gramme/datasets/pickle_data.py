"""Read a pickle as data: its opcodes are interpreted here, and nothing in the file is ever called or built.

Python's own unpickler runs what a file tells it to, and even one that admits only numpy's names lets a file declare a
dtype with object fields, whose bytes then become pointers. Here the opcodes are a list of instructions for a stack of
plain values. A class or a function is a mere name; calling it leaves a record of the call.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


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
_NUMBERS = {"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"}
_TEXTS = {"STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE"}
_BYTES = {"BINBYTES", "SHORT_BINBYTES", "BINBYTES8"}
_VALUES = _NUMBERS | _TEXTS | _BYTES
_EMPTY: dict[str, Callable[[], Any]] = {
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = frozenset({"PROTO", "FRAME"})


def read_pickle(content: bytes, admitted: frozenset[str]) -> Any:
    """The value in a pickle, made of plain values, :class:`Name` and :class:`Call`.

    Parameters
    ----------
    content : bytes
    admitted : frozenset of str
        The names a file may mention, such as ``"numpy.dtype"``; any other raises :class:`RefusedError`.

    Examples
    --------
    >>> import pickle
    >>> read_pickle(pickle.dumps({"a": [1, 2.5]}), frozenset())
    {'a': [1, 2.5]}
    """
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
            stack.append(
                _pairs(values) if name == "DICT" else tuple(values) if name == "TUPLE" else values
            )
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
