"""One convention of direction: a node hears the nodes its edges point to, wherever the graph comes from."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramme.graph import Coupling, EdgeLayer, MultilayerGraph
from gramme.ops import layers_sum

FROM, TO = [0, 1, 1], [1, 2, 0]  # 0 hears 1; 1 hears 2 and 0
HEARD = np.array([[2.0], [5.0], [0.0]])  # of the values 1, 2, 4


def edges():
    return MultilayerGraph.from_edges({"source": FROM, "target": TO}, directed=True, nodes=[0, 1, 2])


def scipy():
    return MultilayerGraph.from_scipy(sp.csr_array((np.ones(3), (FROM, TO)), shape=(3, 3)), directed=True)


def networkx():
    nx = pytest.importorskip("networkx")
    return MultilayerGraph.from_networkx(nx.DiGraph(list(zip(FROM, TO, strict=True))), nodes=[0, 1, 2])


def networkx_multigraph():
    nx = pytest.importorskip("networkx")
    graph = nx.MultiDiGraph()
    graph.add_edges_from([(i, j, {"layer": "edges"}) for i, j in zip(FROM, TO, strict=True)])
    return MultilayerGraph.from_networkx(graph, nodes=[0, 1, 2])


def igraph():
    ig = pytest.importorskip("igraph")
    return MultilayerGraph.from_igraph(ig.Graph(3, list(zip(FROM, TO, strict=True)), directed=True))


def pyg():
    """Where messages flow from the source to the target: 1 sends to 0."""
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
    return MultilayerGraph.from_pyg(data.Data(edge_index=torch.tensor([TO, FROM]), num_nodes=3))


@pytest.mark.parametrize("made", [edges, scipy, networkx, networkx_multigraph, igraph, pyg])
def test_every_way_in_hears_alike(made):
    graph = made()
    layer = graph.layers["edges"]
    assert layer == EdgeLayer(3, FROM, TO, directed=True)
    assert graph.neighbors(1) == [0, 2]
    values = np.array([[1.0], [2.0], [4.0]])
    assert layer.neighbour_sums(values).tolist() == HEARD.tolist()
    import torch

    heard = layers_sum(graph, ["edges"]).forward(torch.tensor(values, dtype=torch.float32)).numpy()
    assert heard.tolist() == (values + HEARD).tolist()  # with the node itself


def test_every_way_out_keeps_who_hears_whom():
    graph = edges()
    assert graph.to_scipy()["edges"].toarray()[0].tolist() == [0, 1, 0]
    nx = pytest.importorskip("networkx")
    assert set(graph.to_networkx()["edges"].edges) == set(zip(FROM, TO, strict=True))
    assert isinstance(graph.to_networkx(merged=True), nx.MultiDiGraph)
    assert {ends[:2] for ends in graph.to_networkx(merged=True).edges} == set(zip(FROM, TO, strict=True))


def test_a_pyg_model_hears_whom_gramme_hears():
    torch, pyg_nn = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.nn")
    edge_index = edges().to_pyg()["node", "edges", "node"].edge_index
    values = torch.tensor([[1.0], [2.0], [4.0]])
    assert pyg_nn.SimpleConv(aggr="sum")(values, edge_index).tolist() == HEARD.tolist()


def test_a_coupling_points_from_who_hears():
    one = EdgeLayer(3, [], [])
    graph = MultilayerGraph({"a": one, "b": one}, couplings={("a", "b"): Coupling(3, [0], [1], directed=True)})
    supra = graph.supra_adjacency().toarray()
    assert supra[0, 3 + 1] == 1
    assert supra[3 + 1, 0] == 0
