"""The ingredients of the regression: each tells groups apart, predicts another graph, and keeps folds apart."""

from typing import Any

import numpy as np
import pytest

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.auto.ingredients import Recipe, names_for, too_large_for
from gramme.methods.regression.base import KnownNumbers, NodeRegressor
from gramme.methods.regression.ingredients import (
    INGREDIENTS,
    GroupsRidge,
    NumberPropagation,
    TriedRegressor,
    WalksRidge,
)


class Constant(TriedRegressor):
    """Says its setting of everybody."""

    def _settings(self) -> tuple[float, ...]:
        return (0.0, 1.0)

    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> int:
        return graph.num_nodes

    def _solved(self, table: int, known: KnownNumbers, setting: float) -> tuple[Any, dict[str, Any]]:
        return np.full(table, setting), {"setting_": setting}

    def _inductive(self, graph: MultilayerGraph) -> Any:
        return np.full(graph.num_nodes, self.setting_)


TRIED_GRAPH = MultilayerGraph({"a": EdgeLayer(9, [0], [1])})


def test_few_labels_take_the_first_setting() -> None:
    assert Constant()._chosen(9, KnownNumbers(np.arange(3), np.ones(3))) == 0
    assert Constant()._chosen(9, KnownNumbers(np.arange(6), np.ones(6))) == 1


def test_every_fold_makes_its_own_choice() -> None:
    values = np.array([1.0] * 6 + [0.0] * 3)
    model = Constant()
    unseen = model.fit_with_folds(TRIED_GRAPH, KnownNumbers(np.arange(9), values), np.arange(9) // 3)
    assert model.setting_ == 1
    assert unseen.tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1]


def test_features_are_columns_too() -> None:
    features = np.random.default_rng(0).normal(5, 3, size=(60, 1))
    graph = MultilayerGraph({"a": EdgeLayer(60, [0], [1])}, features=features)
    known = KnownNumbers(np.arange(30), 4 * features[:30, 0])
    model = GroupsRidge(penalty=0.1).fit(graph, known)
    assert np.allclose(model.predict(), 4 * features[:, 0], atol=0.3)
    assert np.allclose(model.predict(graph.subgraph(graph.nodes[40:])), model.predict()[40:])
    with pytest.raises(DataError, match="needs 1 features per node; the graph has 0"):
        model.predict(graph.replace(features=None))


def test_groups_are_known_by_their_names() -> None:
    kinds = np.array(list("abcd"))
    codes = np.arange(40) % 4
    graph = MultilayerGraph({"kind": MembershipLayer.from_codes(codes, kinds)})
    known = KnownNumbers(np.arange(20), codes[:20] * 10.0)
    model = GroupsRidge(penalty=0.1).fit(graph, known)
    other = MultilayerGraph({"kind": MembershipLayer.from_codes([0, 1, 2], ["d", "a", "new"])})
    found = model.predict(other)
    assert found[0] == pytest.approx(30, abs=1)
    assert found[1] == pytest.approx(0, abs=1)
    assert 10 < found[2] < 20


def test_walks_tell_components_apart() -> None:
    edges = [(i, i + 1) for i in range(39) if i != 19]
    graph = MultilayerGraph({"a": EdgeLayer(40, *np.array(edges).T)})
    truth = np.where(np.arange(40) < 20, 1.0, 9.0)
    known = KnownNumbers(np.arange(0, 40, 4), truth[::4])
    found = WalksRidge(penalty=3.0).fit(graph, known).predict()
    assert np.corrcoef(found, truth)[0, 1] > 0.9


PROPAGATION_GRAPH = MultilayerGraph({"a": EdgeLayer(5, [0, 1], [1, 2])}, nodes=list("abcde"))
PROPAGATION_KNOWN = KnownNumbers(np.array([0, 2]), np.array([1.0, 5.0]))


@pytest.mark.parametrize("alpha", [0.3, 0.9])
def test_a_node_that_no_number_reaches_gets_the_mean(alpha: float) -> None:
    found = NumberPropagation(alpha=alpha).fit(PROPAGATION_GRAPH, PROPAGATION_KNOWN).predict()
    assert found[3] == found[4] == 3.0
    assert found[0] < found[1] < found[2]


def test_another_graph_knows_the_numbers_by_the_names() -> None:
    model = NumberPropagation(alpha=0.6).fit(PROPAGATION_GRAPH, PROPAGATION_KNOWN)
    new = MultilayerGraph({"a": EdgeLayer(3, [0], [1])}, nodes=["x", "c", "y"])
    found = model.predict(new)
    assert 3 < found[0] < found[1] < 5
    assert found[2] == 3.0
    strangers = MultilayerGraph({"a": EdgeLayer(2, [0], [1])}, nodes=["x", "y"])
    assert model.predict(strangers).tolist() == [3.0, 3.0]
    assert model._informed(new).tolist() == [True, True, False]
    assert model._informed(strangers).tolist() == [False, False]


SETTINGS = {"ensemble": 1, "epochs": 60, "features": None, "progress": False, "device": "cpu"}
CODES = np.arange(80) % 4
GRAPH = MultilayerGraph({"kind": MembershipLayer.from_codes(CODES)})
KNOWN = KnownNumbers(np.arange(0, 80, 3), CODES[::3] * 5.0)


def made(name: str) -> NodeRegressor:
    model: NodeRegressor = INGREDIENTS[name].made(Recipe(SETTINGS, tuple(INGREDIENTS), KNOWN.nodes.size, 0))
    return model


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
    numbers = GRAPH.replace(features=np.ones((80, 1)))
    assert all(one.applies(numbers) for one in INGREDIENTS.values())
    assert [name for name, one in INGREDIENTS.items() if not one.applies(GRAPH)] == ["boosting"]
    wide = MultilayerGraph({"a": EdgeLayer(5_000_000, [0], [1])})
    assert too_large_for(wide, INGREDIENTS) == ["walks-ridge"]
    assert names_for(wide, None, INGREDIENTS) == ["propagation", "groups-ridge", "attention"]
