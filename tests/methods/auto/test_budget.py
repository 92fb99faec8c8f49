"""How a mixture keeps to a time, and says so."""

import time

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

import gramme
from gramme.errors import DataError, GrammeError, GrammeWarning
from gramme.methods import GrammeAuto, folds
from gramme.methods.attention.effort import TRAINING_SHARE, Effort, expected_step_seconds
from gramme.methods.auto import budget as module
from gramme.methods.auto.budget import (
    attention_allowance,
    effort_in_words,
    expected_costs,
    left_out_in_words,
)
from gramme.methods.auto.ingredients import Recipe
from gramme.methods.data_size import DataSize

GRAPH = planted(60)
Y = half_known(GRAPH)
FULL = Effort(8, 2, 40)


def test_the_default_depends_on_no_clock_and_a_budget_on_what_is_left() -> None:
    assert not attention_allowance(None, 0.0).measured
    left = attention_allowance(100.0, time.perf_counter() - 30)
    assert left.measured
    assert 69 < left.seconds <= 70


def test_words() -> None:
    told = effort_in_words(Effort(1, 1, 12), FULL, 5, 1, None)
    assert told == (
        "To keep to about 7 min of one core, attention has 1 of 8 members, 1 of 2 members for each fold and 12 of 40 "
        "epochs; since the data are large, 1 of 5 folds weigh the ingredients."
    )
    assert effort_in_words(FULL, FULL, 5, 2, None).startswith("Since the data are large, 2 of 5")
    assert "a budget of 3 s is too short" in left_out_in_words(3.0)


def test_a_short_budget_leaves_attention_out_and_says_so() -> None:
    with pytest.warns(GrammeWarning, match="Attention is left out: a budget of 1 s is too short"):
        model = GrammeAuto(budget=0.001, random_state=0).fit(GRAPH, Y)
    assert "gramme-fusion" not in model.models_
    assert model.explanation_.endswith("a budget of 1 s is too short for it.")
    with pytest.raises(GrammeError, match="give it a larger budget"):
        GrammeAuto(budget=0.001, ingredients=["gramme-fusion"], random_state=0).fit(GRAPH, Y)


def test_large_data_shrink_attention_by_their_size_and_the_file_remembers(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    sixty_steps = 60 * expected_step_seconds(GRAPH) / TRAINING_SHARE
    monkeypatch.setattr(module, "DEFAULT_SECONDS", sixty_steps)
    monkeypatch.setattr(folds, "LARGE_ENTRIES", 10)
    monkeypatch.setattr(folds, "ENOUGH_LABELS", 3)
    chosen = ["label-propagation", "gramme-fusion"]
    with pytest.warns(GrammeWarning, match="1 of 5 folds weigh"):
        model = GrammeAuto(epochs=12, ingredients=chosen, random_state=0).fit(GRAPH, Y)
    attention = model.attention_
    assert attention.effort_ == Effort(4, 1, 12)
    assert attention.members_ == 4
    assert model.explanation_.endswith(model.done_in_time_)
    assert f"{attention.members_} of 8 members" in model.done_in_time_
    tested = model.out_of_fold()
    assert 0 < tested.nodes.size < 30
    assert np.isfinite(tested.probabilities).all()
    model.save(tmp_path / "m.safetensors")
    assert gramme.load(tmp_path / "m.safetensors").done_in_time_ == model.done_in_time_


def test_enough_time_changes_nothing() -> None:
    settings = {"epochs": 10, "ensemble": 2, "ingredients": ["gramme-fusion"], "random_state": 0}
    free, timed = (GrammeAuto(budget=one, **settings).fit(GRAPH, Y) for one in (None, "1h"))
    assert (free.probabilities_ == timed.probabilities_).all()
    assert timed.done_in_time_ == ""


@pytest.mark.parametrize("wrong", ["soon", "", 0, -1, "10 parsecs", True, float("nan")])
def test_a_budget_is_a_time(wrong: object) -> None:
    with pytest.raises(DataError, match="budget"):
        GrammeAuto(budget=wrong).fit(GRAPH, Y)


def test_what_a_fit_is_expected_to_take_grows_with_the_data_up_to_the_allowance() -> None:
    small, large = GrammeAuto().expected_seconds(GRAPH), GrammeAuto().expected_seconds(planted(600))
    assert 0.5 < small < large < 60
    names = ("label-propagation", "gramme-fusion")
    recipe = Recipe(GrammeAuto().get_params(deep=False), names, 10, 0)
    huge = DataSize.guessed(1e9)
    assert expected_costs(recipe, huge, 2)["gramme-fusion"] == module.DEFAULT_SECONDS
    recipe = Recipe(GrammeAuto(budget="3h").get_params(deep=False), names, 10, 0)
    costs = expected_costs(recipe, huge, 2)
    assert sum(costs.values()) == pytest.approx(3 * 3600), "attention has what a budget leaves"
