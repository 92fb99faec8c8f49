"""Several node types to and from PyTorch Geometric."""

import pytest
import torch
from hypothesis import given
from tests.strategies import multilayer_graphs

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph

pyg = pytest.importorskip("torch_geometric.data")
transforms = pytest.importorskip("torch_geometric.transforms")
from_pyg = MultilayerGraph.from_pyg


def hetero():
    data = pyg.HeteroData()
    data["paper"].num_nodes = 4
    data["paper"].y = torch.tensor([0, 1, -1, 1])
    data["paper"].x = torch.arange(4.0)[:, None]
    data["author"].x = torch.tensor([[1.0], [2.0], [3.0]])
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1, 2], [0, 0, 1, 2]])
    data["author", "at", "place"].edge_index = torch.tensor([[0, 1, 2], [0, 0, 1]])
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0], [1]])
    data["paper", "cites", "paper"].edge_weight = torch.tensor([2.0])
    return data


def test_the_target_and_its_ways_to_other_types():
    graph = from_pyg(hetero(), target="paper")
    assert list(graph.layers) == ["cites", "author", "place"]
    assert graph.layers["cites"].directed
    assert graph.layers["cites"].weight.tolist() == [2]
    assert graph.layers["author"].incidence().toarray().tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert graph.layers["place"].incidence().toarray().tolist()[0] == [2, 0]
    assert list(graph.labels) == [0, 1, None, 1]
    assert graph.layer_features["author"].ravel().tolist()[:3] == [1.5, 2, 3]
    authors = from_pyg(hetero(), target="author", paths=[("author", "place")])
    assert list(authors.layers) == ["place"]


def test_relations_that_pyg_turned_round_count_once():
    both = transforms.ToUndirected()(hetero())
    assert len(both.edge_types) > 3
    graph = from_pyg(both, target="paper")
    assert list(graph.layers) == ["cites", "author", "place"]
    assert not graph.layers["cites"].directed


@given(multilayer_graphs(couplings=None, layer_features=None, weighted_groups=None, min_layers=1, max_nodes=6))
def test_groups_as_nodes_and_back_is_the_same_graph(graph):
    if "node" not in graph.layers and all(layer.num_edges for layer in graph.layers.values()):
        assert from_pyg(graph.to_pyg(groups="nodes"), target="node") == graph


def test_nodes_that_are_not_in_an_edge_layer_stay_out_of_it():
    graph = MultilayerGraph(
        {"calls": EdgeLayer(3, [0], [1], [2.0], nodes=[0, 1]), "clubs": MembershipLayer(3, [0, 1, 2], [0, 0, 0])}
    )
    back = from_pyg(graph.to_pyg(groups="nodes"), target="node")
    assert back.layers["calls"].present.tolist() == [True, True, False]
    assert back == graph


@given(multilayer_graphs(kinds=["edges"], couplings=True, layer_features=True))
def test_couplings_and_features_of_layers_come_back(graph):
    assert from_pyg(graph.to_pyg()) == graph


def test_the_target_must_be_named_and_known():
    with pytest.raises(DataError, match=r"has 3 node types: paper, author, place; say which one"):
        from_pyg(hetero())
    with pytest.raises(DataError, match="has no node type 'papers'; did you mean 'paper'"):
        from_pyg(hetero(), target="papers")
