import numpy as np
import pytest
import torch
from hypothesis import given
from tests.strategies import multilayer_graphs

from gramme.errors import DataError, LossyFormatWarning
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph

pyg = pytest.importorskip("torch_geometric.data")
from_pyg = MultilayerGraph.from_pyg


@given(multilayer_graphs(kinds=["edges"]))
def test_there_and_back_is_the_same_graph(graph):
    assert from_pyg(graph.to_pyg()) == graph


@given(multilayer_graphs(min_layers=1, weighted_groups=None))
def test_membership_layers_come_back_as_their_edges(graph):
    again = from_pyg(graph.to_pyg())
    for name, layer in graph.layers.items():
        assert again.layers[name] == layer.to_edges()


def test_edges_keep_source_and_target():
    graph = MultilayerGraph(
        {"likes": EdgeLayer(3, [2], [0], [0.5], directed=True), "same": EdgeLayer(3, [0], [1])}
    )
    data = graph.to_pyg()
    assert data.edge_types == [("node", "likes", "node"), ("node", "same", "node")]
    likes, same = data["node", "likes", "node"], data["node", "same", "node"]
    assert likes.edge_index.tolist() == [[2], [0]]
    assert likes.edge_weight.tolist() == [0.5]
    assert same.edge_index.tolist() == [[0, 1], [1, 0]]
    assert "edge_weight" not in same
    assert data.validate()


def test_labels_are_positions_among_the_classes():
    layers = {"a": MembershipLayer.from_values("xxy")}
    data = MultilayerGraph(layers, labels=["dog", None, "cat"]).to_pyg()
    assert data["node"].y.tolist() == [1, -1, 0]
    assert data.classes == ["cat", "dog"]
    assert list(from_pyg(data).labels) == ["dog", None, "cat"]


def hetero(**store):
    data = pyg.HeteroData()
    data["person"].num_nodes = 3
    for key, value in store.items():
        data["person"][key] = value
    data["person", "knows", "person"].edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data["person", "likes", "person"].edge_index = torch.tensor([[0, 1], [1, 2]])
    return data


def test_relations_are_layers_and_symmetric_ones_undirected():
    graph = from_pyg(hetero(x=torch.ones(3, 2), y=torch.tensor([1, -1, 0])), nodes=["a", "b", "c"])
    assert graph.layers["knows"] == EdgeLayer(3, [0, 1], [1, 2])
    assert graph.layers["likes"] == EdgeLayer(3, [0, 1], [1, 2], directed=True)
    assert list(graph.labels) == [1, None, 0]
    assert graph.features.dtype == np.float32
    assert list(graph.nodes) == ["a", "b", "c"]
    assert from_pyg(hetero(), directed=True).layers["knows"].num_edges == 4
    assert not from_pyg(hetero(), directed={"likes": False}).layers["likes"].directed


def test_weights_from_either_attribute():
    data = hetero()
    data["person", "likes", "person"].edge_attr = torch.tensor([[0.5], [2.0]])
    data["person", "knows", "person"].edge_weight = torch.tensor([3.0, 3.0, 4.0, 4.0])
    graph = from_pyg(data)
    assert graph.layers["likes"].weight.tolist() == [0.5, 2.0]
    assert graph.layers["knows"].weight.tolist() == [3.0, 4.0]
    data["person", "likes", "person"].edge_attr = torch.ones(2, 3)
    with pytest.warns(LossyFormatWarning, match="layer 'likes': edge_attr has 3 columns"):
        assert from_pyg(data).layers["likes"].weight is None


def test_plain_data_is_one_layer():
    data = pyg.Data(edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([[1], [0]]))
    graph = from_pyg(data)
    assert graph.layers["edges"] == EdgeLayer(2, [0], [1])
    assert list(graph.labels) == [1, 0]
    assert from_pyg(pyg.Data(edge_index=torch.zeros(2, 0, dtype=torch.long))).num_nodes == 0


LIKES = ("person", "likes", "person")


@pytest.mark.parametrize(
    ("kind", "key", "value", "message"),
    [
        ("place", "num_nodes", 1, "the HeteroData has 2 node types: person, place; say which"),
        (LIKES, "edge_index", None, "layer 'likes' has no edge_index"),
        (LIKES, "edge_weight", torch.tensor([-1.0, 1.0]), "layer 'likes': the edge from node 0"),
        ("person", "y", torch.ones(3, 2), "y must hold one label per node"),
        ("person", "num_nodes", 2, "layer 'knows': the sources of the edges: 2 at position 3"),
    ],
)
def test_bad_input_is_quoted(kind, key, value, message):
    data = hetero()
    data[kind][key] = value
    with pytest.raises(DataError) as error:
        from_pyg(data)
    assert message in str(error.value)


def test_what_is_no_graph_of_one_node_type_is_quoted():
    with pytest.raises(DataError, match="HeteroData or Data of PyTorch Geometric, not 5"):
        from_pyg(5)
    with pytest.raises(DataError, match="the HeteroData has 0"):
        from_pyg(pyg.HeteroData())
