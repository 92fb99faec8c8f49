"""Edges that name the layer of both ends."""

import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.graph import MultilayerGraph

COLUMNS = ["source_layer", "source", "target_layer", "target", "weight"]
ROWS = [
    ("grid", "a", "grid", "b", 1.0),
    ("web", "x", "web", "y", 2.0),
    ("grid", "a", "web", "x", 3.0),
    ("web", "y", "grid", "b", 4.0),
]
TABLE = pd.DataFrame(ROWS, columns=COLUMNS)
from_edges = MultilayerGraph.from_edges


def test_edges_between_layers_are_couplings():
    graph = from_edges(TABLE)
    assert list(graph.layers) == ["grid", "web"]
    coupling = graph.couplings["grid", "web"]
    assert [graph.nodes[i] for i in coupling.source] == ["a", "b"]
    assert [graph.nodes[i] for i in coupling.target] == ["x", "y"]
    assert coupling.weight.tolist() == [3, 4]
    assert graph.layers["grid"].present.tolist() == [True, True, False, False]


def test_a_mapping_of_lists_is_the_same():
    assert from_edges({name: TABLE[name].tolist() for name in COLUMNS}) == from_edges(TABLE)


def test_without_edges_between_layers_they_hold_all_nodes_and_equal_plain_edges():
    inside = TABLE[:2]
    plain = inside.rename(columns={"source_layer": "layer"}).drop(columns="target_layer")
    assert from_edges(inside) == from_edges(plain)


def test_directions_by_layer_or_pair():
    assert from_edges(TABLE, directed=True).couplings["web", "grid"].directed
    stated = from_edges(TABLE, directed={"grid": True, ("web", "grid"): True})
    assert stated.layers["grid"].directed
    assert not stated.layers["web"].directed
    assert stated.couplings["grid", "web"].directed
    assert not from_edges(TABLE, directed={"grid": True}).couplings["grid", "web"].directed


def test_node_sets_and_layers_may_be_stated():
    graph = from_edges(
        TABLE,
        nodes=list("abxyz"),
        layers=["web", "grid", "none"],
        node_sets={"web": ["x", "y", "z"]},
    )
    assert list(graph.couplings) == [("web", "grid")]
    assert graph.layers["web"].num_present == 3
    assert graph.layers["none"].num_present == 0


@pytest.mark.parametrize(
    ("table", "options", "problem"),
    [
        (TABLE.drop(columns="target_layer"), {}, "have no column 'target_layer'"),
        (TABLE.assign(layer="x"), {}, "a column 'layer' beside source_layer"),
        (TABLE, {"layers": ["grid"]}, "an edge is in the layer 'web'"),
        (TABLE.assign(target_layer=["grid", None, "web", "grid"]), {}, "row 1 has no target_layer"),
        (TABLE.assign(weight=[1, 2, -3, 4]), {}, r"from 'a' to 'x' \(row 2\) has the weight -3"),
        (TABLE, {"node_sets": {"grid": ["a"]}}, "layer 'grid'"),
    ],
)
def test_bad_tables_end_in_one_clear_message(table, options, problem):
    with pytest.raises(DataError, match=problem):
        from_edges(table, **options)
