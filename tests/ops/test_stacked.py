import numpy as np
import pytest
import torch
from hypothesis import given
from tests.ops.cases import GRAPH, LAYERS, NODES, STACKS, agree, blocks, dense
from tests.strategies import multilayer_graphs

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.graph.coupling import Coupling
from gramme.ops import SideBySide, groups_sum, layers_sum, stack, supra_sum
from gramme.ops.neighbourhood import CHUNK


@given(multilayer_graphs(min_layers=1, min_nodes=1, max_nodes=6, features=False, labels=False, couplings=None))
def test_the_supra_sum_is_the_explicit_supra_graph(graph: MultilayerGraph) -> None:
    neighbourhood = supra_sum(graph)
    wanted = graph.supra_adjacency().toarray() + np.eye(neighbourhood.rows)
    np.testing.assert_allclose(dense(neighbourhood, neighbourhood.rows), wanted)
    np.testing.assert_allclose(dense(neighbourhood.transposed, neighbourhood.rows), wanted.T)


def test_absent_copies_are_heard_by_nobody() -> None:
    graph = MultilayerGraph({"a": EdgeLayer(3, [0], [1], nodes=[0, 1]), "b": EdgeLayer(3, [1], [2])})
    values = torch.zeros(6, 1)
    values[2] = 1.0  # the copy of node 2 in layer a, which does not hold it
    assert supra_sum(graph)(values).flatten().tolist() == [0, 0, 1, 0, 0, 0]


SOME = np.array([0, 3, 4, 11])


def ends_between(graph: MultilayerGraph, layers: list[str]) -> list[list[int]]:
    """Edges from nodes of the first layer to other nodes of the second."""
    source, target = (np.flatnonzero(graph.layers[name].present) for name in layers[:2])
    return [source[:3].tolist(), target[-3:].tolist()] if source.size and target.size else [[], []]


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("name", [*STACKS, "absent"])
def test_for_some_nodes_it_is_their_copies(name: str, coupled: bool) -> None:
    chosen = ["some nodes absent", "directed"] if name == "absent" else STACKS[name]
    graph = GRAPH.select_layers(chosen)
    if coupled:
        graph = graph.replace(couplings={(chosen[0], chosen[1]): ends_between(graph, chosen)})
    rows = (np.arange(len(chosen))[:, None] * NODES + SOME).ravel()
    whole, some = supra_sum(graph), supra_sum(graph, SOME)
    assert (some.rows, some.outputs) == (whole.rows, rows.size)
    wanted = dense(whole, whole.rows)[rows]
    np.testing.assert_allclose(dense(some, whole.rows), wanted, atol=1e-14)
    np.testing.assert_allclose(dense(some.transposed, rows.size), wanted.T, atol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_attention_over_couplings_equals_the_reference(scale: float) -> None:
    layers = ["directed", "undirected", "one group in all"]
    there = Coupling(NODES, [0, 1, 4], [3, 4, 0], [0.5, 2.0, 1.0], directed=True)
    couplings = {(layers[0], layers[1]): there, (layers[1], layers[2]): ([5, 6], [2, 0])}
    graph = GRAPH.select_layers(layers).replace(couplings=couplings)
    plain = supra_sum(GRAPH.select_layers(layers))
    assert not np.array_equal(dense(supra_sum(graph), plain.rows), dense(plain, plain.rows))
    agree(supra_sum(graph), graph.supra_adjacency(), scale=scale)


def test_supra_no_layers() -> None:
    assert supra_sum(MultilayerGraph({}, num_nodes=3)).rows == 0


def test_it_moves_as_a_module_and_saves_nothing() -> None:
    neighbourhood = supra_sum(GRAPH, SOME)
    assert neighbourhood.state_dict() == {}
    assert {one.device.type for one in neighbourhood.to("meta").buffers()} == {"meta"}


@pytest.mark.parametrize("name", STACKS)
def test_stacked_layers_are_blocks(name: str) -> None:
    chosen = STACKS[name]
    neighbourhood = layers_sum(GRAPH, chosen)
    rows = NODES * len(chosen)
    wanted = blocks(chosen).toarray() + np.eye(rows)
    assert neighbourhood.rows == neighbourhood.outputs == rows
    np.testing.assert_allclose(dense(neighbourhood, rows), wanted, atol=1e-15)
    np.testing.assert_allclose(dense(neighbourhood.transposed, rows), wanted.T, atol=1e-15)


def test_layers_of_one_kind_are_one_structure() -> None:
    assert not isinstance(layers_sum(GRAPH, STACKS["edges"]), SideBySide)
    mixed = layers_sum(GRAPH, STACKS["mixed"])
    assert isinstance(mixed, SideBySide)
    assert mixed.sizes == [NODES, 2 * NODES, 2 * NODES]


@pytest.mark.parametrize("name", STACKS)
def test_for_some_nodes_it_is_their_rows(name: str) -> None:
    chosen = STACKS[name]
    rows = (np.arange(len(chosen))[:, None] * NODES + SOME).ravel()
    whole, some = layers_sum(GRAPH, chosen), layers_sum(GRAPH, chosen, SOME)
    assert (some.rows, some.outputs) == (whole.rows, rows.size)
    assert whole.supports_subset == ("groups" not in name)
    wanted = dense(whole, whole.rows)[rows]
    np.testing.assert_allclose(dense(some, whole.rows), wanted, atol=1e-15)
    np.testing.assert_allclose(dense(some.transposed, rows.size), wanted.T, atol=1e-15)


def test_one_row_of_a_large_bag() -> None:
    nodes = CHUNK * 2 + 5
    star = EdgeLayer(nodes, np.zeros(nodes - 1, int), np.arange(1, nodes), directed=True)
    some = stack([star], nodes, np.array([0, 7]))
    hub, leaf = stack([star], nodes)(torch.ones(nodes, 1))[[0, 7]]
    assert some(torch.ones(nodes, 1)).tolist() == [hub.tolist(), leaf.tolist()]


def test_no_layers() -> None:
    assert stack([], NODES)(torch.zeros(0, 2)).shape == (0, 2)


def test_groups_only_where_every_node_is_in_one() -> None:
    assert groups_sum(GRAPH, STACKS["groups"]) is not None
    assert groups_sum(GRAPH, STACKS["groups of both kinds"]) is None
    assert groups_sum(GRAPH, STACKS["mixed"]) is None
    assert all(name in LAYERS for name in STACKS["groups"])
