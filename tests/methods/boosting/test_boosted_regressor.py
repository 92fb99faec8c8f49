"""Boosted trees for numbers: they cut numbers, use the means of groups, and keep a node's own number out."""

import numpy as np
import pandas as pd
import pytest

import gramme
from gramme import MembershipLayer, MultilayerGraph
from gramme.methods import GrammeRegressor
from gramme.methods.boosting.table_boosting import BoostedRegressor
from gramme.methods.regression.base import KnownNumbers

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(size=300)
TRUTH = np.where((X > 0.3) & (X < 0.45), 10.0, 0.0) + RANDOM.normal(scale=0.1, size=300)
TABLE = MultilayerGraph.from_table(pd.DataFrame({"x": X, "noise": X[::-1]}))
HIDDEN = np.arange(300) % 3 == 0
KNOWN = np.where(HIDDEN, np.nan, TRUTH)


def test_a_band_of_numbers_is_found_and_taken_into_the_mixture():
    model = BoostedRegressor(random_state=0).fit(TABLE, KNOWN)
    assert model.score(y=np.where(HIDDEN, TRUTH, np.nan)) > 0.9
    assert model.column_importance_.index[0] == "x"
    mixture = GrammeRegressor(random_state=0, epochs=5, ensemble=1).fit(TABLE, KNOWN)
    weights = mixture.ingredients_.set_index("ingredient")["weight"]
    assert weights["boosting"] > 0.7


def test_pairs_with_random_numbers_say_nothing():
    """With a node's own number in the mean of its group, half of it would be known."""
    numbers = RANDOM.normal(size=400)
    graph = MultilayerGraph({"pair": MembershipLayer.from_codes(np.arange(400) // 2)})
    model = BoostedRegressor(random_state=0).fit(graph, numbers)
    assert abs(np.corrcoef(model.predict(), numbers)[0, 1]) < 0.25


def test_the_means_of_many_groups_are_learned():
    codes = np.arange(600) % 50
    numbers = codes + RANDOM.normal(scale=0.5, size=600)
    graph = MultilayerGraph({"shop": MembershipLayer.from_codes(codes)})
    known = np.where(np.arange(600) % 7 == 0, np.nan, numbers)
    model = BoostedRegressor(random_state=0).fit(graph, known)
    assert model.score(y=np.where(np.isnan(known), numbers, np.nan)) > 0.95
    assert model.column_importance_.index[0] == "mean number in shop"


def test_saved_and_loaded_in_a_mixture_it_predicts_other_rows_alike(tmp_path):
    model = GrammeRegressor(random_state=0, ingredients=["boosting"]).fit(TABLE, KNOWN)
    model.save(tmp_path / "model.safetensors")
    loaded = gramme.load(tmp_path / "model.safetensors")
    new = MultilayerGraph.from_table(pd.DataFrame({"x": [0.1, 0.4, 0.9], "noise": [0.5, 0.6, 0.7]}))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    np.testing.assert_allclose(model.predict(new), [0, 10, 0], atol=1.5)


def test_what_is_said_of_a_fold_does_not_depend_on_its_numbers():
    known = KnownNumbers(np.flatnonzero(~HIDDEN), TRUTH[~HIDDEN])
    fold = np.arange(known.nodes.size) % 3
    moved = KnownNumbers(known.nodes, np.where(fold == 1, 100.0, known.values))
    first, again = (BoostedRegressor(random_state=0).fit_with_folds(TABLE, one, fold) for one in (known, moved))
    np.testing.assert_array_equal(first[fold == 1], again[fold == 1])
    assert not np.allclose(first[fold == 0], again[fold == 0])


@pytest.mark.parametrize("known", [5, 6])
def test_few_numbers_are_enough(known: int):
    y = np.full(300, np.nan)
    y[:known] = np.arange(known)
    model = BoostedRegressor(random_state=0).fit(TABLE, y)
    assert np.isfinite(model.predict()).all()
