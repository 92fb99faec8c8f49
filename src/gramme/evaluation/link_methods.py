"""Ways to score pairs that a benchmark of links compares: GrammeLinks, each ingredient alone, a plain regression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gramme.errors import DataError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.links import Evidence, GrammeLinks, column_names
from gramme.links.evidence import in_words
from gramme.links.examples import rounds
from gramme.links.mixture import Line
from gramme.links.pair_scores import entries
from gramme.links.whole_graph import Gathered, WholeGraph

Pairs = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinkMethod:
    """A way to score pairs of a layer from a graph that lacks the edges to be found."""

    name: str
    summary: str
    score: Callable[[MultilayerGraph, str, Pairs, int], Floats]
    probabilities: bool = False
    """Whether scores are probabilities, whose calibration can be judged."""


def _gramme_links(graph: MultilayerGraph, layer: str, pairs: Pairs, seed: int) -> Floats:
    model = GrammeLinks(random_state=seed).fit(graph)
    named = np.column_stack([graph.nodes[pairs[:, 0]], graph.nodes[pairs[:, 1]]])
    return model.predict_proba(layer, named.tolist())


def _cross_layer_logistic(graph: MultilayerGraph, layer: str, pairs: Pairs, seed: int) -> Floats:
    """Logistic regression on which other layers link a pair, common neighbours in each layer, and degrees."""
    rows, linked = [], []
    for one in rounds(graph, layer, np.random.default_rng([seed, 1])):
        for part, answer in ((one.linked, True), (one.unlinked, False)):
            rows.append(_simple_rows(one.graph, layer, part))
            linked.append(np.full(len(part), answer))
    line = Line.fitted(np.concatenate(rows), np.concatenate(linked), strength=1.0)
    found: Floats = expit(line.log_odds(_simple_rows(graph, layer, pairs)))
    return found


def _simple_rows(graph: MultilayerGraph, layer: str, pairs: Pairs) -> Floats:
    columns = []
    for name, one in graph.layers.items():
        matrix = one.to_scipy()
        if name != layer:
            columns.append(entries(matrix, pairs))
        common = matrix[pairs[:, 0]].multiply(matrix[pairs[:, 1]]).sum(axis=1)
        columns.append(np.log1p(np.asarray(common).ravel()))
        columns.append(np.log1p(one.degrees()[pairs]).sum(axis=1))
    return np.column_stack(columns)


@dataclass(frozen=True)
class _Ingredient:
    """One piece of evidence alone; a class, so that it can be sent to another process."""

    column: str

    def __call__(self, graph: MultilayerGraph, layer: str, pairs: Pairs, seed: int) -> Floats:
        gathered = Gathered(attention=self.column == "attention", seed=seed)
        evidence = Evidence(graph, layer, WholeGraph.of(graph, gathered))
        found: Floats = evidence.of(pairs)[:, column_names().index(self.column)]
        return -found if self.column == "attributes_far" else found


LINK_METHODS: dict[str, LinkMethod] = {
    one.name: one
    for one in (
        LinkMethod("gramme-links", "all evidence, weighed", _gramme_links, probabilities=True),
        LinkMethod(
            "cross-layer-logistic",
            "logistic regression on links, common neighbours and degrees in each layer",
            _cross_layer_logistic,
            probabilities=True,
        ),
        *(
            LinkMethod(name.replace("_", "-"), in_words(name), _Ingredient(name))
            for name in column_names()
        ),
    )
}
DEFAULT_LINK_METHODS = (
    "gramme-links",
    "cross-layer-logistic",
    "own-adamic-adar",
    "own-resource-allocation",
    "own-paths-normalised",
    "all-paths-normalised",
    "own-attachment",
    "repeated",
    "walks-5",
    "walks-near",
    "attention",
)


def link_method(name: str) -> LinkMethod:
    """A method by its name, or an error that suggests the nearest one."""
    if name not in LINK_METHODS:
        raise DataError(
            f"there is no way {name!r} to predict links; {did_you_mean(name, LINK_METHODS)}"
        )
    return LINK_METHODS[name]
