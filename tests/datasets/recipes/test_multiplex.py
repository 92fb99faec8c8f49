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


def test_leskovec_and_ng_carry_their_own_names(gramme_data: Path):
    graph = datasets.load("leskovec_ng")
    by_name = dict(zip(graph.nodes, graph.labels, strict=True))
    assert by_name["Jure Leskovec"] == "Leskovec"
    assert by_name["Andrew Ng"] == "Ng"
    assert "Bernhard Schölkopf" in by_name


def test_vickers_labels_are_those_of_the_data_folder(gramme_data: Path):
    graph = datasets.load("vickers_chan")
    codes = (gramme_data / "vickers_chan" / "vickers_chan.labels").read_text().split()
    assert [{"0": "boy", "1": "girl"}[code] for code in codes] == graph.labels.tolist()
    assert graph.nodes.tolist() == list(range(1, 30))
