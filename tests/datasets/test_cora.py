from pathlib import Path

import numpy as np
from tests.datasets.cases import check_split

from gramme import datasets


def test_cora_rows_belong_together(gramme_data: Path):
    """Features, labels and edges are stored apart; were the test rows in a wrong order, neighbours would differ."""
    graph = datasets.load("cora")
    split = datasets.official_split("cora")
    test = split["test"]
    edges = graph.layers["citations"].to_edges()
    inside = np.isin(edges.source, test) & np.isin(edges.target, test)
    start, end = edges.source[inside], edges.target[inside]
    assert (graph.labels[start] == graph.labels[end]).mean() > 0.7
    shared = graph.features[start].multiply(graph.features[end]).sum(axis=1)
    anybody = graph.features[start].multiply(graph.features[np.roll(end, 7)]).sum(axis=1)
    assert shared.mean() > 1.5 * anybody.mean()
    assert set(np.unique(graph.features.data)) == {1.0}
    labels = graph.labels[split["train"]]  # twenty papers per class
    assert np.unique(labels.astype(str), return_counts=True)[1].tolist() == [20] * 7


def test_the_official_split(gramme_data):
    check_split("cora", (140, 500, 1000))
