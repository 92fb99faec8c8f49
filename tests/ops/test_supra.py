"""The sum over the supra graph equals the explicit one, with pillars, absent copies and couplings."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from tests.ops.cases import GRAPH, NODES, STACKS, agree, dense
from tests.strategies import multilayer_graphs

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.ops import supra_sum


@given(multilayer_graphs(min_layers=1, min_nodes=1, max_nodes=6, features=False, labels=False))
def test_the_supra_sum_is_the_explicit_supra_graph(graph: MultilayerGraph) -> None:
    neighbourhood = supra_sum(graph)
    wanted = graph.supra_adjacency().toarray() + np.eye(neighbourhood.rows)
    np.testing.assert_allclose(dense(neighbourhood, neighbourhood.rows), wanted)
    np.testing.assert_allclose(dense(neighbourhood.transposed, neighbourhood.rows), wanted.T)


def test_absent_copies_are_heard_by_nobody() -> None:
    graph = MultilayerGraph(
        {"a": EdgeLayer(3, [0], [1], nodes=[0, 1]), "b": EdgeLayer(3, [1], [2])}
    )
    values = torch.zeros(6, 1)
    values[2] = 1.0  # the copy of node 2 in layer a, which does not hold it
    assert supra_sum(graph)(values).flatten().tolist() == [0, 0, 1, 0, 0, 0]


SOME = np.array([0, 3, 4, 11])


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("name", [*STACKS, "absent"])
def test_for_some_nodes_it_is_their_copies(name: str, coupled: bool) -> None:
    chosen = ["some nodes absent", "directed"] if name == "absent" else STACKS[name]
    graph = GRAPH.select_layers(chosen)
    couplings = couplings_of(graph) if coupled else None
    rows = (np.arange(len(chosen))[:, None] * NODES + SOME).ravel()
    whole, some = supra_sum(graph, couplings=couplings), supra_sum(graph, SOME, couplings)
    assert (some.rows, some.outputs) == (whole.rows, rows.size)
    wanted = dense(whole, whole.rows)[rows]
    np.testing.assert_allclose(dense(some, whole.rows), wanted, atol=1e-14)
    np.testing.assert_allclose(dense(some.transposed, rows.size), wanted.T, atol=1e-14)


def couplings_of(graph: MultilayerGraph) -> sp.csr_array:
    """Weighted, directed edges between copies of any nodes in different layers."""
    random = np.random.default_rng(1)
    copies = graph.num_layers * graph.num_nodes
    source, target = random.integers(0, copies, (2, 30))
    apart = source // graph.num_nodes != target // graph.num_nodes
    ends = source[apart], target[apart]
    return sp.csr_array((random.random(apart.sum()) + 0.1, ends), shape=(copies, copies))


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_couplings_are_further_edges_between_copies(scale: float) -> None:
    graph = GRAPH.select_layers(["directed", "one group each", "some nodes absent"])
    couplings = couplings_of(graph)
    assert couplings.nnz > 10
    wanted = sp.csr_array(graph.supra_adjacency() + couplings)
    agree(supra_sum(graph, couplings=couplings), wanted, scale=scale)


def test_no_layers() -> None:
    assert supra_sum(MultilayerGraph({}, num_nodes=3)).rows == 0


def test_it_moves_as_a_module_and_saves_nothing() -> None:
    neighbourhood = supra_sum(GRAPH, SOME)
    assert neighbourhood.state_dict() == {}
    assert {one.device.type for one in neighbourhood.to("meta").buffers()} == {"meta"}
