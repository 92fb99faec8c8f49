import numpy as np
import pytest

from gramme.errors import FileFormatError
from gramme.graph import MembershipLayer
from gramme.io.assemble import assemble
from gramme.io.parsed import Groups, Parsed, ReadOptions
from gramme.io.rows import RowCollector


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
    graph, report = assemble(
        parsed(tmp_path, *rows, directed={"a": True, "b": False}), ReadOptions(), "csv"
    )
    assert [layer.directed for layer in graph.layers.values()] == [True, False]
    assert report.direction == "some layers directed, some undirected, as the file says"
    graph, report = assemble(
        parsed(tmp_path, *rows, directed=True), ReadOptions(directed=False), "csv"
    )
    assert not any(layer.directed for layer in graph.layers.values())
    assert report.direction == "undirected, as asked for"


def test_a_stated_list_of_nodes_orders_them_and_may_not_lack_one(tmp_path):
    graph, _ = assemble(
        parsed(tmp_path, ("a", "x", "y"), nodes=["y", "z", "x"]), ReadOptions(), "csv"
    )
    assert graph.nodes.tolist() == ["y", "z", "x"]
    assert graph.layers["a"].to_scipy()[0].toarray().ravel().tolist() == [0, 0, 1]
    with pytest.raises(FileFormatError, match="line 2: the node 'w' is not in"):
        assemble(
            parsed(tmp_path, ("a", "x", "y"), ("a", "x", "w"), nodes=["x", "y"]),
            ReadOptions(),
            "csv",
        )


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
