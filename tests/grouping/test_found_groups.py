"""What the result says about groups: description, tables, the layer for a model."""

import numpy as np
import pytest
from tests.grouping.planted import planted

import gramme
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.grouping.found_groups import over_represented, value_words


@pytest.fixture(scope="module")
def found():
    graph, group = planted()
    town = MembershipLayer.from_values(
        [["north", "south", "west"][one] if place > 8 else None for place, one in enumerate(group)]
    )
    labels = ["abc"[one] if place % 2 else None for place, one in enumerate(group)]
    return gramme.groups(graph.replace(layers={**graph.layers, "group": town}, labels=labels), repeats=4)


def test_a_row_per_group_says_what_is_more_frequent_there(found):
    summary = found.summary()
    assert summary["nodes"].sum() == 120
    assert list(summary.index) == ["0", "1", "2"]
    town = found.graph.layers["group"]
    for group, row in summary.iterrows():
        inside = np.flatnonzero(found.labels_ == int(group))
        main = town.group_names[np.bincount(town.codes()[inside[inside > 8]]).argmax()]
        assert f"group {main}: " in row["more_frequent"]


def test_over_represented_values_have_the_shares_that_can_be_counted():
    graph = MultilayerGraph({"sex": MembershipLayer.from_values(["f"] * 10 + ["m"] * 9 + ["f"] + [None] * 5)})
    group = np.array([0] * 10 + [1] * 15)
    table = over_represented(graph, group)
    row = table.iloc[0]
    assert (row["group"], row["name"], row["value"]) == (0, "sex", "f")
    assert (row["members"], row["share"], row["share_elsewhere"]) == (10, 1.0, 0.1)
    assert value_words(row) == "sex f: 100 % (elsewhere 10 %)"
    # a division that has nothing to do with the values
    assert not len(over_represented(graph, np.arange(25) % 2))


def test_the_table_has_a_column_per_layer_whatever_layers_are_called(found):
    table = found.to_frame()
    assert list(table.columns) == [
        "node",
        "group",
        "stability",
        "layer 0",
        "layer 1",
        "noise 2",
        "group (layer)",
        "label",
    ]
    assert (table["group"] == found.labels_).all()
    assert table["group (layer)"].isna().sum() == 9


def test_agreement_with_labels_counts_known_ones_only(found):
    assert found.overlap_["adjusted_rand"] > 0.9
    assert found.overlap_["normalised_mutual_information"] > 0.9
    assert gramme.groups(planted()[0], repeats=2).overlap_ is None


def test_groups_become_a_layer_of_a_model(found):
    layer = found.as_layer()
    assert layer.num_groups == 3
    assert (layer.codes() == found.labels_).all()


def test_isolated_nodes_are_in_no_group_of_the_layer_and_in_one_row():
    graph = MultilayerGraph({"talk": EdgeLayer(5, [0, 1], [1, 2])})
    found = gramme.groups(graph, repeats=2)
    assert found.as_layer().codes().tolist() == [0, 0, 0, -1, -1]
    assert found.summary().loc["isolated", "nodes"] == 2
    assert found.group_names()[3:] == ["isolated", "isolated"]


def test_a_picture_and_a_page(found, tmp_path):
    assert found.plot().get_legend() is not None
    page = found.report(tmp_path / "page.html")
    assert "Which layers support them" in page.read_text(encoding="utf-8")


def test_repr(found):
    assert repr(found).startswith("Groups(3 groups of 120 nodes, modularity 0.")
