"""A dataset as one word of the command line, with its options: ``acm_heco:view=relations``."""

from __future__ import annotations

from inspect import signature
from typing import Any

from gramme import datasets
from gramme.cli.settings import value_from_text
from gramme.datasets.registry import REGISTRY
from gramme.errors import DataError, did_you_mean
from gramme.graph import MultilayerGraph


def is_dataset(word: str) -> bool:
    """Whether a word names a dataset, perhaps with options.

    >>> is_dataset("synthetic:nodes=50"), is_dataset("sqlite:school.db")
    (True, False)
    """
    return word.partition(":")[0] in REGISTRY


def load_dataset(word: str) -> MultilayerGraph:
    """The graph of a dataset's name and, after colons, its options; the name of an only option may be left out.

    >>> load_dataset("synthetic:nodes=50:layers=2")
    MultilayerGraph('synthetic', 50 nodes, 2 layers: layer 1 196 edges, layer 2 212 edges, 3 classes on 50 nodes)
    """
    name, *texts = word.split(":")
    return datasets.load(name, **_options(name, texts))


def _options(name: str, texts: list[str]) -> dict[str, Any]:
    accepted = signature(REGISTRY[name].build).parameters
    known = {option: accepted[option].default for option in datasets.info(name).options}
    found: dict[str, Any] = {}
    for text in texts:
        option, sign, value = text.partition("=")
        if not sign and len(known) == 1:
            option, value = next(iter(known)), text
        elif not sign:
            like = next(iter(known), None)
            hint = "it has none" if like is None else f"write it like {name}:{like}=VALUE"
            raise DataError(f"{text!r} is not an option of the dataset {name!r}; {hint}")
        if option not in known:
            hint = did_you_mean(option, known) if known else "it has none"
            raise DataError(f"the dataset {name!r} has no option {option!r}; {hint}")
        if option in found:
            raise DataError(f"the option {option!r} of the dataset {name!r} is named twice")
        said = f"{name}:{option}={value}"
        found[option] = value_from_text(said, option, value.strip(), known[option])
        if isinstance(found[option], dict):
            raise DataError(f"{said}: {option} must be a single value")
    return found
