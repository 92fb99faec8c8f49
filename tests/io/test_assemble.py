import numpy as np
import pandas as pd
import pytest

from gramme.errors import FileFormatError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io.assemble import assemble, renamed
from gramme.io.formats.npz import restored_edges, restored_graph
from gramme.io.parsed import Groups, Parsed, ReadOptions, RowCollector

NUMBERS = np.array([0, 0, 1])


def restore(source=NUMBERS, target=(1, 2, 2), weight=None, directed=False, present=None, nodes=3):
    weight = None if weight is None else np.array(weight)
    return restored_edges(nodes, np.array(source), np.array(target), weight, directed, present)


def test_a_layer_comes_back_as_it_was():
    layer = EdgeLayer(4, [0, 2, 1], [1, 3, 2], [1.0, 2.0, 3.0])
    again = restored_edges(4, layer.source, layer.target, layer.weight, False, None)
    assert again == layer
    assert again.source.dtype == layer.source.dtype


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"target": (1, 2)}, "differ in number"),
        ({"target": (1, 2, 3)}, "does not exist"),
        ({"target": (1, 2, 1)}, "self loop"),
        ({"target": (2, 1, 2)}, "not sorted"),
        ({"target": (1, 1, 2)}, "not sorted"),
        ({"source": (1, 1, 2), "target": (0, 2, 0)}, "wrong way round"),
        ({"weight": (1.0, 0.0, 1.0)}, "not a positive number"),
        ({"weight": (1.0, np.nan, 1.0)}, "not a positive number"),
        ({"weight": np.ones(3, dtype=np.float32)}, "64 bits"),
        ({"present": np.array([True, True, False])}, "absent from its layer"),
    ],
)
def test_edges_that_no_layer_can_have(changes, words):
    with pytest.raises(ValueError, match=words):
        restore(**changes)


def test_the_order_is_checked_across_blocks(monkeypatch):
    monkeypatch.setattr("gramme.io.formats.npz._BLOCK_VALUES", 2)
    assert restore().num_edges == 3
    with pytest.raises(ValueError, match="not sorted"):
        restore(source=(0, 1, 0), target=(1, 2, 2))


def test_features_are_used_as_they_are_after_a_check():
    layers = {"l": restore()}
    features = np.ones((3, 2))
    graph = restored_graph(layers, pd.RangeIndex(3), None, features, "g")
    assert graph.features is features
    for wrong in (np.ones((2, 2)), np.ones((3, 2), dtype=int), np.full((3, 1), np.inf)):
        with pytest.raises(ValueError, match="features"):
            restored_graph(layers, pd.RangeIndex(3), None, wrong, "g")


def test_renamed_keeps_all_but_the_names():
    graph = MultilayerGraph({"l": restore()}, labels=["a", None, "b"], name="g")
    again = renamed(graph, pd.Index(["x", "y", "z"]))
    assert again.nodes.tolist() == ["x", "y", "z"]
    assert again.layers["l"] is graph.layers["l"]
    assert again.labels.tolist() == ["a", None, "b"]


def parsed(tmp_path, *rows, **facts):
    """What a parser found in a file with these (layer, source, target[, weight]) rows."""
    collector = RowCollector(tmp_path / "school.edges")
    for line, (layer, source, target, *weight) in enumerate(rows, 1):
        collector.add(layer, source, target, weight[0] if weight else None, line)
    return Parsed([tmp_path / "school.edges"], collector.finish(), **facts)


def test_layers_come_in_their_order_even_where_the_rows_mix_them(tmp_path):
    found = parsed(tmp_path, ("b", "1", "2"), ("a", "2", "3"), ("b", "3", "1"))
    graph, report = assemble(found, ReadOptions(), "csv")
    assert list(graph.layers) == ["b", "a"]
    assert [layer.num_edges for layer in graph.layers.values()] == [2, 1]
    assert graph.name == "school"
    assert (report.format, report.rows, report.id_base) == ("csv", 3, 1)
    assert report.direction == "undirected, the default: the file does not say"


def test_what_the_user_says_of_direction_counts(tmp_path):
    rows = [("a", "1", "2"), ("b", "2", "1")]
    graph, report = assemble(parsed(tmp_path, *rows, directed={"a": True, "b": False}), ReadOptions(), "csv")
    assert [layer.directed for layer in graph.layers.values()] == [True, False]
    assert report.direction == "some layers directed, some undirected, as the file says"
    graph, report = assemble(parsed(tmp_path, *rows, directed=True), ReadOptions(directed=False), "csv")
    assert not any(layer.directed for layer in graph.layers.values())
    assert report.direction == "undirected, as asked for"


def test_a_stated_list_of_nodes_orders_them_and_may_not_lack_one(tmp_path):
    graph, _ = assemble(parsed(tmp_path, ("a", "x", "y"), nodes=["y", "z", "x"]), ReadOptions(), "csv")
    assert graph.nodes.tolist() == ["y", "z", "x"]
    assert graph.layers["a"].to_scipy()[0].toarray().ravel().tolist() == [0, 0, 1]
    with pytest.raises(FileFormatError, match="line 2: the node 'w' is not in"):
        assemble(parsed(tmp_path, ("a", "x", "y"), ("a", "x", "w"), nodes=["x", "y"]), ReadOptions(), "csv")


def test_weights_are_all_given_or_none(tmp_path):
    ones = [("a", "1", "2", "1"), ("a", "2", "3", "1")]
    plain, _ = assemble(parsed(tmp_path, *ones, ones_mean_unweighted=True), ReadOptions(), "csv")
    assert not plain.layers["a"].weighted
    kept, _ = assemble(parsed(tmp_path, *ones), ReadOptions(), "csv")
    assert kept.layers["a"].weighted
    with pytest.raises(FileFormatError, match="line 2: this edge has no weight"):
        assemble(parsed(tmp_path, ("a", "1", "2", "3"), ("a", "2", "3")), ReadOptions(), "csv")


def test_groups_become_a_membership_layer(tmp_path):
    groups = {"club": Groups(["x", "y", "z"], ["chess", "chess", "go"])}
    graph, _ = assemble(parsed(tmp_path, ("a", "x", "w"), groups=groups), ReadOptions(), "csv")
    layer = graph.layers["club"]
    assert isinstance(layer, MembershipLayer)
    assert dict(zip(layer.group_names, layer.sizes.tolist(), strict=True)) == {"chess": 2, "go": 1}
    assert layer.num_present == 3


def test_labels_may_be_given_by_the_file_or_as_values(tmp_path):
    found = parsed(tmp_path, ("a", "x", "y"), labels={"y": "boy"})
    assert assemble(found, ReadOptions(), "csv")[0].labels.tolist() == [None, "boy"]
    found = parsed(tmp_path, ("a", "x", "y"), labels={"y": "boy"})
    given = assemble(found, ReadOptions(labels=np.array(["u", "v"], dtype=object)), "csv")[0]
    assert given.labels.tolist() == ["u", "v"]


def test_nothing_at_all_is_an_error(tmp_path):
    with pytest.raises(FileFormatError, match="there are no edges in the file"):
        assemble(parsed(tmp_path), ReadOptions(), "csv")
