import numpy as np
import pandas as pd
import pytest
from tests.methods.graphs import planted

from gramme import DataError, EdgeLayer, MultilayerGraph
from gramme.graph import face

GRAPH = planted()


def test_a_graph_is_a_collection_of_nodes_with_layers_by_name():
    assert GRAPH["friends"] is GRAPH.layers["friends"]
    assert len(GRAPH) == 36
    assert list(GRAPH) == list(GRAPH.nodes)
    assert "n3" in GRAPH
    assert "n99" not in GRAPH
    assert ["n3"] not in GRAPH  # not hashable
    assert MultilayerGraph({}, num_nodes=0)  # true, though it has no nodes
    with pytest.raises(DataError, match="did you mean 'friends'"):
        GRAPH["frends"]


def test_neighbours_by_name_in_one_layer_and_in_all():
    whole = sum(abs(matrix) for matrix in GRAPH.to_scipy().values()).toarray()
    for place in (0, 7, 35):
        name = GRAPH.nodes[place]
        assert GRAPH.neighbors(name) == list(GRAPH.nodes[np.flatnonzero(whole[place])])
        alone = GRAPH["room"].to_scipy().toarray()[place]
        assert GRAPH.neighbors(name, layer="room") == list(GRAPH.nodes[np.flatnonzero(alone)])
    directed = MultilayerGraph({"a": EdgeLayer(3, [0, 1], [1, 2], directed=True)}, nodes=[*"xyz"])
    assert directed.neighbors("y") == ["z"]
    assert directed.neighbors("z") == []
    with pytest.raises(DataError, match="there is no node 'q'"):
        directed.neighbors("q")
    with pytest.raises(DataError, match="there is no layer 'b'"):
        directed.neighbors("x", layer="b")


def test_a_table_of_edges_makes_the_graph_again():
    table = GRAPH.select_layers(["friends"]).to_pandas()
    assert list(table.columns) == ["layer", "source", "target", "weight"]
    again = MultilayerGraph.from_edges(table, nodes=GRAPH.nodes, labels=GRAPH.labels)
    assert again["friends"].to_scipy().toarray().tolist() == (
        GRAPH["friends"].to_scipy().toarray().tolist()
    )
    both = GRAPH.to_pandas()
    assert (both["layer"] == "room").sum() == GRAPH["room"].num_edges


def test_tables_of_nodes_and_of_memberships():
    nodes = GRAPH.to_pandas("nodes")
    assert nodes.index.name == "node"
    assert nodes["label"].tolist() == list(GRAPH.labels)
    assert nodes["friends"].tolist() == GRAPH["friends"].degrees().tolist()
    members = GRAPH.to_pandas("memberships")
    assert set(members["layer"]) == {"room"}
    assert len(members) == GRAPH["room"].num_memberships
    counts = pd.crosstab(members["node"], members["group"])
    assert counts.to_numpy().sum() == 36
    assert GRAPH.select_layers(["friends"]).to_pandas("memberships").empty
    assert MultilayerGraph({}, num_nodes=2).to_pandas().empty


def test_a_table_that_would_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(face, "MAX_TABLE_EDGES", 10)
    with pytest.raises(DataError, match="edges would not fit"):
        GRAPH.to_pandas()
    with pytest.raises(DataError, match="what must be"):
        GRAPH.to_pandas("rows")
