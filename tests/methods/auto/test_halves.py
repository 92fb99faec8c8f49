"""The mixture of ingredients that learned from half of the labels."""

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme import GrammeAuto
from gramme.graph.name_order import in_name_order
from gramme.methods.auto.mixing import mixed_with_prior, pooled, sharpened
from gramme.methods.probability import class_prior

GRAPH = planted(90)
Y = half_known(GRAPH)


@pytest.fixture(scope="module")
def model():
    names = ["label-propagation", "one-hot-logistic", "gramme-fusion"]
    return GrammeAuto(ensemble=2, epochs=5, ingredients=names, random_state=0).fit(GRAPH, Y)


def test_each_label_is_predicted_by_ingredients_of_the_other_half(model):
    found = model.out_of_half()
    assert found.probabilities.shape == (int(model.labelled_.sum()), 3)
    np.testing.assert_allclose(found.probabilities.sum(1), 1, rtol=1e-5)
    assert (found.probabilities.argmax(1) == found.codes).mean() > 0.5


def test_a_label_never_reaches_its_own_prediction(model, monkeypatch):
    """With another class for a label, what is said about its half stays as it is."""
    known = model._learned_from()
    half = np.arange(known.nodes.size) % 2
    monkeypatch.setattr("gramme.methods.auto.halves.stratified_folds", lambda *_, **__: half)
    before = model._from_halves(GRAPH, known).probabilities
    _, places = known.sorted_by_name(in_name_order(GRAPH))
    mine = np.isin(np.arange(half.size), places[half == 0])
    changed = int(np.flatnonzero(mine)[0])
    known.codes[changed] = (known.codes[changed] + 1) % 3
    after = model._from_halves(GRAPH, known).probabilities
    np.testing.assert_allclose(after[mine], before[mine], rtol=1e-6)
    assert np.abs(after[~mine] - before[~mine]).max() > 1e-3


def test_one_ingredient_alone_is_pooled_and_calibrated_as_in_the_fit():
    alone = GrammeAuto(ingredients=["one-hot-logistic"], random_state=0).fit(GRAPH, Y)
    inner = alone.models_["one-hot-logistic"]
    halved = dict(zip(*_rows(inner.out_of_half()), strict=True))
    found = alone.out_of_half()
    prior = class_prior(alone.class_counts_)
    for node, row in zip(found.nodes.tolist(), found.probabilities, strict=True):
        mixed = pooled([mixed_with_prior(halved[node][None], prior)], [1.0])
        np.testing.assert_allclose(row, sharpened(mixed, alone.exponent_)[0], rtol=1e-4)


def _rows(found):
    return found.nodes.tolist(), found.probabilities
