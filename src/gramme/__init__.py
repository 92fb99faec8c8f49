"""Semi-supervised learning on multi-layered graphs: one set of nodes, many kinds of relation, a few known labels.

Everything below but the errors is imported when it is first used: torch takes seconds to load, and reading a file or
printing ``gramme --help`` needs none of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._version import __version__
from .errors import DataError, FileFormatError, GrammeError, GrammeWarning, LossyFormatWarning, MissingExtraError

if TYPE_CHECKING:
    from . import datasets
    from . import distributed as distributed
    from . import evaluation as evaluation
    from . import graph as graph
    from . import grouping as grouping
    from . import io as io
    from . import links as links
    from . import methods as methods
    from . import nn as nn
    from . import ops as ops
    from . import plots as plots
    from . import ranking as ranking
    from . import report as report
    from . import training as training
    from .graph import Coupling, EdgeLayer, MembershipLayer, MultilayerGraph
    from .grouping import ask, groups
    from .io import read, write
    from .links import GrammeLinks
    from .methods import GrammeAuto, GrammeFusion, GrammeRegressor, GrammeSG, MultiLabelClassifier, load
    from .ranking import rank

_PACKAGES = (
    "graph", "io", "datasets", "ops", "nn", "training", "distributed", "methods", "ranking", "grouping", "links",
    "evaluation", "plots", "report",
)  # fmt: skip
_NAMES = {
    "gramme.graph": ("Coupling", "EdgeLayer", "MembershipLayer", "MultilayerGraph"),
    "gramme.io": ("read", "write"),
    "gramme.methods": ("GrammeAuto", "GrammeFusion", "GrammeRegressor", "GrammeSG", "MultiLabelClassifier", "load"),
    "gramme.links": ("GrammeLinks",),
    "gramme.ranking": ("rank",),
    "gramme.grouping": ("ask", "groups"),
}
_DEFINED_IN = {name: package for package, names in _NAMES.items() for name in names}
"""Where each name that is imported on first use is defined."""

__all__ = [
    "Coupling",
    "DataError",
    "EdgeLayer",
    "FileFormatError",
    "GrammeAuto",
    "GrammeError",
    "GrammeFusion",
    "GrammeLinks",
    "GrammeRegressor",
    "GrammeSG",
    "GrammeWarning",
    "LossyFormatWarning",
    "MembershipLayer",
    "MissingExtraError",
    "MultiLabelClassifier",
    "MultilayerGraph",
    "__version__",
    "datasets",
    "ask",
    "groups",
    "load",
    "rank",
    "read",
    "write",
]

# Hidden from type checkers, which would otherwise take any name for one of the package.
if not TYPE_CHECKING:

    def __getattr__(name):
        """A package or a public name, imported now and kept."""
        if name in _PACKAGES:
            return import_module(f"gramme.{name}")
        if name not in _DEFINED_IN:
            raise AttributeError(f"module 'gramme' has no attribute {name!r}")
        value = getattr(import_module(_DEFINED_IN[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES, "errors"})
