"""Edges that name the layer of both ends."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from tests.strategies import multilayer_graphs

from gramme.errors import DataError, GrammeWarning
from gramme.graph import MultilayerGraph

from_edges = MultilayerGraph.from_edges


def as_table(graph):
    """All edges of a graph as one table of names."""
    names = np.empty(graph.num_nodes, dtype=object)
    names[:] = list(graph.nodes)
    rows = {"layer": [], "source": [], "target": [], "weight": []}
    for name, layer in graph.layers.items():
        rows["layer"] += [name] * layer.num_edges
        rows["source"] += list(names[layer.source.astype(int)])
        rows["target"] += list(names[layer.target.astype(int)])
        rows["weight"] += [] if layer.weight is None else layer.weight.tolist()
    return rows


@given(multilayer_graphs(kinds=["edges"], weighted=True, min_layers=1))
def test_a_table_of_all_edges_gives_the_graph_back(graph):
    again = from_edges(
        as_table(graph),
        directed={name: layer.directed for name, layer in graph.layers.items()},
        nodes=graph.nodes,
        layers=graph.layers,
        node_sets={name: graph.nodes[layer.present] for name, layer in graph.layers.items()},
        labels=graph.labels,
        features=graph.features,
    )
    assert again == graph


def test_a_frame_a_mapping_and_a_tuple_are_the_same():
    columns = {
        "layer": ["chat", "chat", "lunch"],
        "source": ["Bo", "Ann", "Ann"],
        "target": ["Ann", "Cy", "Cy"],
        "weight": [1.0, 2.0, 0.5],
    }
    graph = from_edges(columns)
    assert list(graph.nodes) == ["Bo", "Ann", "Cy"]
    assert graph.layers["chat"].weight.tolist() == [1.0, 2.0]
    assert from_edges(pd.DataFrame(columns, index=[7, 7, 7])) == graph
    assert from_edges(tuple(columns.values())) == graph
    assert from_edges(pd.DataFrame(columns).astype({"layer": "category"})) == graph
    assert from_edges(pd.DataFrame(columns).convert_dtypes()) == graph


def test_names_are_numbered_as_they_appear_and_whole_numbers_sorted():
    assert list(from_edges({"source": [7, -3], "target": [2**40, 7]}).nodes) == [-3, 7, 2**40]
    names = [10**30, "ü", (1, 2), (3, 4)]
    graph = from_edges({"source": names[:2], "target": names[2:]})
    assert list(graph.nodes) == [10**30, (1, 2), "ü", (3, 4)]
    tuples = from_edges({"source": [(1, 2)], "target": [(3, 4)]}, nodes=[(3, 4), (1, 2), "x"])
    assert tuples.layers["edges"].num_edges == 1
    nullable = pd.DataFrame({"source": [1, 2], "target": [3, 2]}).astype("Int64")
    assert list(from_edges(nullable).nodes) == [1, 2, 3]


def test_whole_numbers_near_the_end_of_64_bits_stay_apart():
    source = np.array([2**63 - 1], dtype=np.int64)
    target = np.array([2**63], dtype=np.uint64)
    assert from_edges({"source": source, "target": target}).num_edges == 1
    graph = from_edges({"source": source, "target": target}, nodes=[2**63, 2**63 - 1])
    assert graph.num_edges == 1


def test_no_edges():
    graph = from_edges({"source": [], "target": []})
    assert (graph.num_nodes, list(graph.layers)) == (0, ["edges"])
    named = from_edges({"layer": [], "source": [], "target": []}, nodes="ab", layers=["x", "y"])
    assert (named.num_nodes, list(named.layers)) == (2, ["x", "y"])


def test_layers_are_named_by_text():
    columns = {"layer": [2, 1], "source": [0, 1], "target": [1, 2]}
    graph = from_edges(columns, directed={1: True}, node_sets={2: [0, 1]})
    assert list(graph.layers) == ["2", "1"]
    assert graph.layers["1"].directed
    assert not graph.layers["2"].directed
    assert graph.layers["2"].num_present == 2


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        ({"source": [1]}, {}, "the edges have no column 'target'"),
        ({"source": [1], "target": [1, 2]}, {}, "different lengths: [1, 2]"),
        ({"source": "ab", "target": ["b", "a"]}, {}, "must be a list or an array, not 'ab'"),
        ([1, 2], {}, "edges must be a DataFrame or mapping"),
        ({"source": ["a", None], "target": ["b", "b"]}, {}, "row 1 has no source"),
        ({"source": ["a"], "target": [np.nan]}, {}, "row 0 has no target"),
        ({"source": [[1]], "target": [[2]]}, {}, "a node name must be hashable"),
        ({"layer": [None], "source": [1], "target": [2]}, {}, "row 0 has no layer"),
        ({"layer": [""], "source": [1], "target": [2]}, {}, "is empty or not text"),
        ({"layer": [1, "1"], "source": [1, 2], "target": [2, 3]}, {}, "two layers have the name '1'"),
        ({"source": ["a"], "target": ["b"], "weight": [0]}, {}, "the edge from 'a' to 'b' (row 0) has the weight 0"),
        ({"source": ["a"], "target": ["b"], "weight": ["x"]}, {}, "has the weight 'x'"),
        ({"source": ["a"], "target": ["b"], "weight": [pd.NA]}, {}, "has the weight <NA>"),
        ({"source": [1], "target": [2]}, {"nodes": ["1", "2"]}, "row 0: there is no node 1"),
        (
            {"layer": ["chat"], "source": [1], "target": [2]},
            {"layers": ["chats"]},
            "an edge is in the layer 'chat'; did you mean 'chats'?",
        ),
        ({"source": [1], "target": [2]}, {"layers": ["a", "b"]}, "name just that one"),
        ({"source": [1], "target": [2]}, {"directed": {"egdes": True}}, "did you mean 'edges'?"),
        ({"source": [1], "target": [2]}, {"node_sets": {"x": []}}, "node_sets names the layer 'x'"),
        (
            {"source": ["a", "b"], "target": ["b", "c"]},
            {"node_sets": {"edges": ["a", "b"]}},
            "the edge from 'b' to 'c' touches 'c', which is not among the nodes",
        ),
        ({"source": ["a"], "target": ["b"]}, {"node_sets": {"edges": ["z"]}}, "there is no node 'z'"),
    ],
)
def test_bad_input_is_quoted(edges, options, message):
    with pytest.raises(DataError) as error:
        from_edges(edges, **options)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["Relation", "relationship", "Layer", "edge_type"])
def test_a_column_that_seems_to_name_layers_is_never_merged_silently(name):
    edges = pd.DataFrame({"source": ["a", "a"], "target": ["b", "c"], name: ["x", "y"]})
    with pytest.raises(DataError, match=f"column '{name}' seems to name the layers"):
        MultilayerGraph.from_edges(edges)
    named = edges.rename(columns={name: "layer"})
    assert list(MultilayerGraph.from_edges(named).layers) == ["x", "y"]


def test_columns_that_are_not_used_are_named():
    edges = pd.DataFrame({"source": ["a"], "target": ["b"], "Strength": [2.0], "weight": [1.0]})
    with pytest.warns(GrammeWarning, match=r"not used of the edges: 'Strength'"):
        from_edges(edges)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_edges(edges.drop(columns="Strength"))


COLUMNS = ["source_layer", "source", "target_layer", "target", "weight"]
ROWS = [
    ("grid", "a", "grid", "b", 1.0),
    ("web", "x", "web", "y", 2.0),
    ("grid", "a", "web", "x", 3.0),
    ("web", "y", "grid", "b", 4.0),
]
TABLE = pd.DataFrame(ROWS, columns=COLUMNS)


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
    graph = from_edges(TABLE, nodes=list("abxyz"), layers=["web", "grid", "none"], node_sets={"web": ["x", "y", "z"]})
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
