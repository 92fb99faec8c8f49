"""Semi-supervised learning on multi-layered graphs: one set of nodes, many kinds of relation, a few known labels."""

from gramme import datasets
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

__version__ = "0.1.0"

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
