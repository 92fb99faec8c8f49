"""The page of numbers: sentences against numbers, and names as text."""

import numpy as np

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods import GrammeRegressor
from gramme.report.page.number_page import number_data, render_numbers


def test_sentences_are_made_from_the_numbers() -> None:
    codes = np.arange(40) % 4
    names = ["<b>bold</b>", *(f"n{k}" for k in range(1, 40))]
    labels = np.where(np.arange(40) % 3 > 0, codes * 2.0 + np.arange(40) % 2, None)
    graph = MultilayerGraph(
        {"kind": MembershipLayer.from_codes(codes)}, nodes=names, labels=labels, name="club"
    )
    model = GrammeRegressor(random_state=0).fit(graph)
    data = number_data(model, graph.labels, {})
    text = render_numbers(data)
    assert "<h1><bdi>club</bdi></h1>" in text
    assert f"R² {model.r2_:.3f}" in text
    assert "<strong>26</strong> of 40 nodes and predicted a number for the other 14" in text
    low, high = model.predict_interval(0.9)[0]
    assert f"within {(high - low) / 2:.4g} of the prediction" in text
    assert f"{low:.4g} to {high:.4g}" in text
    assert "<b>bold" not in text
