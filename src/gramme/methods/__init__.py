"""Every way to predict labels, one per file, behind one estimator face."""

from gramme.methods.attention.gramme_fusion import GrammeFusion
from gramme.methods.attention.gramme_sg import GrammeSG
from gramme.methods.auto.gramme_auto import GrammeAuto
from gramme.methods.base import NodeClassifier
from gramme.methods.embedding.deepwalk import DeepWalk
from gramme.methods.embedding.line import LINE
from gramme.methods.embedding.mne import MNE
from gramme.methods.embedding.node2vec import Node2Vec
from gramme.methods.embedding.pmne import PMNECoanalysis, PMNENetwork, PMNEResults
from gramme.methods.linear.one_hot_logistic import OneHotLogistic
from gramme.methods.majority import Majority
from gramme.methods.peers.gat import GAT
from gramme.methods.peers.han import HAN
from gramme.methods.peers.rgcn import RGCN
from gramme.methods.propagation.label_propagation import LabelPropagation
from gramme.methods.registry import METHODS, Method, load, method, names
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
