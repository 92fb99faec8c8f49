"""The choice of label propagation's settings: skills of layers, weights from skills, probabilities from both."""

import numpy as np
from tests.methods.graphs import half_known, planted

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods.labels import known_labels
from gramme.methods.propagation.settings_choice import (
    ALPHAS,
    EVEN_SHARE,
    POWERS,
    SHARPNESS,
    Candidate,
    Plan,
    baseline,
    choose,
    probabilities,
    skill_weights,
    skills,
)
from gramme.methods.propagation.walk_choice import walk_of


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


def test_a_layer_that_follows_the_classes_has_more_skill():
    graph = two_layers()
    known = known_labels(graph)
    found = skills(graph, known, np.ones((1, 60), dtype=bool))[0]
    assert found[0] > 5 * found[1]
    assert (found >= 0).all()


def test_the_skill_of_a_fold_sees_only_its_labels():
    graph = two_layers()
    known = known_labels(graph)
    kept = np.arange(60)[None, :] % 3 > 0
    changed = graph.labels.copy()
    for place in np.flatnonzero(~kept[0])[:10]:
        changed[place] = "a" if changed[place] == "b" else "b"
    other = known_labels(graph, changed)
    np.testing.assert_array_equal(skills(graph, known, kept), skills(graph, other, kept))


def test_weights_from_skills():
    skill = np.array([0.5, 0.25, 0.0])
    assert skill_weights(skill, 0).tolist() == [1 / 3] * 3
    weights = skill_weights(skill, 1)
    np.testing.assert_allclose(weights.sum(), 1)
    np.testing.assert_allclose(weights[2], EVEN_SHARE / 3)
    assert skill_weights(skill, 4)[0] > weights[0]
    np.testing.assert_allclose(skill_weights(np.zeros(3), 2), 1 / 3)


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


def test_the_layer_that_tells_is_chosen_and_one_candidate_needs_no_test():
    graph = two_layers()
    known = known_labels(graph, half_known(graph, every=3))
    found = choose(graph, walk_of(graph), known, plan(), None, 0)
    assert found.power > 0
    only = plan(powers=(0.0,), alphas=(0.3,), sharpness=(2.0,))
    assert choose(graph, walk_of(graph), known, only, None, 0) == Candidate(0.0, 0.3, 2.0)


def test_with_one_label_per_class_the_first_candidate_is_taken():
    graph = planted()
    known = known_labels(graph, {"n0": "x", "n1": "y"})
    assert choose(graph, walk_of(graph), known, plan(), None, 0) == Candidate(0.0, 0.3, 1.0)
