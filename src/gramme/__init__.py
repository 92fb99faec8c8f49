"""Semi-supervised learning on multi-layered graphs: one set of nodes, many kinds of relation, a few known labels."""

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
from gramme.methods import GrammeFusion, GrammeSG, load

__all__ = [
    "DataError",
    "EdgeLayer",
    "FileFormatError",
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
