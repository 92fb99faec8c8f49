"""Every way to predict labels, one per file, behind one estimator face."""

from gramme.methods.base import NodeClassifier
from gramme.methods.deepwalk import DeepWalk
from gramme.methods.gat import GAT
from gramme.methods.gramme_auto import GrammeAuto
from gramme.methods.gramme_fusion import GrammeFusion
from gramme.methods.gramme_sg import GrammeSG
from gramme.methods.han import HAN
from gramme.methods.label_propagation import LabelPropagation
from gramme.methods.line import LINE
from gramme.methods.majority import Majority
from gramme.methods.mne import MNE
from gramme.methods.node2vec import Node2Vec
from gramme.methods.one_hot_logistic import OneHotLogistic
from gramme.methods.pmne import PMNECoanalysis, PMNENetwork, PMNEResults
from gramme.methods.registry import METHODS, Method, load, method, names
from gramme.methods.rgcn import RGCN
from gramme.methods.sklearn_adapter import NodeIndexClassifier

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
    "GrammeSG",
    "LabelPropagation",
    "Majority",
    "Method",
    "Node2Vec",
    "NodeClassifier",
    "NodeIndexClassifier",
    "OneHotLogistic",
    "PMNECoanalysis",
    "PMNENetwork",
    "PMNEResults",
    "load",
    "method",
    "names",
]
