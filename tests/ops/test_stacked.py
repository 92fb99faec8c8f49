import numpy as np
import pytest
import torch
from hypothesis import given
from tests.ops.cases import GRAPH, LAYERS, NODES, STACKS, blocks, dense
from tests.strategies import multilayer_graphs

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.ops import SideBySide, groups_sum, layers_sum, stack, supra_sum
from gramme.ops.bags import CHUNK


@pytest.mark.parametrize("name", STACKS)
def test_stacked_layers_are_blocks(name: str) -> None:
    chosen = STACKS[name]
    neighbourhood = layers_sum(GRAPH, chosen)
    rows = NODES * len(chosen)
    wanted = blocks(chosen).toarray() + np.eye(rows)
    assert neighbourhood.rows == neighbourhood.outputs == rows
    np.testing.assert_allclose(dense(neighbourhood, rows), wanted, atol=1e-15)
    np.testing.assert_allclose(dense(neighbourhood.transposed, rows), wanted.T, atol=1e-15)
    moved = neighbourhood.to(torch.device("cpu"))
    np.testing.assert_array_equal(dense(moved, rows), dense(neighbourhood, rows))


def test_layers_of_one_kind_are_one_structure() -> None:
    assert not isinstance(layers_sum(GRAPH, STACKS["edges"]), SideBySide)
    mixed = layers_sum(GRAPH, STACKS["mixed"])
    assert isinstance(mixed, SideBySide)
    assert mixed.sizes == [NODES, 2 * NODES, 2 * NODES]


SOME = torch.tensor([0, 3, 4, 11])


@pytest.mark.parametrize("name", STACKS)
def test_a_part_is_some_rows(name: str) -> None:
    chosen = STACKS[name]
    rows = (torch.arange(len(chosen))[:, None] * NODES + SOME).flatten()
    for neighbourhood in (layers_sum(GRAPH, chosen), supra_sum(GRAPH.select_layers(chosen))):
        part = neighbourhood.part(rows)
        if "groups" in name:
            assert part is None  # the sums of groups serve everybody
            continue
        assert part is not None
        assert (part.rows, part.outputs) == (neighbourhood.rows, rows.numel())
        wanted = dense(neighbourhood, neighbourhood.rows)[rows]
        for one in (part, part.to(torch.device("cpu"))):
            np.testing.assert_allclose(dense(one, one.rows), wanted, atol=1e-15)
            np.testing.assert_allclose(dense(one.transposed, one.outputs), wanted.T, atol=1e-15)


def test_a_part_of_a_large_bag() -> None:
    nodes = CHUNK * 2 + 5
    star = EdgeLayer(nodes, np.zeros(nodes - 1, int), np.arange(1, nodes), directed=True)
    part = stack([star], nodes).part(torch.tensor([0, 7]))
    assert part is not None
    hub, leaf = stack([star], nodes)(torch.ones(nodes, 1))[[0, 7]]
    assert part(torch.ones(nodes, 1)).tolist() == [hub.tolist(), leaf.tolist()]


def test_no_layers() -> None:
    assert stack([], NODES)(torch.zeros(0, 2)).shape == (0, 2)
    assert supra_sum(MultilayerGraph({}, num_nodes=3)).rows == 0


@given(multilayer_graphs(min_layers=1, min_nodes=1, max_nodes=6, features=False, labels=False))
def test_the_supra_sum_is_the_explicit_supra_graph(graph: MultilayerGraph) -> None:
    neighbourhood = supra_sum(graph)
    wanted = graph.supra_adjacency().toarray() + np.eye(neighbourhood.rows)
    np.testing.assert_allclose(dense(neighbourhood, neighbourhood.rows), wanted)
    np.testing.assert_allclose(dense(neighbourhood.transposed, neighbourhood.rows), wanted.T)
    moved = neighbourhood.to(torch.device("cpu"))
    np.testing.assert_allclose(dense(moved, neighbourhood.rows), wanted)


def test_absent_copies_are_heard_by_nobody() -> None:
    graph = MultilayerGraph(
        {"a": EdgeLayer(3, [0], [1], nodes=[0, 1]), "b": EdgeLayer(3, [1], [2])}
    )
    values = torch.zeros(6, 1)
    values[2] = 1.0  # the copy of node 2 in layer a, which does not hold it
    assert supra_sum(graph)(values).flatten().tolist() == [0, 0, 1, 0, 0, 0]


def test_groups_only_where_every_node_is_in_one() -> None:
    assert groups_sum(GRAPH, STACKS["groups"]) is not None
    assert groups_sum(GRAPH, STACKS["groups of both kinds"]) is None
    assert groups_sum(GRAPH, STACKS["mixed"]) is None
    assert all(name in LAYERS for name in STACKS["groups"])
