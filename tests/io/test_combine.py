"""What several files hold, put together."""

from pathlib import Path

import numpy as np
import pytest
from tests.io.cases import sample_graph

from gramme.errors import DataError
from gramme.graph import Coupling, EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io import read, write
from gramme.io.assemble import joined, parsed_graph
from gramme.io.parsed import Parsed, RowCollector
from gramme.io.source import gathered


def part(name, *edges, **facts):
    rows = RowCollector(Path(name))
    for line, (source, target, weight) in enumerate(edges, start=2):
        rows.add("", source, target, weight, line)
    found = rows.finish()
    found.layers = []
    return Parsed([Path(name)], found, **facts)


def test_names_weights_and_lines():
    one = part("a.csv", ("x", "y", "2"), ("y", "z", "3"))
    two = part("b.csv", ("z", "w", None), directed=True)
    whole = joined({"a": one, "b": two})
    assert whole.rows.nodes == ["x", "y", "z", "w"]
    assert whole.rows.layers == whole.layers == ["a", "b"]
    assert np.isnan(whole.rows.weight).tolist() == [False, False, True]
    assert [whole.rows.line_of(row) for row in range(3)] == [2, 3, 2]
    assert whole.directed == {"b": True}


def test_weights_of_one_mean_none_where_the_file_says_so():
    one = part("a.net", ("x", "y", "1"), ones_mean_unweighted=True)
    two = part("b.csv", ("x", "y", "1"))
    assert np.isnan(joined({"a": one, "b": two}).rows.weight).tolist() == [True, False]


def test_a_list_of_nodes_bounds_its_own_layer():
    one = part("a.csv", ("x", "y", None), nodes=["x", "y"])
    two = part("b.csv", ("x", "z", None))
    whole = joined({"a": one, "b": two})
    assert whole.nodes == ["x", "y", "z"]
    assert whole.present == {"a": ["x", "y"]}


def test_features_that_do_not_fit_all_nodes_are_told():
    one = part("a.csv", ("x", "y", None), nodes=["x", "y"], features=np.ones((2, 1)))
    with gathered() as notes:
        assert joined({"a": one, "b": part("b.csv", ("x", "z", None))}).features is None
    assert "the features in a.csv are not used" in notes.doubts[0]


def test_a_graph_taken_apart_has_everything():
    layers = sample_graph().layers | {"club": MembershipLayer.from_values(["a", "a", "b", None, "b"])}
    graph = sample_graph(layers=layers)
    found = parsed_graph(graph, Path("g.npz"))
    assert found.layers == ["chat", "lunch", "none", "club"]
    assert found.groups["club"].groups == ["a", "a", "b", "b"]
    assert not found.groups["club"].all_present
    assert found.labels == {"Ann": "1", "Bo": "2", "Di": "1"}
    assert found.features.shape == (5, 2)


def test_two_labels_for_a_node():
    one = part("a.csv", ("x", "y", None), labels={"x": "red"})
    two = part("b.csv", ("x", "y", None), labels={"x": "blue"})
    with pytest.raises(DataError, match=r"b.csv: 'x' has the label 'blue', but 'red'"):
        joined({"a": one, "b": two})


def test_an_archive_among_several_files_keeps_its_masks_and_couplings(tmp_path):
    edges = {"a": EdgeLayer(3, [0], [1]), "b": EdgeLayer(3, [1], [2], directed=True)}
    masks = {"train": [True, False, False]}
    graph = MultilayerGraph(edges, nodes=["p", "q", "r"], masks=masks, couplings={("a", "b"): Coupling(3, [0], [2])})
    write(graph, tmp_path / "g.npz")
    (tmp_path / "more.csv").write_text("source,target\np,s\n")
    again = read([tmp_path / "g.npz", tmp_path / "more.csv"])
    assert again.masks["train"].tolist() == [True, False, False, False]
    assert again.couplings["a", "b"].num_edges == 1
    assert again.layers["b"].directed
