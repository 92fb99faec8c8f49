"""Every way to predict labels, one per file, behind one estimator face."""

from gramme.methods.base import NodeClassifier
from gramme.methods.gramme_fusion import GrammeFusion
from gramme.methods.gramme_sg import GrammeSG
from gramme.methods.registry import METHODS, Method, load, method, names

__all__ = [
    "METHODS",
    "GrammeFusion",
    "GrammeSG",
    "Method",
    "NodeClassifier",
    "load",
    "method",
    "names",
]
