"""Label propagation as an estimator: settings, importance, and quality on planted and real graphs."""

from pathlib import Path

import numpy as np
import pytest
from tests.methods.cases import MethodCase
from tests.methods.graphs import half_known, planted
from tests.methods.splits import mean_accuracy

from gramme import DataError, MembershipLayer, datasets
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import LabelPropagation
from gramme.methods import labels as folds
from gramme.methods.labels import known_labels
from gramme.methods.propagation import label_propagation as module
from gramme.methods.propagation.label_propagation import (
    ALPHAS,
    POWERS,
    SHARPNESS,
    Candidate,
    Plan,
    baseline,
    choose,
    probabilities,
)
from gramme.methods.propagation.series import walk_of


def two_layers() -> MultilayerGraph:
    """A layer that follows two classes and one of chance."""
    random = np.random.default_rng(0)
    codes = np.arange(60) % 2
    source, target = random.integers(60, size=(2, 900))
    same = codes[source] == codes[target]
    some = random.integers(60, size=(2, 400))
    layers = {"follows": EdgeLayer(60, source[same], target[same]), "chance": EdgeLayer(60, *some)}
    return MultilayerGraph(layers, labels=np.array(["a", "b"])[codes])


def plan(**changes) -> Plan:
    settings = {
        "powers": POWERS,
        "alphas": ALPHAS,
        "sharpness": SHARPNESS,
        "class_mass": False,
        "folds": None,
        "tolerance": 1e-5,
        "most": 50,
    }
    return Plan(**settings | changes)


def test_who_hears_nothing_gets_the_prior():
    prior = np.array([0.7, 0.3])
    found = probabilities(np.array([[0.0, 0.0], [0.0, 4.0]]), prior, prior, 2.0, 10)
    np.testing.assert_allclose(found[0], prior)
    assert found[1, 1] > 0.9
    np.testing.assert_allclose(found.sum(1), 1)


def test_the_baseline():
    prior, totals = np.array([0.5, 0.5]), np.array([3.0, 1.0])
    assert baseline(prior, totals, class_mass=False).tolist() == [0.5, 0.5]
    assert baseline(prior, totals, class_mass=True).tolist() == [0.75, 0.25]


def test_the_layer_that_tells_is_trusted_and_one_candidate_needs_no_test():
    graph = two_layers()
    known = known_labels(graph, half_known(graph, every=3))
    _, weights = choose(walk_of(graph), known, plan(), None, 0)
    assert weights[0] > 0.8
    only = plan(powers=(1.0,), alphas=(0.3,), sharpness=(2.0,))
    assert choose(walk_of(graph), known, only, np.array([0.5, 0.5]), 0)[0] == Candidate(1.0, 0.3, 2.0)


def test_with_one_label_per_class_the_first_candidate_is_taken():
    graph = planted()
    known = known_labels(graph, {"n0": "x", "n1": "y"})
    assert choose(walk_of(graph), known, plan(), None, 0)[0] == Candidate(1.0, 0.3, 1.0)


class TestLabelPropagation(MethodCase):
    name = "label-propagation"
    inductive = True


def test_known_labels_are_carried_to_another_graph_by_name():
    names = list("abcdefg")
    road = EdgeLayer(7, [0, 1, 2, 3, 5], [1, 2, 3, 4, 6])
    y = {"a": "left", "e": "right"}
    model = LabelPropagation(random_state=0).fit(MultilayerGraph({"road": road}, nodes=names), y)
    # a newcomer beside e, and nodes in another order
    other = MultilayerGraph({"road": EdgeLayer(4, [0, 2], [1, 3])}, nodes=["new", "e", "a", "stranger"])
    assert model.predict(other).tolist() == ["right", "right", "left", "left"]
    nobody = MultilayerGraph({"road": EdgeLayer(2, [0], [1])}, nodes=["x", "y"])
    np.testing.assert_allclose(model.predict_proba(nobody), 0.5)


def path_graph() -> MultilayerGraph:
    """A path of five nodes, and a pair that no label reaches."""
    return MultilayerGraph({"road": EdgeLayer(7, [0, 1, 2, 3, 5], [1, 2, 3, 4, 6])})


def test_the_nearer_label_wins_and_the_unreached_get_the_frequencies():
    y = ["a", None, None, "b", "b", None, None]
    model = LabelPropagation(random_state=0).fit(path_graph(), y)
    assert model.predict()[1] == "a"
    np.testing.assert_allclose(model.probabilities_[5], [4 / 12, 8 / 12] * 1, atol=0.05)
    assert (model.probabilities_[5] == model.probabilities_[6]).all()


@pytest.mark.parametrize("alpha", [0.1, 0.9])
def test_labels_travel_any_distance(alpha):
    size = 120
    graph = MultilayerGraph({"road": EdgeLayer(size, np.arange(size - 1), np.arange(1, size))})
    model = LabelPropagation(alpha=alpha, sharpness=1).fit(graph, {0: "a", size - 1: "b"})
    assert model.predict()[: size // 2].tolist() == ["a"] * (size // 2)
    assert model.predict()[size // 2 :].tolist() == ["b"] * (size // 2)


def test_noise_layers_get_little_weight():
    graph = datasets.load("synthetic_table", nodes=900, signal=[0.9, 0, 0, 0], random_state=3)
    assert graph.labels is not None
    y = graph.labels.copy()
    y[np.arange(900) % 5 != 0] = None
    model = LabelPropagation(random_state=0).fit(graph, y)
    assert model.layer_weights_.sum() == pytest.approx(1)
    assert model.layer_weights_.iloc[0] > 0.8
    assert model.layer_importance_.iloc[0] > 0.9
    assert model.layer_importance_.sum() == pytest.approx(1)
    equal = LabelPropagation(layer_weights="equal", random_state=0).fit(graph, y)
    assert equal.layer_weights_.tolist() == [0.25] * 4


def test_given_settings_are_used():
    graph = datasets.load("wine")
    weights = {name: 3.0 * (name == "proline") for name in graph.layers}
    model = LabelPropagation(alpha=0.5, sharpness=3, layer_weights=weights).fit(graph)
    assert (model.alpha_, model.sharpness_) == (0.5, 3)
    assert model.layer_weights_["proline"] == 1
    assert model.layer_importance_["proline"] == 1


def test_class_mass_normalisation_lifts_the_class_that_is_heard_less():
    """Two of three labels are "a", but "a" sits in a small component: its mass is small."""
    source, target = np.triu_indices(4, 1)
    other, another = np.triu_indices(20, 1)
    layer = EdgeLayer(24, np.concatenate([source, other + 4, [3]]), np.concatenate([target, another + 4, [4]]))
    y = {0: "a", 1: "a", 10: "b"}
    plain = LabelPropagation(alpha=0.9, sharpness=1).fit(MultilayerGraph({"x": layer}), y)
    lifted = LabelPropagation(alpha=0.9, sharpness=1, class_mass=True).fit(MultilayerGraph({"x": layer}), y)
    assert (lifted.probabilities_ != plain.probabilities_).any()
    mass = lifted.probabilities_.sum(axis=0)
    target_share = np.array([2 / 3, 1 / 3])
    error = np.abs(mass / mass.sum() - target_share).sum()
    plain_mass = plain.probabilities_.sum(axis=0)
    assert error < np.abs(plain_mass / plain_mass.sum() - target_share).sum()


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": 1},
        {"alpha": -0.1},
        {"sharpness": 0},
        {"layer_weights": "best"},
        {"layer_weights": {"proline": 1}},
        {"layer_weights": {"prolin": 1}},
        {"folds": 1},
        {"tolerance": 2},
        {"max_iter": 0},
        {"class_mass": "yes"},
    ],
)
def test_wrong_settings_are_a_clear_error(wrong):
    with pytest.raises(DataError, match=f"{next(iter(wrong))}|did you mean 'proline'"):
        LabelPropagation(**wrong).fit(datasets.load("wine"))


def test_weights_of_zero_are_a_clear_error():
    graph = datasets.load("balance_scale")
    with pytest.raises(DataError, match="all 0"):
        LabelPropagation(layer_weights=dict.fromkeys(graph.layers, 0)).fit(graph)


def test_edges_and_groups_give_the_same():
    """A table column as a membership layer, and as all the edges it implies."""
    graph = datasets.load("synthetic_table", nodes=120, random_state=2)
    edges = graph.replace(layers={name: layer.to_edges() for name, layer in graph.layers.items()})
    y = {node: graph.labels[node] for node in range(0, 120, 4)}  # type: ignore[index]
    one = LabelPropagation(random_state=0).fit(graph, y)
    other = LabelPropagation(random_state=0).fit(edges, y)
    assert (one.alpha_, one.sharpness_) == (other.alpha_, other.sharpness_)
    np.testing.assert_allclose(one.probabilities_, other.probabilities_, atol=1e-3)
    np.testing.assert_allclose(one.layer_importance_, other.layer_importance_, atol=1e-3)


def test_missing_values_and_lone_groups_tell_nothing():
    codes = [0, 0, 1, 1, -1, 2]
    graph = MultilayerGraph({"colour": MembershipLayer.from_codes(codes)})
    model = LabelPropagation().fit(graph, {0: "a", 2: "b"})
    assert model.predict()[[1, 3]].tolist() == ["a", "b"]
    np.testing.assert_allclose(model.probabilities_[4:], 0.5)


def test_balance_scale():
    graph = datasets.load("balance_scale")
    assert mean_accuracy(LabelPropagation, graph, 10) > 0.72
    assert mean_accuracy(LabelPropagation, graph, 30) > 0.81


@pytest.mark.parametrize(
    ("name", "percent", "floor"),
    [
        ("ckm_social", 10, 0.999),
        ("leskovec_ng", 10, 0.985),
        ("congress_votes", 10, 0.91),
        ("congress_votes", 30, 0.95),
        ("mammography", 10, 0.80),
    ],
)
def test_real_data(gramme_data: Path, name, percent, floor):
    assert mean_accuracy(LabelPropagation, datasets.load(name), percent) > floor


def large_graph(monkeypatch: pytest.MonkeyPatch) -> tuple[MultilayerGraph, np.ndarray]:
    """A graph that counts as large, and the labels of every third of its nodes."""
    monkeypatch.setattr(folds, "LARGE_ENTRIES", 1_000)
    monkeypatch.setattr(module, "ENOUGH_LABELS", 100)
    monkeypatch.setattr(folds, "ENOUGH_LABELS", 150)
    graph = datasets.load("synthetic_kinds", nodes=900, random_state=1)
    assert graph.labels is not None
    y = graph.labels.copy()
    y[np.arange(900) % 3 != 0] = None
    return graph.replace(labels=None), y


def test_large_data_are_propagated_in_haste_with_nearly_the_same_result(monkeypatch):
    graph, y = large_graph(monkeypatch)
    quick = LabelPropagation(random_state=0, alpha=0.9, sharpness=4).fit(graph, y)
    exact = LabelPropagation(random_state=0, alpha=0.9, sharpness=4, tolerance=1e-9).fit(graph, y)
    np.testing.assert_allclose(quick.probabilities_, exact.probabilities_, atol=2e-3)
    assert not (quick.probabilities_ == exact.probabilities_).all()


def test_many_labels_choose_settings_once_and_on_the_folds_that_are_enough(monkeypatch):
    graph, y = large_graph(monkeypatch)
    known = known_labels(graph, y)
    chosen = []
    real = module.choose

    def choose(*arguments):
        chosen.append(real(*arguments))
        return chosen[-1]

    monkeypatch.setattr(module, "choose", choose)
    fold = np.arange(known.nodes.size) % 3
    model = LabelPropagation(random_state=0)
    unseen = model.fit_with_folds(graph, known, fold)
    assert len(chosen) == 1
    assert np.isfinite(unseen).all()
    assert (unseen.argmax(axis=1) == known.codes).mean() > 0.8
    monkeypatch.setattr(module, "ENOUGH_LABELS", 10**9)
    LabelPropagation(random_state=0).fit_with_folds(graph, known, fold)
    assert len(chosen) == 1 + 4


def test_a_long_table_of_few_values_needs_no_haste(monkeypatch):
    graph = datasets.load("synthetic_table", nodes=900, random_state=3)
    y = {node: graph.labels[node] for node in range(0, 900, 3)}
    wanted = LabelPropagation(random_state=0).fit(graph.replace(labels=None), y).probabilities_
    monkeypatch.setattr(folds, "LARGE_ENTRIES", 1_000)
    found = LabelPropagation(random_state=0).fit(graph.replace(labels=None), y).probabilities_
    assert (found == wanted).all()
