"""The ingredients of the regression: each tells groups apart, predicts another graph, and keeps folds apart."""

import numpy as np
import pytest

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.regression.base import KnownNumbers, NodeRegressor
from gramme.methods.regression.ingredients import INGREDIENTS

SETTINGS = {"ensemble": 1, "epochs": 60, "features": None, "progress": False, "device": "cpu"}
CODES = np.arange(80) % 4
GRAPH = MultilayerGraph({"kind": MembershipLayer.from_codes(CODES)})
KNOWN = KnownNumbers(np.arange(0, 80, 3), CODES[::3] * 5.0)


def made(name: str) -> NodeRegressor:
    return INGREDIENTS[name].make(SETTINGS, 0)


@pytest.mark.parametrize("name", INGREDIENTS)
def test_each_tells_groups_apart_here_and_in_another_graph(name: str) -> None:
    model = made(name).fit(GRAPH, KNOWN)
    assert isinstance(model, INGREDIENTS[name].estimator)
    assert np.corrcoef(model.predict(), CODES)[0, 1] > 0.9
    some = np.arange(20, 60)
    part = model.predict(GRAPH.subgraph(GRAPH.nodes[some]))
    assert np.corrcoef(part, CODES[some])[0, 1] > 0.9
    same = model.predict(GRAPH.subgraph(GRAPH.nodes))
    assert np.allclose(same, model.predict(), atol=1e-3)


@pytest.mark.parametrize("name", INGREDIENTS)
def test_what_is_said_of_a_fold_does_not_depend_on_its_numbers(name: str) -> None:
    fold = np.arange(KNOWN.nodes.size) % 3
    unseen = made(name).fit_with_folds(GRAPH, KNOWN, fold)
    assert unseen.shape == KNOWN.values.shape
    moved = KnownNumbers(KNOWN.nodes, np.where(fold == 1, 100.0, KNOWN.values))
    again = made(name).fit_with_folds(GRAPH, moved, fold)
    assert np.allclose(unseen[fold == 1], again[fold == 1])
    assert not np.allclose(unseen[fold == 0], again[fold == 0])


def test_large_graphs_do_without_what_would_take_hours() -> None:
    assert all(one.applies(GRAPH) for one in INGREDIENTS.values())
    wide = MultilayerGraph({"a": EdgeLayer(5_000_000, [0], [1])})
    assert [name for name, one in INGREDIENTS.items() if one.applies(wide)] == [
        "propagation",
        "groups-ridge",
    ]
