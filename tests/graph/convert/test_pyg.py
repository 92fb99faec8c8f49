import numpy as np
import pytest
import torch
from hypothesis import given
from tests.strategies import multilayer_graphs

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import LabelPropagation
from gramme.nn import structure

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


def test_who_hears_the_target_of_an_edge_is_its_target_in_pyg():
    graph = MultilayerGraph({"likes": EdgeLayer(3, [2], [0], [0.5], directed=True), "same": EdgeLayer(3, [0], [1])})
    data = graph.to_pyg()
    assert data.edge_types == [("node", "likes", "node"), ("node", "same", "node")]
    likes, same = data["node", "likes", "node"], data["node", "same", "node"]
    assert likes.edge_index.tolist() == [[0], [2]]
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
    assert graph.layers["likes"] == EdgeLayer(3, [1, 2], [0, 1], directed=True)
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
    layer = from_pyg(data).layers["likes"]
    assert layer.weight is None
    assert layer.features.tolist() == [[1.0, 1.0, 1.0]] * 2


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
        (LIKES, "edge_weight", torch.tensor([-1.0, 1.0]), "layer 'likes': the edge from node 1"),
        ("person", "y", torch.ones(3, 2), "y must hold one label per node"),
        ("person", "num_nodes", 2, "layer 'knows': the sources of the edges: 2 at position 2"),
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


def directed_data(nodes=200, edges=800):
    """Every edge starts at a node with a label of its own kind: only who hears the source can tell the label."""
    generator = torch.Generator().manual_seed(0)
    kinds = torch.randint(0, 2, (nodes,), generator=generator)
    source, target = torch.randint(0, nodes, (2, edges), generator=generator)
    return pyg.Data(edge_index=torch.stack([source, target]), y=kinds, num_nodes=nodes)


def test_a_node_hears_the_sources_of_its_edges_as_in_pyg():
    data = directed_data()
    graph = from_pyg(data)
    source, target = data.edge_index
    adjacency = graph.layers["edges"].to_scipy().toarray() > 0
    heard = torch.zeros(200, 200, dtype=torch.bool)
    heard[target, source] = True  # PyG: messages flow from source to target
    heard.fill_diagonal_(False)
    assert np.array_equal(adjacency, heard.numpy())
    assert graph.neighbors(int(target[0]), "edges").count(int(source[0])) == 1


def test_structure_and_from_pyg_hear_alike():
    data = pyg.Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    hears = from_pyg(data).layers["edges"].to_scipy().toarray() + np.eye(3)
    summed = structure(data.edge_index, num_nodes=3)(torch.eye(3))
    assert np.array_equal(summed.numpy(), hears)


def test_directed_edges_come_back_as_they_were():
    data = directed_data()
    again = from_pyg(data).to_pyg()["node", "edges", "node"].edge_index
    wanted = {pair for pair in map(tuple, data.edge_index.T.tolist()) if pair[0] != pair[1]}
    assert set(map(tuple, again.T.tolist())) == wanted


def test_masks_are_kept_and_learned_from():
    data = directed_data()
    data.train_mask = torch.arange(200) < 60
    data.val_mask = (torch.arange(200) >= 60) & (torch.arange(200) < 100)
    data.test_mask = torch.arange(200) >= 100
    graph = from_pyg(data)
    assert {name: int(mask.sum()) for name, mask in graph.masks.items()} == {"train": 60, "val": 40, "test": 100}
    model = LabelPropagation().fit(graph)
    assert np.flatnonzero(model.labelled_).tolist() == list(range(60))
    other = from_pyg(data).replace(
        labels=[label if place < 60 else 1 - label for place, label in enumerate(graph.labels)]
    )
    assert np.array_equal(LabelPropagation().fit(other).predict_proba(), model.predict_proba())
    assert model.score(mask="test") == pytest.approx(np.mean(model.predict()[100:] == graph.labels[100:]))
    assert LabelPropagation().fit(graph, mask="val").labelled_.sum() == 40
    back = graph.to_pyg()["node"]
    assert torch.equal(back.train_mask, data.train_mask)
    assert torch.equal(back.test_mask, data.test_mask)
    assert from_pyg(graph.to_pyg()) == graph


def test_masks_of_several_splits_are_asked_about():
    data = directed_data()
    data.train_mask = torch.ones(200, 10, dtype=torch.bool)
    with pytest.raises(DataError, match="train_mask has 10 columns, a split each"):
        from_pyg(data)
