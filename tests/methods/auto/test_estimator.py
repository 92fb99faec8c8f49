"""What mixtures of classes and of numbers share: the time for attention, shares of the work, sentences, budgets."""

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme.errors import GrammeWarning
from gramme.methods import GrammeAuto, GrammeRegressor
from gramme.methods.attention.members import TrainingSize
from gramme.methods.auto.estimator import training_size_in_words, work_shares
from gramme.methods.auto.ingredients import INGREDIENTS, Recipe

FULL = TrainingSize(8, 2, 40)


def test_words() -> None:
    told = training_size_in_words(TrainingSize(1, 1, 12), FULL, 5, 1, None)
    assert told == (
        "To keep to about 7 min of one core, attention has 1 of 8 members, 1 of 2 members for each fold and 12 of 40 "
        "epochs; since the data are large, 1 of 5 folds weigh the ingredients."
    )
    assert training_size_in_words(FULL, FULL, 5, 2, None).startswith("Since the data are large, 2 of 5")


def test_the_share_of_an_ingredient_is_that_of_the_models_it_trains() -> None:
    names = ("label-propagation", "gramme-fusion")
    recipe = Recipe(GrammeAuto(ensemble=8).get_params(deep=False), names, 10, 0)
    shares = work_shares(recipe, 5, INGREDIENTS)
    assert shares == pytest.approx({"label-propagation": 6 / 60, "gramme-fusion": 54 / 60})


def test_a_regression_keeps_to_a_budget_and_says_so() -> None:
    graph = planted(60)
    numbers = np.where(half_known(graph) == None, np.nan, np.arange(60) % 3)  # noqa: E711
    with pytest.warns(GrammeWarning, match="Attention is left out: a budget of 1 s is too short"):
        model = GrammeRegressor(budget=0.001, random_state=0).fit(graph, numbers)
    assert "attention" not in model.models_
    assert model.explanation_.endswith("a budget of 1 s is too short for it.")
    assert model.layer_importance_.sum() == pytest.approx(1)


def test_a_budget_holds_for_all_ingredients_together() -> None:
    graph = planted(60)
    with pytest.warns(GrammeWarning, match="spectral-logistic is left out: a budget of 1 s is too short"):
        model = GrammeAuto(budget=0.001, random_state=0).fit(graph, half_known(graph))
    assert list(model.models_) == ["label-propagation"]
    assert model.ingredients_["weight"].tolist() == [1.0]
    assert "one-hot-logistic is left out" in model.explanation_
