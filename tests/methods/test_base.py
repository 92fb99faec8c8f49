"""The base of all methods: the order of a fit, the score, copies, and what a method of one's own must write."""

import numpy as np
import pytest
import sklearn.exceptions
from sklearn.base import is_classifier
from tests.methods.graphs import half_known, planted

import gramme
from gramme import DataError
from gramme.errors import GrammeError, NotFittedError
from gramme.methods import LabelPropagation, Majority, NodeClassifier, OneHotLogistic
from gramme.methods.parameters import Number, WholeNumber
from gramme.methods.saved_fields import SavedArray, SavedValue

GRAPH = planted()
Y = half_known(GRAPH)


class Even(NodeClassifier):
    """All classes alike; notes what it was called with."""

    parameter_rules = {"size": WholeNumber()}  # noqa: RUF012

    def __init__(self, *, size=1, random_state=None):
        self.size = size
        self.random_state = random_state

    def _check_parameters(self, graph):
        if self.size > graph.num_nodes:
            raise DataError("size is larger than the graph")

    def _fit(self, graph, known, seed, *, note=None):
        self.called_ = (graph, known, seed, note)
        return np.full((graph.num_nodes, len(known.classes)), 1 / len(known.classes))

    def _hand_down(self, graph):
        return {"note": "from a model"}


class More(Even):
    """Has a parameter and a field more than its base."""

    parameter_rules = {"much": Number(0)}  # noqa: RUF012
    saved_fields = (SavedValue("depth", WholeNumber()),)

    def __init__(self, *, size=1, much=0.0, random_state=None):
        super().__init__(size=size, random_state=random_state)
        self.much = much


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
    assert list(More._all_rules()) == ["size", "much"]
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
    copy = model.fit_copy(GRAPH, Y)
    assert copy is not model
    assert copy.size == 3
    assert copy.called_[3] == "from a model"
    with pytest.raises(NotFittedError):
        Even().fit_copy(GRAPH, Y)


def test_a_loaded_model_can_be_copied(tmp_path):
    model = OneHotLogistic(weigh_layers=True, random_state=0).fit(GRAPH, Y)
    model.save(tmp_path / "m")
    expected = model.fit_copy(GRAPH, Y)
    found = gramme.load(tmp_path / "m").fit_copy(GRAPH, Y)
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
    assert model.score(GRAPH) == pytest.approx(expected)
    assert model.score(GRAPH, {"n0": "a", "n1": "b"}) == 0.5
    assert model.score(y={"n0": "a", "n1": "never seen"}) == 0.5


def test_the_score_of_another_graph():
    other = planted(20, seed=3)
    model = LabelPropagation(random_state=0).fit(GRAPH, Y)
    assert model.score(other) == pytest.approx((model.predict(other) == other.labels).mean())


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

    with pytest.raises(DataError, match="Broken finds no probabilities for this graph"):
        Broken().fit(GRAPH, Y).predict(planted(20, seed=3))


def test_what_is_saved_is_declared(tmp_path, monkeypatch):
    monkeypatch.setattr(
        Even, "saved_fields", (SavedArray("own", np.float64, ("nodes",)),), raising=False
    )
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
