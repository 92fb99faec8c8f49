import numpy as np
import pytest
import torch
from tests.ops.cases import GRAPH, LAYERS, NODES, STACKS, blocks, dense

from gramme.graph import EdgeLayer
from gramme.ops import SideBySide, groups_sum, layers_sum, stack
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


def test_layers_of_one_kind_are_one_structure() -> None:
    assert not isinstance(layers_sum(GRAPH, STACKS["edges"]), SideBySide)
    mixed = layers_sum(GRAPH, STACKS["mixed"])
    assert isinstance(mixed, SideBySide)
    assert mixed.sizes == [NODES, 2 * NODES, 2 * NODES]


SOME = np.array([0, 3, 4, 11])


@pytest.mark.parametrize("name", STACKS)
def test_for_some_nodes_it_is_their_rows(name: str) -> None:
    chosen = STACKS[name]
    rows = (np.arange(len(chosen))[:, None] * NODES + SOME).ravel()
    whole, some = layers_sum(GRAPH, chosen), layers_sum(GRAPH, chosen, SOME)
    assert (some.rows, some.outputs) == (whole.rows, rows.size)
    assert whole.cheaper_in_part == ("groups" not in name)
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
