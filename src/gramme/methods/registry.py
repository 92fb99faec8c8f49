"""Every method by its name, for the command line and the benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gramme.errors import DataError, FileFormatError, did_you_mean
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
from gramme.methods.saving import broken, read_model


@dataclass(frozen=True)
class Method:
    """A registered method: its class, a line about it, and the extra it needs, if any."""

    name: str
    estimator: type[NodeClassifier]
    about: str
    extra: str | None = None


METHODS = {
    method.name: method
    for method in (
        Method(
            "gramme-auto", GrammeAuto, "a mixture of the best, weighed by the labels themselves"
        ),
        Method("gramme-fusion", GrammeFusion, "attention within each layer, layers fused"),
        Method("gramme-sg", GrammeSG, "attention on the supra graph of all layers"),
        Method("deepwalk", DeepWalk, "random walks per layer, skip-gram, averaged", "walks"),
        Method("node2vec", Node2Vec, "biased random walks per layer, averaged", "walks"),
        Method("line", LINE, "first- and second-order proximity per layer, averaged"),
        Method("pmne-n", PMNENetwork, "node2vec on all layers merged", "walks"),
        Method("pmne-r", PMNEResults, "node2vec per layer, side by side", "walks"),
        Method("pmne-c", PMNECoanalysis, "node2vec on walks that hop between layers", "walks"),
        Method("mne", MNE, "a common embedding plus a small one per layer"),
        Method("label-propagation", LabelPropagation, "known labels spread over all layers"),
        Method("gat", GAT, "graph attention network on the union of the layers", "pyg"),
        Method("rgcn", RGCN, "relational graph convolutions, one relation per layer", "pyg"),
        Method("han", HAN, "attention within each layer, then over the layers", "pyg"),
        Method("one-hot-logistic", OneHotLogistic, "logistic regression on the nodes' groups"),
        Method("majority", Majority, "the most frequent class for everybody"),
    )
}


def names() -> list[str]:
    """The names of all methods.

    >>> names()[:2]
    ['gramme-auto', 'gramme-fusion']
    """
    return list(METHODS)


def method(name: str) -> Method:
    """A method by its name, or an error that suggests the nearest one."""
    if name not in METHODS:
        raise DataError(f"there is no method {name!r}; {did_you_mean(name, METHODS)}")
    return METHODS[name]


def load(path: Any) -> NodeClassifier:
    """Read a model that was saved with ``save``."""
    name, parameters, learned = read_model(path)
    kinds = {one.estimator.__name__: one.estimator for one in METHODS.values()}
    if name not in kinds:
        raise FileFormatError(f"holds a model of the unknown kind {name!r}", file=path)
    try:
        return kinds[name]._restored(parameters, learned)
    except Exception as error:  # whatever its content sets off is the file's fault
        raise broken(path, error) from error
