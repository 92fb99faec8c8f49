"""The base of all methods: the order of a fit, the score, copies, and what a method of one's own must write."""

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn.exceptions
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import is_classifier
from tests.graph.permuted import permuted
from tests.methods.graphs import PINNED, half_known, planted

import gramme
from gramme.errors import DataError, GrammeError, GrammeWarning, NotFittedError
from gramme.graph import EdgeLayer
from gramme.methods import GrammeRegressor, GrammeSG, LabelPropagation, Majority, NodeClassifier, OneHotLogistic, load
from gramme.methods.base import GraphEstimator
from gramme.methods.params import NonNegativeFloat, PositiveInt, RandomSeed, WholeNumber, parameter_rules
from gramme.methods.persistence import SavedArray, SavedValue

ORDERED_FIT_GRAPH = planted(24)
LABELS = half_known(ORDERED_FIT_GRAPH)
QUICK = PINNED | {"epochs": 1, "ensemble": 1, "heads": 1, "features": "walks+random"}


@given(seed=st.integers(0, 10_000))
@settings(max_examples=10)
def test_no_order_changes_a_prediction(seed):
    graph = permuted(ORDERED_FIT_GRAPH, seed)
    places = ORDERED_FIT_GRAPH.positions(graph.nodes)
    found = LabelPropagation(random_state=0).fit(graph, LABELS[places])
    assert found.predict_proba().tobytes() == expected_shares()[places].tobytes()
    assert found.labelled_.tolist() == [label is not None for label in LABELS[places]]


@functools.cache
def expected_shares() -> np.ndarray:
    return LabelPropagation(random_state=0).fit(ORDERED_FIT_GRAPH, LABELS).predict_proba()


def test_what_attention_shows_of_nodes_and_layers_is_in_the_order_given():
    graph = permuted(ORDERED_FIT_GRAPH, seed=1)
    places = ORDERED_FIT_GRAPH.positions(graph.nodes)
    expected = GrammeSG(**QUICK).fit(ORDERED_FIT_GRAPH, LABELS)
    found = GrammeSG(**QUICK).fit(graph, LABELS[places], monitor=ORDERED_FIT_GRAPH.labels[places])
    assert found.layer_order_ == expected.layer_order_ == sorted(graph.layers)
    assert found.history_["loss"].tolist() == expected.history_["loss"].tolist()
    copies = expected.start_features(ORDERED_FIT_GRAPH).reshape(2, 24, -1)
    order = [list(ORDERED_FIT_GRAPH.layers).index(name) for name in graph.layers]
    start = found.start_features(graph).reshape(2, 24, -1)
    assert np.array_equal(start, copies[order][:, places])
    for layer in graph.layers:
        heard = found.node_attention(layer)
        assert heard.index.tolist() == graph.nodes.tolist()
        assert heard.tolist() == expected.node_attention(layer)[graph.nodes].tolist()
    np.testing.assert_array_equal(found.embed(ORDERED_FIT_GRAPH), expected.embedding_)


def test_a_loaded_model_has_no_graph_to_put_in_order():
    with pytest.raises(NotFittedError, match="does not hold the graph"):
        Majority()._fitted_order()


def test_a_model_knows_the_graph_of_its_fit(tmp_path):
    model = Majority().fit(ORDERED_FIT_GRAPH, LABELS)
    assert model.fitted_on(ORDERED_FIT_GRAPH)
    assert not model.fitted_on(planted(24))
    model.save(tmp_path / "m.safetensors")
    assert not load(tmp_path / "m.safetensors").fitted_on(ORDERED_FIT_GRAPH)


GRAPH_ESTIMATOR_GRAPH = planted()


@pytest.mark.parametrize("kind", [LabelPropagation, GrammeRegressor])
def test_rules_and_fields_of_base_classes_count(kind: type[GraphEstimator]) -> None:
    assert issubclass(kind, GraphEstimator)
    assert set(parameter_rules(kind)) == set(kind().get_params())
    names = [field.name for field in kind._all_fields()]
    assert names[0] == "layers"
    assert "nodes" in names
    assert len(names) == len(set(names))


@pytest.mark.parametrize("kind", [LabelPropagation, GrammeRegressor])
def test_what_is_not_fitted_says_so(kind: type[GraphEstimator]) -> None:
    with pytest.raises(NotFittedError, match=f"this {kind.__name__} is not fitted yet"):
        kind().predict()  # type: ignore[attr-defined]


def test_another_graph_needs_the_layers_of_the_fit() -> None:
    model = LabelPropagation(random_state=0).fit(GRAPH_ESTIMATOR_GRAPH, half_known(GRAPH_ESTIMATOR_GRAPH))
    with pytest.raises(DataError, match="no layer 'friends'"):
        model.predict(GRAPH_ESTIMATOR_GRAPH.select_layers(["room"]))
    more = GRAPH_ESTIMATOR_GRAPH.replace(
        layers={**GRAPH_ESTIMATOR_GRAPH.layers, "new": EdgeLayer(GRAPH_ESTIMATOR_GRAPH.num_nodes, [0], [1])}
    )
    with pytest.warns(GrammeWarning, match="left out: new"):
        found = model.predict(more)
    assert np.array_equal(found, model.predict())


def test_a_fit_that_fails_leaves_nothing_behind() -> None:
    model = LabelPropagation(random_state=0).fit(GRAPH_ESTIMATOR_GRAPH, half_known(GRAPH_ESTIMATOR_GRAPH))
    model._begin_on(GRAPH_ESTIMATOR_GRAPH, GRAPH_ESTIMATOR_GRAPH, None)
    with pytest.raises(NotFittedError):
        model.predict()
    assert model.layers_ == list(GRAPH_ESTIMATOR_GRAPH.layers)


GRAPH = planted()
Y = half_known(GRAPH)


@dataclass(kw_only=True, eq=False, repr=False)
class Even(NodeClassifier):
    """All classes alike; notes what it was called with."""

    size: PositiveInt = 1
    random_state: RandomSeed = None

    def _check_parameters(self, graph):
        if self.size > graph.num_nodes:
            raise DataError("size is larger than the graph")

    def _fit(self, graph, known, seed, *, note=None):
        self.called_ = (graph, known, seed, note)
        return np.full((graph.num_nodes, len(known.classes)), 1 / len(known.classes))

    def _warm_start(self, graph):
        return {"note": "from a model"}


@dataclass(kw_only=True, eq=False, repr=False)
class More(Even):
    """Has a parameter and a field more than its base."""

    size: int = 2  # with the rule of its base
    much: NonNegativeFloat = 0.0
    saved_fields: ClassVar = (SavedValue("depth", WholeNumber()),)


def test_a_fit_gets_aligned_labels_and_a_seed():
    model = Even(random_state=7).fit(GRAPH, {"n0": "x", "n2": "y"})
    graph, known, seed, _ = model.called_
    assert graph.nodes.tolist() == sorted(GRAPH.nodes)
    assert graph.labels is None, "no label reaches a fit but the known ones"
    assert graph.nodes[known.nodes].tolist() == ["n0", "n2"]
    assert known.codes.tolist() == [0, 1]
    assert seed == 7
    assert model.probabilities_.dtype == np.float32
    assert model.transduction_[[0, 2]].tolist() == ["x", "y"], "known labels stay"
    assert model.interrupted_ is False


def test_without_a_random_state_every_fit_has_a_seed_of_its_own():
    seeds = {Even().fit(GRAPH, Y).called_[2] for _ in range(3)}
    assert len(seeds) == 3


@pytest.mark.parametrize(
    ("model", "graph", "y", "message"),
    [
        (Even(size=0), "no graph", Y, "MultilayerGraph is needed"),
        (Even(size=0), GRAPH, None, "size must be a whole number"),
        (Even(size=99), GRAPH, [None] * 36, "size is larger than the graph"),
        (Even(), GRAPH, [None] * 36, "no node has a known label"),
    ],
)
def test_mistakes_are_found_in_order_before_anything_is_forgotten(model, graph, y, message):
    model.set_params(size=model.size)
    before = Even().fit(GRAPH, Y)
    before.set_params(**model.get_params())
    with pytest.raises(DataError, match=message):
        before.fit(graph, y)
    assert hasattr(before, "probabilities_"), "an earlier fit is kept"


def test_a_fit_forgets_the_one_before():
    model = Even().fit(GRAPH, Y)
    model.extra_ = 1
    model.fit(GRAPH, Y)
    assert not hasattr(model, "extra_")


def test_rules_and_fields_of_the_base_classes_count():
    assert list(parameter_rules(More)) == ["class_weight", "size", "random_state", "much"]
    assert More().size == 2
    names = [field.name for field in More._all_fields()]
    assert names[:3] == ["layers", "layer_order", "nodes"]
    assert "classes" in names
    assert names[-1] == "depth"
    with pytest.raises(DataError, match="much must be"):
        More(much=-1).fit(GRAPH, Y)
    with pytest.raises(DataError, match="size must be"):
        More(size=0).fit(GRAPH, Y)


def test_a_copy_is_handed_what_its_model_knows():
    model = Even(size=3, random_state=0).fit(GRAPH, Y)
    assert model.called_[3] is None
    copy = model._fit_copy(GRAPH, Y)
    assert copy is not model
    assert copy.size == 3
    assert copy.called_[3] == "from a model"
    with pytest.raises(NotFittedError):
        Even()._fit_copy(GRAPH, Y)


def test_a_loaded_model_can_be_copied(tmp_path):
    model = OneHotLogistic(weigh_layers=True, random_state=0).fit(GRAPH, Y)
    model.save(tmp_path / "m")
    expected = model._fit_copy(GRAPH, Y)
    found = gramme.load(tmp_path / "m")._fit_copy(GRAPH, Y)
    assert found.probabilities_.tobytes() == expected.probabilities_.tobytes()


def test_not_fitted_is_scikit_learns_error_too():
    with pytest.raises(sklearn.exceptions.NotFittedError, match="call fit first"):
        Even().predict()
    assert issubclass(NotFittedError, GrammeError)
    assert issubclass(NotFittedError, sklearn.exceptions.NotFittedError)


def test_methods_are_classifiers_to_scikit_learn():
    assert is_classifier(Even())


# score


def test_the_score_is_the_share_of_labels_predicted():
    model = Majority().fit(GRAPH, {"n0": "a", "n3": "a", "n1": "b"})
    assert GRAPH.labels is not None
    expected = float((GRAPH.labels == "a").mean())
    assert model.score(y=GRAPH.labels) == pytest.approx(expected)
    unseen = np.array([name not in ("n0", "n1", "n3") for name in GRAPH.nodes])
    assert model.score(GRAPH) == pytest.approx(float((GRAPH.labels[unseen] == "a").mean()))
    assert model.score(GRAPH, {"n0": "a", "n1": "b"}) == 0.5
    assert model.score(y={"n0": "a", "n1": "never seen"}) == 0.5


def test_the_score_of_another_graph():
    other = planted(20, seed=3)
    model = LabelPropagation(random_state=0).fit(GRAPH, Y)
    assert model.score(other) == pytest.approx((model.predict(other) == other.labels).mean())


def test_the_score_of_a_copy_of_the_fitted_graph_leaves_out_what_was_learned_from():
    model = Majority().fit(GRAPH, {"n0": "a", "n3": "a", "n1": "b"})
    assert model.score(GRAPH.replace(name="a copy")) == model.score(GRAPH)


def test_a_mask_is_a_name():
    with pytest.raises(DataError, match="mask is the name of one of the graph's masks, not ndarray"):
        Majority().fit(GRAPH, mask=np.ones(GRAPH.num_nodes, dtype=bool))


def test_groups_that_no_node_of_the_fit_was_in_are_said():
    graph = gramme.MultilayerGraph.from_table(
        pd.DataFrame({"city": list("uuvv"), "label": list("aabb")}), label="label"
    )
    new = gramme.MultilayerGraph.from_table(pd.DataFrame({"city": list("uuww")}))
    model = OneHotLogistic().fit(graph)
    with pytest.warns(GrammeWarning, match="layer 'city' has groups that the model has not seen: 'w'"):
        model.predict(new)


def test_the_score_wants_labels_that_were_not_learned_from(tmp_path):
    model = Majority().fit(GRAPH, Y)
    with pytest.raises(DataError, match="pass y"):
        model.score()
    with pytest.raises(NotFittedError):
        Majority().score(y=Y)
    model.save(tmp_path / "m")
    with pytest.raises(DataError, match="pass it"):
        gramme.load(tmp_path / "m").score(y=Y)


def test_numbers_that_are_too_large_are_no_probabilities():
    class Broken(Even):
        """Finds nothing for other graphs."""

        def _inductive_proba(self, graph):
            return np.full((graph.num_nodes, 3), np.nan, dtype=np.float32)

    with pytest.raises(DataError, match="Broken predicts nothing finite for this graph"):
        Broken().fit(GRAPH, Y).predict(planted(20, seed=3))


def test_what_is_saved_is_declared(tmp_path, monkeypatch):
    monkeypatch.setattr(Even, "saved_fields", (SavedArray("own", np.float64, ("nodes",)),), raising=False)
    monkeypatch.setitem(gramme.methods.METHODS, "even", gramme.methods.Method("even", Even, ""))
    model = Even().fit(GRAPH, Y)
    model.own_ = np.arange(36.0)
    model.interrupted_ = True
    model.save(tmp_path / "m")
    loaded = gramme.load(tmp_path / "m")
    assert loaded.own_.tolist() == model.own_.tolist()
    assert loaded.interrupted_ is True


def test_a_fit_that_ends_without_probabilities_says_so():
    class Overflowing(Even):
        def _fit(self, graph, known, seed):
            found = super()._fit(graph, known, seed)
            found[-1] = np.nan
            return found

    model = Overflowing()
    with pytest.raises(DataError, match="Overflowing finds no probabilities"):
        model.fit(GRAPH, Y)
    with pytest.raises(NotFittedError):
        model.predict()
