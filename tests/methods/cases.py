"""The contract of every method, as an abstract test case.

A method's test is three lines:

    class TestLabelPropagation(MethodCase):
        name = "label-propagation"
        arguments = {"iterations": 5}   # whatever makes it fast

and, where they apply, ``inductive = True``, ``needs = "gensim"`` (skipped with the reason where that is not installed),
``trained = {"epochs": 60}`` (what it needs besides to find planted classes) or ``quality = 0.5`` (least accuracy on the
planted graph, whose three classes are equally large).
"""

import copy
import functools
import importlib.util
import inspect
import io
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from tests.graph.permuted import permuted
from tests.methods.graphs import half_known, planted

import gramme
from gramme import DataError, EdgeLayer, GrammeWarning, MembershipLayer, MultilayerGraph, datasets
from gramme.errors import NotFittedError
from gramme.methods import METHODS, NodeClassifier
from gramme.methods.cross_fitting import OutOfFold
from gramme.methods.labels import KnownLabels

GRAPH = planted()
LABELS = half_known(GRAPH)


def with_layers(graph: MultilayerGraph, **layers: Any) -> MultilayerGraph:
    return graph.replace(layers={**graph.layers, **layers})


def isolated_nodes() -> MultilayerGraph:
    """The last six nodes have no neighbour in any layer."""
    first = GRAPH.layers["room"].subset(np.arange(30)).to_edges().to_scipy().tocoo()
    room = EdgeLayer(36, first.row, first.col)
    return GRAPH.replace(layers={"room": room})


def absent_nodes() -> MultilayerGraph:
    """Every third node is missing in one of the layers, one node in both."""
    mask = np.arange(36) % 3 != 0
    mask[1] = False
    some = EdgeLayer(36, [2, 4, 5], [7, 8, 10], nodes=mask)
    codes = np.where(np.arange(36) == 1, -1, np.arange(36) % 4)
    return GRAPH.replace(layers={"some": some, "code": MembershipLayer.from_codes(codes, range(4))})


def directed_and_weighted() -> MultilayerGraph:
    layer = EdgeLayer(36, np.arange(35), np.arange(1, 36), np.linspace(0.1, 9, 35), directed=True)
    return with_layers(GRAPH, chain=layer)


ODD_NAMES: dict[str, list[Any]] = {
    "huge whole numbers": [10**25 + i for i in range(36)],
    "any script": [f"名 ü\n\t{i}🌲" for i in range(36)],
    "numbers": [7 * i - 50 for i in range(36)],
    "tuples": [("x", i) for i in range(36)],
}

ODD_GRAPHS = {
    "isolated nodes": isolated_nodes,
    "nodes absent from layers": absent_nodes,
    "a layer without edges": lambda: with_layers(GRAPH, empty=EdgeLayer(36, [], [])),
    "a layer without nodes": lambda: with_layers(GRAPH, nobody=EdgeLayer(36, [], [], nodes=[])),
    "a directed, weighted layer": directed_and_weighted,
    "a single layer": lambda: GRAPH.select_layers(["friends"]),
    "a single membership layer": lambda: GRAPH.select_layers(["room"]),
}

# graph.labels of the planted graph by class, turned into labels of other types; and the names that nodes have there
LABEL_TYPES: dict[str, tuple[tuple[Any, ...], str | None]] = {
    "text": (("a", "b", "c"), "huge whole numbers"),
    "whole numbers": ((10, 2, 33), "any script"),
    "numbers": ((0.5, 1.5, -2.5), "numbers"),
    "truth": ((True, False, True), None),
    "mixed": ((1, "a", 2.5), None),
    "tuples": ((("a", 1), ("a", 2), ("b", 1)), "tuples"),
}

Y_FORMS = {
    "list": lambda y: list(y),
    "tuple": lambda y: tuple(y),
    "array with None": lambda y: y,
    "list with NaN": lambda y: [np.nan if v is None else v for v in y],
    "list with NA": lambda y: [pd.NA if v is None else v for v in y],
    "list with -1": lambda y: [-1 if v is None else v for v in y],
    "mapping": lambda y: {n: v for n, v in zip(GRAPH.nodes, y, strict=True) if v is not None},
    "mapping with unknowns": lambda y: dict(zip(GRAPH.nodes, y, strict=True)),
    "series in order": lambda y: pd.Series(list(y)),
    "series by name": lambda y: pd.Series(list(y), index=GRAPH.nodes)[::-1],
    "categories": lambda y: pd.Series(pd.Categorical(list(y)), index=GRAPH.nodes),
}

MISTAKES: dict[str, tuple[Any, str]] = {
    "an unknown node": ({"n0": "a", "nobody": "b"}, "nobody"),
    "one class": ({"n0": "a", "n1": "a"}, "at least two classes"),
    "no label": ([None] * 36, "no node has a known label"),
    "only -1": ([-1] * 36, "no node has a known label"),
    "empty mapping": ({}, "no node has a known label"),
    "too short": (["a", "b"], "2 labels were given for 36 nodes"),
    "two columns": (np.zeros((36, 2)), "one-dimensional"),
    "one text": ("ab", "sequence or a mapping"),
    "unhashable labels": ([["a"], ["b"]] * 18, "unhashable"),
}


class MethodCase:
    """What every registered method must do."""

    name: ClassVar[str]
    arguments: ClassVar[dict[str, Any]] = {}
    trained: ClassVar[dict[str, Any]] = {}
    inductive: ClassVar[bool] = False
    needs: ClassVar[str | None] = None
    quality: ClassVar[float] = 0.7

    @pytest.fixture(autouse=True)
    def _needs(self) -> None:
        if self.needs is not None and importlib.util.find_spec(self.needs) is None:
            pytest.skip(f"{self.name} needs {self.needs}, which is not installed")

    @classmethod
    def new(cls, **changes: Any) -> NodeClassifier:
        estimator = METHODS[cls.name].estimator
        given = cls.arguments | changes
        if "random_state" in inspect.signature(estimator).parameters:
            given = {"random_state": 0} | given
        return estimator(**given)

    @classmethod
    @functools.cache
    def fitted(cls) -> NodeClassifier:
        """Fitted once for all tests that only look at it."""
        return cls.new().fit(GRAPH, LABELS)

    def check_result(self, model: NodeClassifier, graph: MultilayerGraph, y: Any) -> None:
        known = np.array([value is not None for value in y])
        probabilities = model.predict_proba()
        assert probabilities.shape == (graph.num_nodes, len(model.classes_))
        assert probabilities.dtype == np.float32
        assert np.isfinite(probabilities).all()
        assert (probabilities >= 0).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
        assert (model.predict() == model.classes_[probabilities.argmax(axis=1)]).all()
        assert set(model.classes_.tolist()) == set(y[known].tolist())
        assert (model.transduction_[known] == y[known]).all()
        assert (model.transduction_[~known] == model.predict()[~known]).all()
        assert list(model.nodes_) == list(graph.nodes)
        assert model.layers_ == list(graph.layers)

    # The constructor and parameters

    def test_the_constructor_only_stores(self) -> None:
        estimator = METHODS[self.name].estimator
        marks = {name: object() for name in inspect.signature(estimator).parameters}
        model = estimator(**marks)
        assert {name: getattr(model, name) for name in marks} == marks
        assert set(vars(model)) == set(marks)

    def test_parameters_can_be_read_set_and_cloned(self) -> None:
        model = self.new()
        parameters = model.get_params()
        assert model.set_params(**parameters).get_params() == parameters
        assert clone(model).get_params() == parameters
        with pytest.raises(ValueError, match="no_such"):
            model.set_params(no_such=1)

    def test_a_clone_of_a_fitted_model_is_not_fitted(self) -> None:
        with pytest.raises(NotFittedError, match="call fit first"):
            clone(self.fitted()).predict()

    def test_before_fitting_everything_says_so(self, tmp_path: Any) -> None:
        model = self.new()
        for use in (model.predict, model.predict_proba, lambda: model.save(tmp_path / "m")):
            with pytest.raises(NotFittedError, match="call fit first"):
                use()

    def test_shows_itself(self) -> None:
        assert type(self.fitted()).__name__ in repr(self.fitted())
        assert "<" in self.fitted()._repr_html_()
        assert "classes_" in dir(self.fitted())

    # Fitting and predicting

    def test_labels_count_by_their_weight(self) -> None:
        labels = np.random.default_rng(0).permutation(LABELS)  # which no layer explains, so that weights decide
        first, hidden = self.fitted().classes_[0], [value is None for value in labels]
        alike = self.new().fit(GRAPH, labels).predict_proba()
        heavy = self.new(class_weight={first: 20.0}).fit(GRAPH, labels).predict_proba()
        assert heavy[hidden, 0].mean() > alike[hidden, 0].mean() + 0.02
        weights = dict(zip(GRAPH.nodes, np.where(labels == first, 20.0, 1.0), strict=True))
        weighed = self.new().fit(GRAPH, labels, sample_weight=weights).predict_proba()
        np.testing.assert_allclose(weighed, heavy, atol=2e-4)

    def test_a_label_of_weight_zero_is_not_learned_from(self) -> None:
        known = np.flatnonzero([value is not None for value in LABELS])
        fewer, weights = LABELS.copy(), np.ones(36)
        fewer[known[:3]], weights[known[:3]] = None, 0
        models = (self.new().fit(GRAPH, LABELS, sample_weight=weights), self.new().fit(GRAPH, fewer))
        assert len({model.predict_proba().tobytes() for model in models}) == 1

    def test_fit_returns_self_predicts_every_node_and_leaves_all_else_alone(self) -> None:
        """What it was given, and the global random states, are as they were."""
        model, y = self.new(), LABELS.copy()
        state = np.random.get_state()[1].copy()  # noqa: NPY002
        torch_state = torch.get_rng_state()
        assert model.fit(GRAPH, y) is model
        assert (y == LABELS).all()
        assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
        assert bool((torch.get_rng_state() == torch_state).all())
        self.check_result(model, GRAPH, LABELS)
        assert model.classes_.tolist() == ["a", "b", "c"]

    def test_the_graphs_own_labels_serve_where_none_are_given(self) -> None:
        own = self.new().fit(GRAPH.replace(labels=LABELS))
        assert own.probabilities_.tobytes() == self.fitted().probabilities_.tobytes()

    def test_same_seed_same_bits_in_whatever_order_nodes_and_layers_come(self) -> None:
        """What is random, how ties are broken and how sums are rounded follows names, not the order of a file."""
        graph = permuted(GRAPH, seed=1)
        places = GRAPH.positions(graph.nodes)
        model = self.new().fit(graph, LABELS[places])
        expected = self.fitted()
        assert list(model.nodes_) == list(graph.nodes)
        assert model.probabilities_.tobytes() == expected.probabilities_[places].tobytes()
        if hasattr(model, "embedding_"):
            np.testing.assert_array_equal(model.embedding_, expected.embedding_[places])
        if hasattr(model, "layer_importance_"):
            assert list(model.layer_importance_.index) == list(graph.layers)
            assert model.layer_importance_.to_dict() == expected.layer_importance_.to_dict()
        if self.inductive:
            found = expected.predict_proba(graph)
            assert found.tobytes() == expected.predict_proba(GRAPH.replace(labels=None))[places].tobytes()

    def test_labels_outside_the_training_set_change_nothing(self) -> None:
        """No leak: the graph's own labels of other nodes are permuted, y stays."""
        assert GRAPH.labels is not None
        shuffled = GRAPH.labels.copy()
        hidden = np.flatnonzero([value is None for value in LABELS])
        shuffled[hidden] = shuffled[np.random.default_rng(1).permutation(hidden)]
        assert (shuffled != GRAPH.labels).any()
        for labels in (shuffled, None):
            other = self.new().fit(GRAPH.replace(labels=labels), LABELS)
            assert other.probabilities_.tobytes() == self.fitted().probabilities_.tobytes()

    def test_results_are_the_callers_own(self) -> None:
        model = copy.deepcopy(self.fitted())
        model.predict_proba()[:] = 7
        assert (model.predict_proba() <= 1).all()

    def test_fitting_again_forgets(self) -> None:
        model = self.new().fit(planted(20, ("x", "y"), seed=5))
        model.fit(GRAPH, LABELS)
        assert model.probabilities_.tobytes() == self.fitted().probabilities_.tobytes()
        assert model.classes_.tolist() == ["a", "b", "c"]

    # Labels in every form

    def learned_from(self, graph: MultilayerGraph, y: Any) -> tuple[Any, ...]:
        """All that the method's own ``_fit`` is given for labels, without the fit."""
        model = self.new()
        given: list[tuple[Any, ...]] = []

        def look(graph: MultilayerGraph, known: KnownLabels, seed: int, **options: Any) -> Any:
            given.append((graph, known.nodes, known.codes, known.classes, seed, options))
            return np.full((graph.num_nodes, len(known.classes)), 1 / len(known.classes))

        vars(model)["_fit"] = look
        model.fit(graph, y)
        assert len(given) == 1
        return given[0]

    @pytest.mark.parametrize("form", Y_FORMS)
    def test_labels_may_come_in_any_form(self, form: str) -> None:
        """The method is given the same to learn from, and the same gives the same bits: see the tests above."""
        graph, nodes, codes, classes, seed, options = self.learned_from(GRAPH, LABELS)
        found = self.learned_from(GRAPH, Y_FORMS[form](LABELS))
        assert (found[0], *found[4:]) == (graph, seed, options)
        np.testing.assert_array_equal(found[1], nodes)
        np.testing.assert_array_equal(found[2], codes)
        assert found[3].tolist() == classes.tolist() == ["a", "b", "c"]
        assert found[3].dtype == classes.dtype

    @pytest.mark.parametrize("kind", LABEL_TYPES)
    def test_labels_and_names_may_be_of_any_type(self, kind: str, tmp_path: Any) -> None:
        classes, names = LABEL_TYPES[kind]
        graph = planted(classes=classes, names=None if names is None else ODD_NAMES[names])
        y = half_known(graph)
        model = self.new().fit(graph, y)
        self.check_result(model, graph, y)
        assert set(model.classes_.tolist()) == set(classes)
        types = {type(label) for label in classes}
        assert {type(label) for label in model.transduction_.tolist()} <= types
        loaded = self.round_trip(model, tmp_path)
        assert loaded.classes_.tolist() == model.classes_.tolist()
        assert loaded.classes_.dtype == model.classes_.dtype
        assert list(loaded.nodes_) == list(graph.nodes)
        assert loaded.probabilities_.tobytes() == model.probabilities_.tobytes()

    @pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32])
    def test_labels_may_be_a_numpy_array(self, dtype: Any) -> None:
        graph = planted(classes=(0, 1, 2))
        known = half_known(graph)
        y = np.array([-1 if value is None else value for value in known], dtype=dtype)
        found, expected = self.learned_from(graph, y), self.learned_from(graph, known)
        assert found[3].tolist() == [0, 1, 2]
        np.testing.assert_array_equal(found[1], expected[1])
        np.testing.assert_array_equal(found[2], expected[2])

    @pytest.mark.parametrize("mistake", MISTAKES)
    def test_wrong_labels_are_a_clear_error(self, mistake: str) -> None:
        y, message = MISTAKES[mistake]
        with pytest.raises(DataError, match=message):
            self.new().fit(GRAPH, y)

    def test_no_labels_at_all_is_a_clear_error(self) -> None:
        with pytest.raises(DataError, match="pass y"):
            self.new().fit(GRAPH.replace(labels=None))

    @pytest.mark.parametrize("wrong", [None, np.eye(3), "ckm_social"])
    def test_what_is_no_graph_is_a_clear_error(self, wrong: Any) -> None:
        with pytest.raises(DataError, match="MultilayerGraph is needed"):
            self.new().fit(wrong, LABELS)

    def test_a_graph_without_layers_is_a_clear_error(self) -> None:
        with pytest.raises(DataError, match="no layers"):
            self.new().fit(GRAPH.replace(layers={}), LABELS)

    # Graphs in every form

    @pytest.mark.parametrize("kind", ODD_GRAPHS)
    def test_odd_graphs(self, kind: str, tmp_path: Any) -> None:
        graph = ODD_GRAPHS[kind]()
        y = half_known(graph)
        model = self.new().fit(graph, y)
        self.check_result(model, graph, y)
        loaded = self.round_trip(model, tmp_path)
        assert list(loaded.nodes_) == list(graph.nodes)
        assert loaded.probabilities_.tobytes() == model.probabilities_.tobytes()

    @pytest.mark.parametrize("known", [(1, 1, 1), (8, 8, 1), (5, 5, 0), (12, 12, 12)])
    def test_few_labels_missing_classes_and_all_labels(self, known: tuple[int, ...]) -> None:
        """So many known labels of each class: one each, one of one class, none of one, all."""
        assert GRAPH.labels is not None
        y = np.full(36, None, dtype=object)
        for label, count in zip("abc", known, strict=True):
            places = np.flatnonzero(GRAPH.labels == label)[:count]
            y[places] = label
        model = self.new().fit(GRAPH, y)
        self.check_result(model, GRAPH, y)
        assert len(model.classes_) == np.count_nonzero(known)

    def test_two_nodes_are_enough(self) -> None:
        graph = MultilayerGraph({"layer": EdgeLayer(2, [0], [1])}, labels=["a", "b"])
        assert graph.labels is not None
        self.check_result(self.new().fit(graph), graph, graph.labels)

    def test_given_features_do_no_harm(self) -> None:
        features = np.random.default_rng(0).normal(size=(36, 3))
        y = LABELS
        self.check_result(self.new().fit(GRAPH.replace(features=features), y), GRAPH, y)

    # Other graphs

    def test_the_fitted_graph_may_be_named(self) -> None:
        model = self.fitted()
        assert model.predict_proba(GRAPH).tobytes() == model.probabilities_.tobytes()

    def test_another_graph(self) -> None:
        other = planted(20, seed=3)
        if not self.inductive:
            with pytest.raises(DataError, match="predicts only for the graph it was fitted on"):
                self.fitted().predict(other)
            return
        probabilities = self.fitted().predict_proba(other)
        assert probabilities.shape == (20, 3)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
        assert set(self.fitted().predict(other)) <= {"a", "b", "c"}

    def test_several_threads_may_predict_with_one_model(self) -> None:
        if not self.inductive:
            pytest.skip("others hand out what the fit found")
        model, other = self.fitted(), planted(20, seed=3)
        expected = model.predict_proba(other).tobytes()
        with ThreadPoolExecutor(4) as pool:  # each with a graph that nobody has put in order yet
            graphs = [planted(20, seed=3) for _ in range(2)] * 2
            found = list(pool.map(lambda graph: model.predict_proba(graph).tobytes(), graphs))
        assert set(found) == {expected}

    def test_another_graph_must_have_the_layers(self) -> None:
        with pytest.raises(DataError, match="no layer 'room'"):
            self.fitted().predict(GRAPH.select_layers(["friends"]))
        with pytest.raises(DataError, match="MultilayerGraph is needed"):
            self.fitted().predict("graph")  # type: ignore[arg-type]

    def test_layers_it_does_not_know_are_left_out_with_a_warning(self) -> None:
        if not self.inductive:
            pytest.skip("for methods that predict for other graphs")
        more = with_layers(GRAPH, work=EdgeLayer(36, [0], [1]))
        with pytest.warns(GrammeWarning, match="left out: work"):
            found = self.fitted().predict_proba(more)
        assert found.tobytes() == self.fitted().probabilities_.tobytes()

    def test_sets_of_classes(self) -> None:
        """Sets hold the most probable class; where the label is known, that alone."""
        model = copy.deepcopy(self.fitted())
        model.keep_out_of_fold(OutOfFold(np.arange(18), np.arange(18) % 3, model.probabilities_[:18]))
        sets = model.predict_set(coverage=0.5)
        assert sets.shape == model.probabilities_.shape
        assert sets.any(axis=1).all()
        assert (sets[model.labelled_].sum(axis=1) == 1).all()

    # Keeping it

    @staticmethod
    def round_trip(model: NodeClassifier, folder: Any) -> NodeClassifier:
        model.save(folder / "model.safetensors")
        return gramme.load(folder / "model.safetensors")

    def test_saved_and_loaded_it_is_the_same(self, tmp_path: Any) -> None:
        model = self.fitted()
        loaded = self.round_trip(model, tmp_path)
        assert type(loaded) is type(model)
        assert loaded.get_params() == model.get_params()
        assert loaded.classes_.tolist() == model.classes_.tolist()
        assert loaded.predict_proba().tobytes() == model.predict_proba().tobytes()
        assert (loaded.transduction_ == model.transduction_).all()
        assert list(loaded.nodes_) == list(model.nodes_)
        assert loaded.layers_ == model.layers_
        other = planted(20, seed=3)
        if self.inductive:
            assert loaded.predict_proba(other).tobytes() == model.predict_proba(other).tobytes()
        assert "<" in loaded._repr_html_()
        again = self.round_trip(loaded, tmp_path)
        assert again.predict_proba().tobytes() == model.predict_proba().tobytes()

    def test_saving_twice_gives_the_same_file(self, tmp_path: Any) -> None:
        self.fitted().save(tmp_path / "one")
        self.fitted().save(tmp_path / "two")
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()

    def test_copies_and_pickles_predict_the_same(self) -> None:
        model = self.fitted()
        buffer = io.BytesIO()
        joblib.dump(model, buffer)
        buffer.seek(0)
        for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), joblib.load(buffer)):
            assert twin.predict_proba().tobytes() == model.predict_proba().tobytes()
            if self.inductive:
                other = planted(20, seed=3)
                assert twin.predict_proba(other).tobytes() == model.predict_proba(other).tobytes()

    # Quality

    @pytest.mark.parametrize("dataset", ["synthetic", "synthetic_table"])
    def test_finds_planted_classes(self, dataset: str) -> None:
        """Two of three layers follow three equal classes; chance is 1/3."""
        graph = datasets.load(dataset, nodes=150, signal=[0.9, 0.8, 0.0], random_state=0)
        y = half_known(graph, every=3)
        with warnings.catch_warnings():
            warnings.simplefilter("error", GrammeWarning)
            model = self.new(**self.trained).fit(graph, y)
        hidden = np.array([value is None for value in y])
        accuracy = (model.predict() == graph.labels)[hidden].mean()
        assert accuracy >= self.quality
