"""Every method by its name, for the command line and the benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gramme.errors import DataError, FileFormatError, did_you_mean

if TYPE_CHECKING:
    from gramme.methods.regression.gramme_regressor import GrammeRegressor

    from .base import NodeClassifier


@dataclass(frozen=True)
class Method:
    """A registered method: its class, a line about it, and the extra it needs, if any.

    The class may be named by its place, ``package.module.Class``; it is then imported when it is first asked for.
    """

    name: str
    place: type[NodeClassifier] | str
    about: str
    extra: str | None = None

    @property
    def class_name(self) -> str:
        """The name of the class, which model files go by; known without importing it."""
        return self.place.rpartition(".")[2] if isinstance(self.place, str) else self.place.__name__

    @property
    def estimator(self) -> type[NodeClassifier]:
        """The class."""
        if not isinstance(self.place, str):
            return self.place
        module, _, name = self.place.rpartition(".")
        found: type[NodeClassifier] = getattr(import_module(module), name)
        return found


METHODS = {
    method.name: method
    for method in (
        Method(
            "gramme-auto",
            "gramme.methods.auto.gramme_auto.GrammeAuto",
            "a mixture of the best, weighed by the labels themselves",
        ),
        Method(
            "gramme-fusion",
            "gramme.methods.attention.gramme_fusion.GrammeFusion",
            "attention within each layer, layers fused",
        ),
        Method(
            "gramme-sg",
            "gramme.methods.attention.gramme_sg.GrammeSG",
            "attention on the supra graph of all layers",
        ),
        Method(
            "deepwalk",
            "gramme.methods.embedding.deepwalk.DeepWalk",
            "random walks per layer, skip-gram, averaged",
            "walks",
        ),
        Method(
            "node2vec",
            "gramme.methods.embedding.deepwalk.Node2Vec",
            "biased random walks per layer, averaged",
            "walks",
        ),
        Method(
            "line",
            "gramme.methods.embedding.line.LINE",
            "first- and second-order proximity per layer, averaged",
        ),
        Method(
            "pmne-n",
            "gramme.methods.embedding.pmne.PMNENetwork",
            "node2vec on all layers merged",
            "walks",
        ),
        Method(
            "pmne-r",
            "gramme.methods.embedding.pmne.PMNEResults",
            "node2vec per layer, side by side",
            "walks",
        ),
        Method(
            "pmne-c",
            "gramme.methods.embedding.pmne.PMNECoanalysis",
            "node2vec on walks that hop between layers",
            "walks",
        ),
        Method(
            "mne",
            "gramme.methods.embedding.mne.MNE",
            "a common embedding plus a small one per layer",
        ),
        Method(
            "label-propagation",
            "gramme.methods.propagation.label_propagation.LabelPropagation",
            "known labels spread over all layers",
        ),
        Method(
            "gat",
            "gramme.methods.peers.networks.GAT",
            "graph attention network on the union of the layers",
            "pyg",
        ),
        Method(
            "rgcn",
            "gramme.methods.peers.networks.RGCN",
            "relational graph convolutions, one relation per layer",
            "pyg",
        ),
        Method(
            "han",
            "gramme.methods.peers.networks.HAN",
            "attention within each layer, then over the layers",
            "pyg",
        ),
        Method(
            "one-hot-logistic",
            "gramme.methods.linear.one_hot_logistic.OneHotLogistic",
            "logistic regression on the nodes' groups",
        ),
        Method(
            "label-shares",
            "gramme.methods.linear.label_shares.LabelShares",
            "what neighbours' labels say, learned per layer and direction",
        ),
        Method(
            "boosting",
            "gramme.methods.boosting.table_boosting.TableBoosting",
            "boosted trees on numbers and on statistics of groups",
        ),
        Method(
            "majority", "gramme.methods.majority.Majority", "the most frequent class for everybody"
        ),
    )
}


METHODS_IN_PARTS = (
    "gramme-auto",
    "gramme-fusion",
    "gramme-sg",
    "label-propagation",
    "one-hot-logistic",
    "majority",
)
"""Methods that several processes can fit together, each on its part of a graph."""


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


def register_method(new: Method) -> Method:
    """Make a method known by its name: to the command line, to the benchmark, and to :func:`load`."""
    METHODS[new.name] = new
    return new


def load(path: Any) -> NodeClassifier | GrammeRegressor:
    """Read a model that was saved with ``save``: of classes, or a :class:`GrammeRegressor`.

    Raises
    ------
    FileFormatError
        Where the file is damaged, or holds anything that is not part of a model: the message names it.
    """
    from .persistence import broken, read_model

    name, parameters, learned = read_model(path)
    found = next((one for one in METHODS.values() if one.class_name == name), None)
    if name == "GrammeLinks":
        raise FileFormatError(
            "holds a model of links; read it with gramme.GrammeLinks.load", file=path
        )
    if found is None and name != "GrammeRegressor":
        raise FileFormatError(f"holds a model of the unknown kind {name!r}", file=path)
    try:
        if found is not None:
            return found.estimator._restored(parameters, learned)
        from gramme.methods.regression.gramme_regressor import GrammeRegressor

        return GrammeRegressor._restored(parameters, learned)
    except Exception as error:  # whatever its content sets off is the file's fault
        raise broken(path, error) from error
