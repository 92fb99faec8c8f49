"""No unit of the features and no weight decay makes a model predict one class where another has learned."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.sizes import pairwise

import gramme

UNITS = (1e-3, 1.0, 1e6)
NODES, CLASSES = 120, 3


def blocks(kind, unit):
    """Three groups of nodes, joined mostly within, with features that tell them apart."""
    random = np.random.default_rng(0)
    label = np.arange(NODES) % CLASSES
    layers = {}
    for name in "ab":
        source, target = random.integers(NODES, size=(2, 900))
        kept = (label[source] == label[target]) | (random.random(900) < 0.15)
        kept &= source != target
        layers[name] = gramme.EdgeLayer(NODES, source[kept], target[kept])
    if kind == "words":
        chance = np.full((CLASSES, 90), 0.05)
        for number in range(CLASSES):
            chance[number, 30 * number : 30 * number + 10] = 0.25
        features = sp.csr_array((random.random((NODES, 90)) < chance[label]) * unit)
    elif kind == "counts":
        often = 0.3 + 2.5 * (np.arange(90) % CLASSES == label[:, None]) * (np.arange(90) < 30)
        features = random.poisson(often).astype(float) * unit
    else:
        features = (random.normal(size=(NODES, 12)) + 2 * np.eye(CLASSES, 12)[label] + 3) * unit
    return gramme.MultilayerGraph(layers, labels=label, features=features)


def labelled(graph, per_class=8):
    y = np.full(graph.num_nodes, None, dtype=object)
    for one in set(graph.labels):
        y[np.flatnonzero(graph.labels == one)[:per_class]] = one
    return y


def right(model, graph, y):
    unknown = np.array([one is None for one in y])
    return float((model.predict() == graph.labels)[unknown].mean())


@pytest.mark.parametrize("kind", ["words", "counts", "measurements"])
@pytest.mark.parametrize("model", [gramme.GrammeFusion, gramme.GrammeSG])
def test_attention_is_the_same_in_every_unit(model, kind):
    small, one, large = (
        model(ensemble=1, epochs=3, random_state=0).fit(graph, labelled(graph)).probabilities_
        for graph in (blocks(kind, unit) for unit in UNITS)
    )
    np.testing.assert_allclose(small, one, atol=1e-6)
    np.testing.assert_allclose(large, one, atol=1e-6)


@pairwise(kind=["words", "measurements"], model=[gramme.GrammeFusion, gramme.GrammeSG], decay=[None, 0.0, 0.02])
def test_attention_learns_from_features_of_a_small_unit(model, kind, decay):
    graph = blocks(kind, UNITS[0])
    y = labelled(graph)
    fitted = model(weight_decay=decay, ensemble=2, random_state=0).fit(graph, y)
    assert right(fitted, graph, y) > 0.8


@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        ("words", UNITS[0]),
        ("counts", UNITS[-1]),
        ("measurements", UNITS[0]),
        pytest.param("words", UNITS[-1], marks=pytest.mark.slow),
        pytest.param("counts", UNITS[0], marks=pytest.mark.slow),
        pytest.param("measurements", UNITS[-1], marks=pytest.mark.slow),
    ],
)
def test_every_ingredient_learns_from_features_of_any_unit(kind, unit):
    graph = blocks(kind, unit)
    y = labelled(graph)
    fitted = gramme.GrammeAuto(ensemble=2, folds=2, random_state=0).fit(graph, y)
    for one in [fitted, *fitted.models_.values()]:
        assert right(one, graph, y) > 0.6
    assert right(fitted, graph, y) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("name", ["acm_heco", "acm3025", "cora"])
@pytest.mark.usefixtures("gramme_data")
def test_no_ingredient_predicts_one_class_on_real_attributes(name):
    # as memberships acm_heco is small enough for attention to take part
    options = {"view": "relations"} if name == "acm_heco" else {}
    graph = gramme.datasets.load(name, **options)
    y = labelled(graph, per_class=20)
    # the folds of the attention model are further members, so that two folds are enough to see whether it learns
    fitted = gramme.GrammeAuto(ensemble=2, folds=2, random_state=0).fit(graph, y)
    for model in fitted.models_.values():
        shares = np.unique(model.predict(), return_counts=True)[1] / graph.num_nodes
        assert len(shares) == len(fitted.classes_)
        assert shares.max() < 0.9
    table = fitted.ingredients_.set_index("ingredient")["accuracy"]
    assert table["gramme-fusion"] > table.max() - 0.15
