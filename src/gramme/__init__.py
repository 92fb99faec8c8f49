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

_ROOMS = (
    "graph",
    "io",
    "datasets",
    "ops",
    "nn",
    "training",
    "distributed",
    "methods",
    "ranking",
    "grouping",
    "links",
    "evaluation",
    "plots",
    "report",
)
_HOMES = {
    "Coupling": "gramme.graph",
    "EdgeLayer": "gramme.graph",
    "GrammeAuto": "gramme.methods",
    "GrammeFusion": "gramme.methods",
    "GrammeLinks": "gramme.links",
    "GrammeRegressor": "gramme.methods",
    "MultiLabelClassifier": "gramme.methods",
    "GrammeSG": "gramme.methods",
    "MembershipLayer": "gramme.graph",
    "MultilayerGraph": "gramme.graph",
    "load": "gramme.methods",
    "ask": "gramme.grouping",
    "groups": "gramme.grouping",
    "rank": "gramme.ranking",
    "read": "gramme.io",
    "write": "gramme.io",
}
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
        """A room or a public name, imported now and kept."""
        if name in _ROOMS:
            return import_module(f"gramme.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module 'gramme' has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS, "errors"})
