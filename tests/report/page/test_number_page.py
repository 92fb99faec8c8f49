"""The page of numbers: sentences against numbers, and names as text."""

import json

import numpy as np

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods import GrammeRegressor
from gramme.report.page.html import render
from gramme.report.page.number_page import number_data

QUICK = {"ingredients": ["propagation", "groups-ridge"], "random_state": 0}


def test_sentences_are_made_from_the_numbers() -> None:
    codes = np.arange(40) % 4
    names = ["<b>bold</b>", *(f"n{k}" for k in range(1, 40))]
    labels = np.where(np.arange(40) % 3 > 0, codes * 2.0 + np.arange(40) % 2, None)
    graph = MultilayerGraph({"kind": MembershipLayer.from_codes(codes)}, nodes=names, labels=labels, name="club")
    model = GrammeRegressor(**QUICK).fit(graph)
    data = number_data(model, graph, {})
    text = render(data)
    assert "<h1><bdi>club</bdi></h1>" in text
    assert f"R² {model.r2_:.3f}" in text
    assert "learned the number from <strong>26</strong> of 40 nodes" in text
    assert "for the other 14 nodes" in text
    assert f"within {model.half_width(0.9):.4g} of the prediction" in text
    low, high = model.predict_interval(0.9)[0]
    assert 0.1 <= (high - low) / 2 < 10, "so that two or three decimals are right"
    places = 2 if (high - low) / 2 >= 1 else 3
    assert f"{(low + high) / 2:.{places}f}</td>" in text
    assert f"{low:.{places}f} to {high:.{places}f}</td>" in text, "all with the same decimals"
    assert "<b>bold" not in text
    weights = [f"{100 * one:.1f} %</td>" for one in sorted(model.ingredients_["weight"], reverse=True)]
    places_in_text = [text.index(one) for one in weights]
    assert places_in_text == sorted(places_in_text), "the heaviest ingredient first"
    known = np.array([float(one) for one in labels if one is not None])
    assert f"always saying the mean would be {np.abs(known - known.mean()).mean():.4g} off" in text
    assert f"the predictions explain {100 * model.r2_:.0f} % of how much the numbers differ" in text


def test_no_interval_and_no_r2_are_said_as_such() -> None:
    """Five labels are too few for an interval of 90 %; equal ones leave nothing to explain."""
    graph = MultilayerGraph({"kind": MembershipLayer.from_codes(np.arange(8) % 2)}, labels=[3.0] * 5 + [None] * 3)
    data = number_data(GrammeRegressor(**QUICK).fit(graph), graph, {})
    json.dumps(data, allow_nan=False)
    text = render(data)
    assert "there are too few labels for an interval" in text
    assert "All known numbers are the same" in text
    assert "anything</td>" in text


def test_predictions_no_better_than_the_mean_are_called_so() -> None:
    random = np.random.default_rng(3)
    graph = MultilayerGraph({"kind": MembershipLayer.from_codes(np.arange(30) % 2)}, labels=random.normal(size=30))
    model = GrammeRegressor(**QUICK).fit(graph)
    text = render(number_data(model, graph, {}))
    assert model.r2_ < 0
    assert "no better than always saying the mean" in text
    assert "there was none left to predict" in text
    assert "explain" not in text.split("<h2")[2]
