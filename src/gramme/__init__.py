"""Semi-supervised learning on multi-layered graphs: one set of nodes, many kinds of relation, a few known labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gramme import datasets
from gramme._version import __version__
from gramme.errors import (
    DataError,
    FileFormatError,
    GrammeError,
    GrammeWarning,
    LossyFormatWarning,
    MissingExtraError,
)
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io import read, write

if TYPE_CHECKING:
    from gramme.methods import GrammeAuto, GrammeFusion, GrammeSG, load

__all__ = [
    "DataError",
    "EdgeLayer",
    "FileFormatError",
    "GrammeAuto",
    "GrammeError",
    "GrammeFusion",
    "GrammeSG",
    "GrammeWarning",
    "LossyFormatWarning",
    "MembershipLayer",
    "MissingExtraError",
    "MultilayerGraph",
    "__version__",
    "datasets",
    "load",
    "read",
    "write",
]


def __getattr__(name: str) -> Any:
    """The methods, imported when first asked for: torch takes seconds to load, and reading a file needs none of it."""
    methods = import_module("gramme.methods")
    if name in methods.__all__:
        return getattr(methods, name)
    raise AttributeError(f"module 'gramme' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
