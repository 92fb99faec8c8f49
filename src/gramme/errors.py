"""The errors and warnings gramme raises on purpose.

Everything a user can set right is a :class:`GrammeError` whose message names the file, line, layer or node and says
what would be right. The command line prints that one message and ends with exit code 2.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING


class GrammeError(Exception):
    """Base class of all errors a user can set right."""


class DataError(GrammeError, ValueError):
    """The data, or an argument about the data, is not as it must be."""


class FileFormatError(DataError):
    """A file is not what its format asks for.

    Parameters
    ----------
    message : str
        What is wrong and what would be right.
    file : str
        The file as the user named it.
    line : int, optional
        Line in the file, counted from 1.
    """

    def __init__(self, message: str, *, file: object, line: int | None = None) -> None:
        place = f"{file}, line {line}" if line is not None else f"{file}"
        super().__init__(f"{place}: {message}")
        self.file = str(file)
        self.line = line
        self.problem = message


class NoEdgesError(FileFormatError):
    """A file was read as a list of edges, and no columns of it are the ends of edges."""


class MissingExtraError(GrammeError, ImportError):
    """An optional dependency is not installed."""


class GrammeWarning(UserWarning):
    """Base class of gramme's warnings."""


class LossyFormatWarning(GrammeWarning):
    """A file format cannot express a part of the graph, which is left out."""


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or say which extra to install.

    >>> import_extra("math", "none", "to count").__name__
    'math'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{purpose} needs the package {module.partition('.')[0]!r}, which is not installed: "
            f'pip install "gramme[{extra}]"'
        ) from error


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint for a mistyped word: the nearest known one, or the list of all.

    >>> did_you_mean("mamography", ["mammography", "cora"])
    "did you mean 'mammography'?"
    >>> did_you_mean("x", ["b", "a"])
    'known: b, a'
    """
    known = list(known)
    near = difflib.get_close_matches(word, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return "known: " + ", ".join(known)


if TYPE_CHECKING:

    class NotFittedError(GrammeError, ValueError, AttributeError):
        """A method was asked for predictions before it was fitted; also scikit-learn's error of that name."""

else:

    def __getattr__(name):
        """``NotFittedError``, made when it is first asked for: its base class is scikit-learn's, slow to import."""
        if name != "NotFittedError":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        not_fitted = importlib.import_module("sklearn.exceptions").NotFittedError

        told = "A method was asked for predictions before it was fitted; also scikit-learn's error of that name."
        about = {"__doc__": told, "__module__": __name__}
        globals()[name] = found = type(name, (GrammeError, not_fitted), about)
        return found
