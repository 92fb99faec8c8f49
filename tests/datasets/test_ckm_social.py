from pathlib import Path

from scipy.sparse.csgraph import connected_components

from gramme import datasets
from gramme.graph import EdgeLayer


def test_ckm_repeats_are_merged_and_no_edge_leaves_a_city(gramme_data: Path):
    graph = datasets.load("ckm_social")
    merged = 0
    for layer in graph.layers.values():
        assert isinstance(layer, EdgeLayer)
        assert layer.self_loops_dropped == 241
        # One of the two directions of each edge is merged by nature, the rest are repeats.
        merged += layer.duplicates_merged - layer.num_edges
    assert merged == 362
    assert (graph.summary()["homophily"] == 1).all()
    pieces, _ = connected_components(sum(graph.to_scipy().values()))
    assert pieces == 4  # so the layers together give the cities away
