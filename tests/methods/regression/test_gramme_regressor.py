"""Numbers on nodes: the mixture finds what groups and edges tell, and its intervals hold what they promise."""

import numpy as np
import pytest

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.regression.gramme_regressor import GrammeRegressor, mixture_weights


def table(seed: int = 0, count: int = 240, noise: float = 1.0):
    random = np.random.default_rng(seed)
    one, other, none = (random.integers(0, 4, count) for _ in range(3))
    truth = 5.0 * one - 3.0 * other + random.normal(0, noise, count)
    layers = {
        name: MembershipLayer.from_codes(codes)
        for name, codes in (("one", one), ("other", other), ("none", none))
    }
    return MultilayerGraph(layers), truth


def known_part(truth: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    hidden = np.random.default_rng(seed).random(truth.size) > share
    return np.where(hidden, np.nan, truth)


def test_what_columns_add_up_to_is_found() -> None:
    graph, truth = table()
    y = known_part(truth, 0.3)
    model = GrammeRegressor(random_state=0).fit(graph, y)
    hidden = np.isnan(y)
    assert model.score(y=np.where(hidden, truth, np.nan)) > 0.9
    assert model.r2_ > 0.9
    weights = model.ingredients_["weight"]
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert np.isnan(model.out_of_fold_[hidden]).all()
    assert model.mean_absolute_error_ == pytest.approx(
        np.abs(model.out_of_fold_ - truth)[~hidden].mean()
    )


def test_numbers_spread_along_edges() -> None:
    count = 120
    graph = MultilayerGraph({"line": EdgeLayer(count, range(count - 1), range(1, count))})
    truth = np.sin(np.arange(count) / 15)
    model = GrammeRegressor(random_state=0).fit(graph, known_part(truth, 0.4))
    assert model.score(y=truth) > 0.8


def test_the_intervals_hold_the_share_they_say() -> None:
    inside = []
    for seed in range(6):
        graph, truth = table(seed)
        y = known_part(truth, 0.4, seed)
        low, high = GrammeRegressor(random_state=seed).fit(graph, y).predict_interval(0.9).T
        hidden = np.isnan(y)
        inside.append(((low <= truth) & (truth <= high))[hidden].mean())
    assert 0.85 <= np.mean(inside) <= 0.97


def test_no_number_that_is_held_back_has_a_part() -> None:
    graph, truth = table()
    y = known_part(truth, 0.3)
    one = GrammeRegressor(random_state=0).fit(graph, y)
    changed = np.where(np.isnan(y), truth + 1000, y)
    other = GrammeRegressor(random_state=0).fit(graph, np.where(np.isnan(y), np.nan, changed))
    assert np.array_equal(one.predict(), other.predict())


def test_mistakes_are_told() -> None:
    graph, truth = table()
    with pytest.raises(DataError, match="is no number"):
        GrammeRegressor().fit(graph, ["low"] * graph.num_nodes)
    with pytest.raises(DataError, match="at least 5"):
        GrammeRegressor().fit(graph, [1.0, 2.0, *[None] * (graph.num_nodes - 2)])
    with pytest.raises(DataError, match="coverage"):
        GrammeRegressor(random_state=0).fit(graph, truth).predict_interval(1.5)
    assert mixture_weights(np.array([[0.0, 1], [0, 2]]), np.array([1.0, 2])).round(3).tolist() == [
        0,
        1,
    ]
