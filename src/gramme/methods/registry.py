"""Every method by its name, for the command line and the benchmark."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from gramme.errors import DataError, FileFormatError, GrammeWarning, did_you_mean

if TYPE_CHECKING:
    from gramme.methods.regression.gramme_regressor import GrammeRegressor

    from .base import NodeClassifier
    from .multilabel import MultiLabelClassifier


@dataclass(frozen=True)
class Method:
    """A registered method: its class, a line about it, the extra it needs, and the other package it is from, if any.

    The class may be named by its place, ``package.module.Class``; it is then imported when it is first asked for.
    With a ``preset``, the method is the class with those of its settings that go by this name.
    """

    name: str
    place: type[NodeClassifier] | str
    about: str
    extra: str | None = None
    preset: str | None = None
    package: str | None = None

    @property
    def class_name(self) -> str:
        """The name of the class, which model files go by; known without importing it."""
        return self.place.rpartition(".")[2] if isinstance(self.place, str) else self.place.__name__

    @property
    def estimator(self) -> type[NodeClassifier]:
        """The class."""
        if not isinstance(self.place, str):
            return self.place
        module_name, _, class_name = self.place.rpartition(".")
        try:
            method_class: type[NodeClassifier] = getattr(import_module(module_name), class_name)
        except Exception as error:
            if self.package is None:
                raise
            raise DataError(
                f"the method {self.name} of the package {self.package} cannot be loaded: {error}"
            ) from error
        return method_class

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters in which it differs from the defaults of its class."""
        presets: Any = {} if self.preset is None else self.estimator.presets[self.preset]
        return dict(presets)

    def create(self, **changed: Any) -> NodeClassifier:
        """The method with some parameters changed."""
        return self.estimator(**{**self.settings, **changed})


_LISTED: tuple[tuple[Any, ...], ...] = (
    ("gramme-auto", "auto.gramme_auto.GrammeAuto", "a mixture of the best, weighed by the labels themselves"),
    ("gramme-fusion", "attention.gramme_fusion.GrammeFusion", "attention within each layer, layers fused"),
    ("gramme-sg", "attention.gramme_sg.GrammeSG", "attention on the supra graph of all layers"),
    *(
        (f"{name}-{preset}", f"attention.{name.replace('-', '_')}.{title}", f"{about} with {words}", None, preset)
        for preset, words in (("paper", "the settings of the paper"), ("authors", "the settings of its authors' code"))
        for name, title, about in (
            ("gramme-fusion", "GrammeFusion", "GrAMME-Fusion"),
            ("gramme-sg", "GrammeSG", "GrAMME-SG"),
        )
    ),
    ("deepwalk", "embedding.deepwalk.DeepWalk", "random walks per layer, skip-gram, averaged", "walks"),
    ("node2vec", "embedding.deepwalk.Node2Vec", "biased random walks per layer, averaged", "walks"),
    ("line", "embedding.line.LINE", "first- and second-order proximity per layer, averaged"),
    ("pmne-n", "embedding.pmne.PMNENetwork", "node2vec on all layers merged", "walks"),
    ("pmne-r", "embedding.pmne.PMNEResults", "node2vec per layer, side by side", "walks"),
    ("pmne-c", "embedding.pmne.PMNECoanalysis", "node2vec on walks that hop between layers", "walks"),
    ("mne", "embedding.mne.MNE", "a common embedding plus a small one per layer"),
    ("label-propagation", "propagation.label_propagation.LabelPropagation", "known labels spread over all layers"),
    ("gat", "peers.networks.GAT", "graph attention network on the union of the layers", "pyg"),
    ("rgcn", "peers.networks.RGCN", "relational graph convolutions, one relation per layer", "pyg"),
    ("han", "peers.networks.HAN", "attention within each layer, then over the layers", "pyg"),
    ("one-hot-logistic", "linear.one_hot_logistic.OneHotLogistic", "logistic regression on the nodes' groups"),
    ("label-shares", "linear.label_shares.LabelShares", "what neighbours' labels say, learned per layer and direction"),
    ("boosting", "boosting.table_boosting.TableBoosting", "boosted trees on numbers and on statistics of groups"),
    ("majority", "majority.Majority", "the most frequent class for everybody"),
)
METHODS: dict[str, Method] = {
    name: Method(name, f"gramme.methods.{place}", about, *more) for name, place, about, *more in _LISTED
}
"""All methods by name: those of gramme, and those that installed packages name in the entry point group
``gramme.methods``, as in ``my-method = "my_package.module:MyMethod"``."""


def _add_methods_of_packages() -> None:
    for point in entry_points(group="gramme.methods"):
        package_name = "an installed package" if point.dist is None else point.dist.name
        if point.name in METHODS:
            warnings.warn(
                f"{package_name} names a method {point.name!r}, which gramme has already; it is left out",
                GrammeWarning,
                stacklevel=2,
            )
            continue
        class_path = point.value.split(" ")[0].replace(":", ".")
        METHODS[point.name] = Method(point.name, class_path, f"from the package {package_name}", package=package_name)


_add_methods_of_packages()


METHODS_IN_PARTS = ("gramme-auto", "gramme-fusion", "gramme-sg", "label-propagation", "one-hot-logistic", "majority")
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


def load(path: Any) -> NodeClassifier | GrammeRegressor | MultiLabelClassifier:
    """Read a model that was saved with ``save``: of classes, a :class:`GrammeRegressor` or a MultiLabelClassifier.

    Raises
    ------
    FileFormatError
        Where the file is damaged, or holds anything that is not part of a model: the message names it.
    """
    from .persistence import broken, read_model

    name, parameters, learned = read_model(path)
    is_multilabel = name == "MultiLabelClassifier"
    if is_multilabel:
        name = str(learned.record.get("estimator"))
    known_method = next((one for one in METHODS.values() if one.class_name == name), None)
    if name == "GrammeLinks":
        raise FileFormatError("holds a model of links; read it with gramme.GrammeLinks.load", file=path)
    if known_method is None and name != "GrammeRegressor":
        raise FileFormatError(f"holds a model of the unknown kind {name!r}", file=path)
    try:
        if known_method is not None and is_multilabel:
            from .multilabel import MultiLabelClassifier

            return MultiLabelClassifier._restored(known_method.estimator, parameters, learned)
        if known_method is not None:
            return known_method.estimator._restored(parameters, learned)
        from gramme.methods.regression.gramme_regressor import GrammeRegressor

        return GrammeRegressor._restored(parameters, learned)
    except Exception as error:  # whatever its content sets off is the file's fault
        raise broken(path, error) from error
