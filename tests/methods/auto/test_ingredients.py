"""Ingredients: one entry is enough to be named, applied, weighed, explained, saved and loaded."""

from unittest import mock

import pytest
from tests.methods.graphs import half_known, planted

import gramme
from gramme import DataError, GrammeAuto, GrammeWarning
from gramme.methods import Ingredient, Majority, register_ingredient
from gramme.methods.auto.ingredients import INGREDIENTS, Recipe, _spectral_credit, names_for

GRAPH = planted()
Y = half_known(GRAPH)
RECIPE = Recipe({}, ("label-propagation",), labels=18, seed=3)


@pytest.fixture
def known():
    """What a test registers is there for that test only."""
    with mock.patch.dict(INGREDIENTS):
        yield INGREDIENTS


def test_every_ingredient_can_be_imported_from_gramme_methods():
    for ingredient in INGREDIENTS.values():
        name = ingredient.estimator.__name__
        assert getattr(gramme.methods, name) is ingredient.estimator
        assert name in gramme.methods.__all__


def test_an_entry_is_enough(known, tmp_path):
    register_ingredient(Ingredient("most", Majority, "what is most frequent"))
    some = GrammeAuto(ingredients=["most", "one-hot-logistic"], random_state=0).fit(GRAPH, Y)
    assert list(some.models_) == ["one-hot-logistic", "most"]
    assert some.models_["most"].random_state == 0
    assert some.layer_importance_.sum() == pytest.approx(1)
    alone = GrammeAuto(ingredients=["most"], random_state=0).fit(GRAPH, Y)
    assert alone.explanation_.startswith("Mostly what is most frequent, 100 %")
    some.save(tmp_path / "m")
    loaded = gramme.load(tmp_path / "m")
    assert loaded.predict_proba().tobytes() == some.predict_proba().tobytes()
    del known["most"]
    with pytest.raises(DataError, match="ingredients cannot be 'most'"):
        gramme.load(tmp_path / "m")
    with pytest.raises(DataError, match="ingredients cannot be 'most'"):
        GrammeAuto(ingredients=["most"]).fit(GRAPH, Y)


def test_one_that_does_not_apply_is_left_out_and_one_that_does_not_fit_is_named(known):
    for name in list(known):
        if name != "label-propagation":
            del known[name]
    register_ingredient(Ingredient("never", Majority, "", applies=lambda graph: False))
    register_ingredient(Ingredient("most", Majority, "", fits=lambda graph: False))
    with pytest.warns(GrammeWarning, match="too large for most") as caught:
        model = GrammeAuto(random_state=0).fit(GRAPH, Y)
    assert caught[0].filename == __file__
    assert list(model.models_) == ["label-propagation"]
    assert "most" in GrammeAuto(ingredients=["most"]).fit(GRAPH, Y).models_, "named, it is used"


def test_slow_ones_are_fitted_last(known):
    register_ingredient(Ingredient("most", Majority, "", slow=False))
    assert names_for(GRAPH)[-2:] == ["most", "gramme-fusion"]


def test_the_spectral_model_has_a_head_start_where_labels_are_few():
    assert _spectral_credit(5) == 2.25
    assert _spectral_credit(100) == pytest.approx(0.27)


def test_groups_leave_the_features_to_the_neighbourhood_model():
    with_it = Recipe({}, ("one-hot-logistic", "neighbourhood-logistic"), 18, 0)
    assert not INGREDIENTS["one-hot-logistic"].made(with_it).use_features
    assert INGREDIENTS["one-hot-logistic"].made(RECIPE).use_features
    assert INGREDIENTS["one-hot-logistic"].made(RECIPE).random_state == 3


def test_attention_is_left_out_where_there_are_thousands_of_layers():
    edge = gramme.EdgeLayer(2, [0], [1])
    fits = INGREDIENTS["gramme-fusion"].fits
    assert fits(gramme.MultilayerGraph({str(layer): edge for layer in range(1000)}))
    assert not fits(gramme.MultilayerGraph({str(layer): edge for layer in range(1001)}))
