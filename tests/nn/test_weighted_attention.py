"""The attention module that stands alone: equal to the paper's equations and to the estimators' hop."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.nn.slow import slow_hop
from tests.ops.cases import GRAPH, LAYERS, NODES, dense

from gramme import DataError
from gramme.nn import HEAD_COMBINATIONS, HEAD_WEIGHTS, AttentionHop, MemberRandom, WeightedAttention, structure
from gramme.ops import ACTIVATIONS, MembershipSum


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


def features() -> torch.Tensor:
    return torch.randn(NODES, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def hop_with(module: WeightedAttention) -> AttentionHop:
    """A hop of the estimators with the same weights, one member and one layer."""
    hop = AttentionHop(
        MemberRandom([0]),
        1,
        module.in_channels,
        module.out_channels,
        module.heads,
        head_weights=module.head_weights,
        activation=module.activation,
        attention_dropout=0.0,
        combine_heads=module.combine_heads,
    ).double()
    state = {"weight": module.weight[None, None], "attention": module.attention[None, None]}
    if module.factors is not None:
        state["factors.raw"] = module.factors[None, None]
    hop.load_state_dict(state)
    return hop


@pytest.mark.parametrize("head_weights", HEAD_WEIGHTS)
@pytest.mark.parametrize("combine_heads", HEAD_COMBINATIONS)
@pytest.mark.parametrize("name", ["directed and weighted", "several groups", "some nodes absent"])
def test_equals_the_equations_and_the_hop_of_the_estimators(name: str, combine_heads: str, head_weights: str) -> None:
    torch.manual_seed(1)
    module = WeightedAttention(5, 4, heads=2, combine_heads=combine_heads, head_weights=head_weights).double()
    found = module(features(), structure(GRAPH, layer=name))
    hop = hop_with(module)
    wanted = slow_hop(hop, 0, 0, features(), LAYERS[name].to_scipy())
    torch.testing.assert_close(found, wanted)
    assert torch.equal(found, hop(features()[:, None], structure(LAYERS[name]))[0, :, 0])


@pytest.mark.parametrize("name", ["directed and weighted", "several groups"])
def test_gradients_by_finite_differences(name: str) -> None:
    module = WeightedAttention(5, 3, heads=2, activation="tanh").double()
    where = structure(GRAPH, layer=name)
    given = features().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: module(x, where), (given,))
    module(given, where).square().sum().backward()
    for parameter in module.parameters():
        assert parameter.grad is not None
        assert bool((parameter.grad != 0).any())


def test_starting_values_come_from_torchs_generator() -> None:
    torch.manual_seed(3)
    one = WeightedAttention(5, 4)
    torch.manual_seed(3)
    two = WeightedAttention(5, 4)
    assert all(torch.equal(one.state_dict()[name], two.state_dict()[name]) for name in one.state_dict())
    before = one.weight.clone()
    one.reset_parameters()
    assert not torch.equal(one.weight, before)
    assert one.weight.abs().max() <= (6 / 9) ** 0.5


@pytest.mark.parametrize("kind", HEAD_WEIGHTS)
def test_head_factors_are_as_constrained(kind: str) -> None:
    module = WeightedAttention(5, 4, heads=3, head_weights=kind)
    torch.testing.assert_close(module.head_factors().mean().item(), 1 / 3, rtol=0.2, atol=0)
    with torch.no_grad():
        assert module.factors is not None
        module.factors.copy_(torch.tensor([-9.0, 0.0, 2.0]))
    if kind != "free":
        assert bool((module.head_factors() >= 0).all())
    if kind == "simplex":
        assert module.head_factors().sum().item() == pytest.approx(1)
    average = WeightedAttention(5, 4, heads=4, combine_heads="average")
    assert average.factors is None
    assert average.head_factors().tolist() == [0.25] * 4


def test_the_structure_is_no_part_of_the_state() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.structure = structure(GRAPH, layer="weighted")
            self.attention = WeightedAttention(5, 4)

    assert list(Model().state_dict()) == ["attention.weight", "attention.attention", "attention.factors"]


def test_attention_dropout_only_in_training() -> None:
    module = WeightedAttention(5, 4, attention_dropout=0.5).double()
    where = structure(GRAPH, layer="undirected")
    torch.manual_seed(0)
    assert not torch.equal(module(features(), where), module(features(), where))
    module.eval()
    assert torch.equal(module(features(), where), module(features(), where))


def test_printed_form() -> None:
    assert repr(WeightedAttention(3, 4)) == "WeightedAttention(3, 4, heads=2)"
    module = WeightedAttention(3, 4, 4, combine_heads="concatenate", attention_dropout=0.1)
    assert repr(module) == ("WeightedAttention(3, 4, heads=4, combine_heads='concatenate', attention_dropout=0.1)")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"heads": 0}, "at least 1"),
        ({"activation": "gelu"}, "activation must be one of elu, relu, tanh, none, not 'gelu'"),
        ({"head_weights": "positive"}, "head_weights must be one of"),
        ({"combine_heads": "sum"}, "combine_heads must be one of"),
        ({"combine_heads": "concatenate", "heads": 3}, r"out_channels \(4\) must be a multiple of heads \(3\)"),
        ({"attention_dropout": 1.0}, "below 1"),
    ],
)
def test_wrong_settings_are_clear_errors(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        WeightedAttention(5, 4, **settings)


def test_features_must_fit_the_structure() -> None:
    with pytest.raises(DataError, match=r"features of shape \(12, 5\) are needed.*\(3, 5\)"):
        WeightedAttention(5, 4)(torch.zeros(3, 5), structure(GRAPH, layer="weighted"))


def test_it_learns_in_a_loop_of_ones_own() -> None:
    """Two groups that features alone do not tell apart: the neighbours do."""
    random = np.random.default_rng(0)
    labels = torch.from_numpy(random.integers(0, 2, 60))
    same = labels[:, None] == labels[None]
    edges = (same & (torch.from_numpy(random.random((60, 60))) < 0.2)).nonzero().T
    torch.manual_seed(0)
    given = torch.randn(60, 16)
    model = WeightedAttention(16, 2, heads=2, activation="none")
    where = structure(edges, num_nodes=60)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(40):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(given, where)[:30], labels[:30]).backward()
        optimiser.step()
    right = model(given, where)[30:].argmax(1) == labels[30:]
    assert right.float().mean() > 0.8
    assert set(ACTIVATIONS) == {"elu", "relu", "tanh", "none"}


def test_weights_that_want_a_gradient_are_refused():
    edges, weights = torch.tensor([[0, 1], [1, 2]]), torch.ones(2, requires_grad=True)
    with pytest.raises(DataError, match="edge_weight requires a gradient, which a structure would lose"):
        structure(edges, edge_weight=weights)
    structure(edges, edge_weight=weights.detach())


# As people who come from PyTorch Geometric use it


SOURCES, TARGETS = [0, 1, 3, 3, 2], [1, 2, 2, 2, 2]  # an edge twice, a self loop, and a node that hears nobody
EDGES = torch.tensor([SOURCES, TARGETS])
WEIGHTS = torch.tensor([1.0, 0.5, 2.0, 1.5, 9.0], dtype=torch.float64)
ATTRIBUTES = torch.randn(5, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
INPUT = torch.randn(5, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def slow_forward(module: WeightedAttention, weights: Any, attributes: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The formula in the docstring edge by edge, and alpha as a dense table (listener, listened, heads)."""
    table = torch.zeros(5, 5, module.heads, dtype=torch.float64)
    bound = module.score_bound

    def within(score: torch.Tensor) -> torch.Tensor:
        return score if bound is None else bound * torch.tanh(score / bound)

    hidden = torch.einsum("ni,iho->nho", INPUT, module.weight)
    loud = within((hidden * module.attention).sum(-1)).exp()
    for edge, (j, i) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        if i != j:
            strength = torch.ones(module.heads, dtype=torch.float64) if weights is None else weights[edge]
            if attributes is not None and module.edge_vector is not None:
                strength = strength * within(module.edge_vector @ attributes[edge]).exp()
            table[i, j] = table[i, j] + strength * loud[j]
    table = table + torch.diag_embed(loud.t()).permute(1, 2, 0)
    alpha = table / table.sum(1, keepdim=True)
    heads = ACTIVATIONS[module.activation](torch.einsum("ijh,jho->iho", alpha, hidden))
    return (heads * module.head_factors()[None, :, None]).sum(1), alpha


@pytest.mark.parametrize("kernels", ["compiled", "torch"])
@pytest.mark.parametrize("bound", [None, 1.5])
def test_edge_weights_and_attributes_have_gradients(kernels: str, bound: float | None) -> None:
    module = WeightedAttention(3, 4, edge_dim=2, score_bound=bound, kernels=kernels).double()
    assert module.edge_vector is not None
    torch.nn.init.normal_(module.edge_vector)
    weights, attributes = WEIGHTS.clone().requires_grad_(), ATTRIBUTES.clone().requires_grad_()
    found, (edges, alpha) = module(INPUT, EDGES, weights, edge_attr=attributes, return_attention_weights=True)
    expected, table = slow_forward(module, weights, attributes)
    torch.testing.assert_close(found, expected)
    parts = torch.zeros_like(table).index_put((edges[1], edges[0]), alpha, accumulate=True)
    torch.testing.assert_close(parts, table)
    into = [weights, attributes, *module.parameters()]
    direction = torch.randn_like(found)
    ours = torch.autograd.grad(found, into, direction)
    theirs = torch.autograd.grad(expected, into, direction)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


def test_attention_weights_of_a_structure_are_the_same() -> None:
    module = WeightedAttention(3, 4, heads=3).double()
    sums = structure(EDGES, edge_weight=WEIGHTS, num_nodes=5)
    for source, weights in ((sums, None), (EDGES, WEIGHTS)):
        found, (edges, alpha) = module(INPUT, source, weights, return_attention_weights=True)
        expected, table = slow_forward(module, WEIGHTS, None)
        torch.testing.assert_close(found, expected)
        parts = torch.zeros_like(table).index_put((edges[1], edges[0]), alpha, accumulate=True)
        torch.testing.assert_close(parts, table)
    groups = structure(GRAPH, layer="several groups")
    with pytest.raises(DataError, match="needs edges, and this structure has groups"):
        module(torch.randn(NODES, 3).double(), groups, return_attention_weights=True)


def test_every_form_of_edges_is_understood_on_the_way() -> None:
    data = pytest.importorskip("torch_geometric.data").Data
    module = WeightedAttention(3, 4).double()
    expected = module(INPUT, structure(EDGES, edge_weight=WEIGHTS, num_nodes=5))
    matrix = sp.coo_array((WEIGHTS.numpy(), (TARGETS, SOURCES)), shape=(5, 5))
    dense_weights = torch.from_numpy(matrix.toarray())

    class SparseTensorLike:
        def coo(self) -> Any:
            return torch.tensor(TARGETS), torch.tensor(SOURCES), WEIGHTS

        def sparse_sizes(self) -> tuple[int, int]:
            return 5, 5

    for source in (
        matrix,
        matrix.tocsc(),
        matrix.toarray(),
        dense_weights.to_sparse_csc(),
        dense_weights.to_sparse_csr(),
        SparseTensorLike(),
        data(edge_index=EDGES, edge_weight=WEIGHTS, num_nodes=5),
    ):
        torch.testing.assert_close(module(INPUT, source), expected)
    plain = module(INPUT, EDGES)
    for source in (EDGES.numpy(), data(edge_index=EDGES, num_nodes=5)):
        torch.testing.assert_close(module(INPUT, source), plain)


def test_a_size_that_is_not_known_is_taken_from_the_first_features_or_from_a_file() -> None:
    lazy = WeightedAttention(-1, 4)
    assert repr(lazy) == "WeightedAttention(-1, 4, heads=2)"
    found = lazy(INPUT.float(), EDGES)
    assert repr(lazy) == "WeightedAttention(3, 4, heads=2)"
    assert all(type(one) is torch.nn.Parameter for one in lazy.parameters())
    loaded = WeightedAttention(-1, 4)
    loaded.load_state_dict(lazy.state_dict())
    torch.testing.assert_close(loaded(INPUT.float(), EDGES), found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"structure": structure(EDGES, num_nodes=5), "edge_weight": WEIGHTS}, "edge_weight and edge_attr go with"),
        ({"structure": EDGES, "edge_attr": ATTRIBUTES[:, :1]}, r"edge_attr of shape \(5, 1\) was given for 5 edges"),
        ({"structure": EDGES, "edge_attr": ATTRIBUTES[:2]}, r"edge_attr of shape \(2, 2\) was given for 5 edges"),
        ({"structure": EDGES, "edge_weight": -WEIGHTS}, "weights must be positive"),
        ({"structure": EDGES + 3}, "edge_index names node 6"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        WeightedAttention(3, 4, edge_dim=2).double()(INPUT, **arguments)


def test_second_derivatives_vmap_and_export_work_in_plain_torch_and_are_refused_elsewhere() -> None:
    sums = structure(EDGES, edge_weight=WEIGHTS, num_nodes=5)
    fast, plain = (WeightedAttention(3, 4, kernels=kernels).double() for kernels in ("compiled", "torch"))
    plain.load_state_dict(fast.state_dict())
    features = INPUT.clone().requires_grad_()
    with pytest.raises(DataError, match="first derivatives only"):
        torch.autograd.grad(fast(features, sums).sum(), features, create_graph=True)
    assert torch.autograd.gradgradcheck(lambda x: plain(x, sums), features)
    many = torch.stack([INPUT, 2 * INPUT])
    with pytest.raises(DataError, match='kernels="torch"'):
        torch.func.vmap(lambda x: fast(x, sums))(many)
    found = torch.func.vmap(lambda x: plain(x, sums))(many)
    torch.testing.assert_close(found, torch.stack([fast(one, sums) for one in many]))

    class Model(torch.nn.Module):
        def __init__(self, layer: WeightedAttention) -> None:
            super().__init__()
            self.layer, self.sums = layer, sums

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.layer(x, self.sums)
            return result

    with pytest.raises(DataError, match='kernels="torch"'):
        torch.export.export(Model(fast), (INPUT,), strict=False)
    program = torch.export.export(Model(plain), (INPUT,), strict=False)
    torch.testing.assert_close(program.module()(INPUT), fast(INPUT, sums))
