"""Walks beside given features: large where the network tells and attributes do not, and left out where it is noise."""

import numpy as np
import pytest
import scipy.sparse as sp

import gramme
from gramme.methods.attention.walk_size import MIN_SIZE, chosen_walk_size
from gramme.methods.labels import KnownLabels
from gramme.methods.linear.walk_profile import WalkProfile

NODES, CLASSES = 240, 3
LABEL = np.arange(NODES) % CLASSES


def network(random, within=1.0, across=0.15):
    """Two layers of edges; those between classes are kept with another probability than those within."""
    layers = {}
    for name in "ab":
        source, target = random.integers(NODES, size=(2, 2400))
        kept = random.random(2400) < np.where(LABEL[source] == LABEL[target], within, across)
        kept &= source != target
        layers[name] = gramme.EdgeLayer(NODES, source[kept], target[kept])
    return layers


def noise(kind, random):
    if kind == "words":
        return sp.csr_array((random.random((NODES, 200)) < 0.05) * 1.0)
    return random.normal(size=(NODES, 2 if kind == "two columns" else 200)) * 1e3


def labelled(per_class=8):
    y = np.full(NODES, None, dtype=object)
    y[: per_class * CLASSES] = LABEL[: per_class * CLASSES]
    return y


def size(graph, per_class=8):
    known = np.arange(per_class * CLASSES)
    labels = KnownLabels(known, LABEL[known], np.arange(CLASSES))
    return chosen_walk_size(graph, WalkProfile.of(graph, 32), labels, 0)


@pytest.mark.parametrize("kind", ["two columns", "200 columns", "words"])
@pytest.mark.parametrize("model", [gramme.GrammeFusion, gramme.GrammeSG])
def test_noise_in_the_attributes_does_not_hide_a_telling_network(model, kind):
    random = np.random.default_rng(0)
    graph = gramme.MultilayerGraph(network(random), labels=LABEL, features=noise(kind, random))
    y = labelled()
    fitted = model(ensemble=2, random_state=0).fit(graph, y)
    unknown = np.array([one is None for one in y])
    assert fitted.source_ == "given+walks"
    assert size(graph) == pytest.approx(1, abs=0.5)
    assert (fitted.predict() == LABEL)[unknown].mean() > 0.9
    if kind == "two columns":  # two hundred of noise are as good as random ones, but two are not
        bare = model(features="given", ensemble=2, random_state=0).fit(graph, y)
        assert (bare.predict() == LABEL)[unknown].mean() < 0.6


def test_walks_are_left_out_where_attributes_tell_more():
    random = np.random.default_rng(0)
    telling = random.normal(size=(NODES, 12)) + 3 * np.eye(CLASSES, 12)[LABEL]
    layers = network(random, 0.06, 0.03)
    graph = gramme.MultilayerGraph(layers, labels=LABEL, features=telling)
    assert size(graph) < MIN_SIZE
    fitted = gramme.GrammeFusion(ensemble=1, epochs=2, random_state=0).fit(graph, labelled())
    assert fitted.source_ == "given"
    given = gramme.GrammeFusion(features="given", ensemble=1, epochs=2, random_state=0)
    assert fitted.probabilities_.tobytes() == given.fit(graph, labelled()).probabilities_.tobytes()


def test_asked_for_walks_stay_however_small():
    random = np.random.default_rng(0)
    telling = random.normal(size=(NODES, 12)) + 3 * np.eye(CLASSES, 12)[LABEL]
    graph = gramme.MultilayerGraph(network(random, 0.06, 0.03), labels=LABEL, features=telling)
    model = gramme.GrammeFusion(features="given+walks", ensemble=1, epochs=2, random_state=0)
    assert model.fit(graph, labelled()).profile_ is not None


def test_one_label_of_each_class_leaves_the_choice_to_the_prior():
    random = np.random.default_rng(0)
    graph = gramme.MultilayerGraph(network(random), features=noise("words", random))
    assert size(graph, per_class=1) == pytest.approx(0.2 * 0.25**2)


def test_a_graph_without_any_edge_keeps_its_attributes():
    random = np.random.default_rng(0)
    telling = random.normal(size=(NODES, 12)) + 3 * np.eye(CLASSES, 12)[LABEL]
    graph = gramme.MultilayerGraph({"a": gramme.EdgeLayer(NODES, [], [])}, features=telling)
    fitted = gramme.GrammeFusion(ensemble=1, epochs=2, random_state=0).fit(graph, labelled())
    assert fitted.source_ == "given"
