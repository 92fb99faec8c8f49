"""Pictures of a regression."""

import numpy as np
import pytest
from tests.methods.graphs import planted

from gramme import DataError, GrammeRegressor
from gramme.plots import numbers

GRAPH = planted(60)
TRUE = 10.0 * GRAPH.labels.astype(str).astype("U1").view(np.uint32) + np.arange(60) % 5
KNOWN = np.where(np.arange(60) % 2 == 0, TRUE, np.nan)


@pytest.fixture(scope="module")
def model():
    quick = GrammeRegressor(ingredients=["propagation", "groups-ridge"], random_state=0)
    return quick.fit(GRAPH, KNOWN)


def test_predicted_without_themselves_against_the_known_numbers(model):
    ax = model.plot_predictions()
    points = ax.collections[-1].get_offsets()
    np.testing.assert_allclose(points, np.column_stack([model.unseen_, model.known_values_]))
    assert f"R² {model.r2_:.2f}" in ax.get_title()
    band = ax.collections[0].get_paths()[0].vertices
    wide = np.ptp(band[np.isclose(band[:, 0], band[:, 0].min()), 1])
    assert wide == pytest.approx(2 * model.half_width(0.9))


def test_nodes_that_were_not_learned_from(model, monkeypatch):
    ax = model.plot_predictions(TRUE, ax=model.plot_ingredients().figure.add_subplot())
    new = np.arange(60) % 2 == 1
    points = ax.collections[-1].get_offsets()
    np.testing.assert_allclose(points, np.column_stack([model.predict()[new], TRUE[new]]))
    with pytest.raises(DataError, match="has learned from all these"):
        model.plot_predictions(KNOWN)
    monkeypatch.setattr(numbers, "MAX_POINTS", 10)
    few = model.plot_predictions()
    assert len(few.collections[-1].get_offsets()) == 10
    assert "30 nodes (10 drawn)" in few.get_title()


def test_a_bar_per_ingredient(model):
    ax = model.plot_ingredients()
    table = model.ingredients_.sort_values("weight", kind="stable")
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], 100 * table["weight"])
    assert [text.get_text() for text in ax.get_yticklabels()] == table["ingredient"].tolist()
