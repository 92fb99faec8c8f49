from pathlib import Path

from gramme import datasets


def test_leskovec_and_ng_carry_their_own_names(gramme_data: Path):
    graph = datasets.load("leskovec_ng")
    by_name = dict(zip(graph.nodes, graph.labels, strict=True))
    assert by_name["Jure Leskovec"] == "Leskovec"
    assert by_name["Andrew Ng"] == "Ng"
    assert "Bernhard Schölkopf" in by_name
