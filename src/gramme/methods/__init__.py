"""Every way to predict labels, one per file, behind one interface.

Start reading with ``base.py``, which runs every fit. Each family has a folder: ``attention``, ``propagation``,
``linear``, ``embedding``, ``peers``, and ``auto``, the mixture of the others. ``registry.py`` lists all by name.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .registry import METHODS, Method, load, method, names, register_method

if TYPE_CHECKING:
    from gramme.methods.attention.gramme_fusion import GrammeFusion
    from gramme.methods.attention.gramme_sg import GrammeSG
    from gramme.methods.auto.gramme_auto import GrammeAuto
    from gramme.methods.auto.ingredients import Ingredient, register_ingredient
    from gramme.methods.boosting.table_boosting import TableBoosting
    from gramme.methods.embedding.deepwalk import DeepWalk, Node2Vec
    from gramme.methods.embedding.line import LINE
    from gramme.methods.embedding.mne import MNE
    from gramme.methods.embedding.pmne import PMNECoanalysis, PMNENetwork, PMNEResults
    from gramme.methods.linear.label_shares import LabelShares
    from gramme.methods.linear.neighbourhood_logistic import NeighbourhoodLogistic
    from gramme.methods.linear.one_hot_logistic import OneHotLogistic
    from gramme.methods.linear.spectral_logistic import SpectralLogistic
    from gramme.methods.peers.networks import GAT, HAN, RGCN
    from gramme.methods.propagation.label_propagation import LabelPropagation
    from gramme.methods.regression.gramme_regressor import GrammeRegressor

    from .base import NodeClassifier
    from .majority import Majority
    from .multilabel import MultiLabelClassifier
    from .sklearn_adapter import NodeIndexClassifier

_HOMES = {
    "GrammeRegressor": "gramme.methods.regression.gramme_regressor",
    "Ingredient": "gramme.methods.auto.ingredients",
    "MultiLabelClassifier": "gramme.methods.multilabel",
    "NeighbourhoodLogistic": "gramme.methods.linear.neighbourhood_logistic",
    "NodeClassifier": "gramme.methods.base",
    "NodeIndexClassifier": "gramme.methods.sklearn_adapter",
    "SpectralLogistic": "gramme.methods.linear.spectral_logistic",
    "register_ingredient": "gramme.methods.auto.ingredients",
}
"""Where a name is defined that belongs to no registered method."""

__all__ = [
    "GAT",
    "HAN",
    "LINE",
    "METHODS",
    "MNE",
    "RGCN",
    "DeepWalk",
    "GrammeAuto",
    "GrammeFusion",
    "GrammeRegressor",
    "GrammeSG",
    "Ingredient",
    "LabelPropagation",
    "LabelShares",
    "Majority",
    "Method",
    "MultiLabelClassifier",
    "NeighbourhoodLogistic",
    "Node2Vec",
    "NodeClassifier",
    "NodeIndexClassifier",
    "OneHotLogistic",
    "PMNECoanalysis",
    "PMNENetwork",
    "PMNEResults",
    "SpectralLogistic",
    "TableBoosting",
    "load",
    "method",
    "names",
    "register_ingredient",
    "register_method",
]


# Hidden from type checkers, which would otherwise take any name for one of the package.
if not TYPE_CHECKING:

    def __getattr__(name):
        """A class, imported now and kept: a list of all methods needs none of them."""
        places = (each.place for each in METHODS.values() if isinstance(each.place, str))
        homes = _HOMES | {last: module for module, _, last in (each.rpartition(".") for each in places)}
        if name not in homes:
            raise AttributeError(f"module 'gramme.methods' has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(homes[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
