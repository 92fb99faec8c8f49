"""Structures from graphs, layers, edge lists and matrices: the same neighbourhoods, and clear errors."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.ops.cases import GRAPH, LAYERS, NODES, dense

from gramme import DataError
from gramme.nn import structure
from gramme.ops import MembershipSum


@pytest.mark.parametrize("name", LAYERS)
def test_every_way_to_give_a_layer_is_the_same_structure(name: str) -> None:
    matrix = LAYERS[name].to_scipy()
    wanted = matrix.toarray() + np.eye(NODES)
    ends = matrix.tocoo()
    edge_index = torch.from_numpy(np.stack([ends.col, ends.row]))  # who is heard, who listens
    weights = torch.from_numpy(ends.data)
    in_torch = torch.sparse_coo_tensor(
        torch.from_numpy(np.stack(ends.coords)), weights, (NODES, NODES), check_invariants=True
    )
    for found in (
        structure(GRAPH, layer=name),
        structure(GRAPH.select_layers([name])),
        structure(LAYERS[name]),
        structure(edge_index, edge_weight=weights, num_nodes=NODES),
        structure(in_torch),
        structure(in_torch.to_sparse_csr()),
        structure(matrix),
        structure(sp.coo_matrix(matrix)),
    ):
        np.testing.assert_allclose(dense(found, NODES), wanted, atol=1e-14)
        np.testing.assert_allclose(dense(found.transposed, NODES), wanted.T, atol=1e-14)


def test_a_layer_of_groups_stays_one() -> None:
    assert isinstance(structure(GRAPH, layer="several groups"), MembershipSum)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12))
def test_self_loops_go_and_repeated_edges_add_up(edges: list[tuple[int, int]]) -> None:
    wanted = np.eye(5)
    for source, target in edges:
        wanted[target, source] += source != target
    edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
    found = structure(edge_index, num_nodes=5)
    np.testing.assert_allclose(dense(found, 5), wanted)
    np.testing.assert_allclose(dense(found.transposed, 5), wanted.T)


def test_the_edge_index_means_what_it_means_to_pytorch_geometric() -> None:
    geometric = pytest.importorskip("torch_geometric.nn")
    edge_index = torch.tensor([[0, 1, 1, 3], [1, 2, 0, 2]])
    features = torch.randn(4, 3)
    heard = geometric.SimpleConv(aggr="sum")(features, edge_index)
    torch.testing.assert_close(structure(edge_index)(features), features + heard)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (GRAPH, {}, "has 10 layers; say which one: layer= one of undirected, directed"),
        (GRAPH, {"layer": "directd"}, "did you mean 'directed'"),
        (GRAPH, {"layer": "directed", "num_nodes": 3}, "go with an edge_index"),
        (sp.eye_array(3), {"layer": "directed"}, "other sources have none"),
        (torch.tensor([[0], [5]]), {"num_nodes": 3}, "names node 5; nodes are 0 to 2"),
        (torch.tensor([[0], [-1]]), {}, "names node -1"),
        (torch.tensor([[0], [1]]), {"edge_weight": torch.ones(2)}, r"shape \(2,\) for 1 edges"),
        (torch.tensor([[0], [1]]), {"edge_weight": torch.tensor([-1.0])}, r"at \(1, 0\) is -1.0"),
        (sp.csr_array((2, 3)), {}, r"square matrix, not one of shape \(2, 3\)"),
        (torch.zeros(3, 3), {}, r"not a tensor of torch.float32 and shape \(3, 3\)"),
        ([[0, 1]], {}, "not list"),
    ],
)
def test_wrong_sources_are_clear_errors(source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        structure(source, **options)
