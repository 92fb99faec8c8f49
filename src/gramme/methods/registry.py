"""Every method by its name, for the command line and the benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gramme.errors import DataError, FileFormatError, did_you_mean
from gramme.methods.base import NodeClassifier
from gramme.methods.gramme_fusion import GrammeFusion
from gramme.methods.gramme_sg import GrammeSG
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
        Method("gramme-fusion", GrammeFusion, "attention within each layer, layers fused"),
        Method("gramme-sg", GrammeSG, "attention on the supra graph of all layers"),
    )
}


def names() -> list[str]:
    """The names of all methods.

    >>> names()
    ['gramme-fusion', 'gramme-sg']
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
        model = kinds[name](**parameters)
        model._restore(learned)
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
        raise broken(path, error) from error
    return model
