import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.ops.cases import GRAPH, LAYERS, NODES, STACKS, agree, blocks
from tests.strategies import multilayer_graphs

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.nn.attention import weighted_attention
from gramme.ops import (
    ACTIVATIONS,
    attention,
    attention_hop,
    attention_sums,
    fuse_heads,
    groups_sum,
    hop_fits,
    layers_sum,
    stack,
    supra_sum,
)
from gramme.ops.attention import BAND, Activation
from gramme.ops.attention import blocks as row_blocks
from gramme.ops.communicator import Communicator

SCALES = [1e-3, 1.0, 50.0, 1e3, 1e8, 1e30, 1e307]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", LAYERS)
def test_every_kind_of_layer_equals_the_reference(name: str, scale: float) -> None:
    agree(stack([LAYERS[name]], NODES), LAYERS[name].to_scipy(), scale=scale)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", STACKS)
def test_stacked_layers_equal_the_reference(name: str, scale: float) -> None:
    agree(layers_sum(GRAPH, STACKS[name]), blocks(STACKS[name]), scale=scale)


@pytest.mark.parametrize("scale", SCALES)
def test_the_supra_graph_equals_the_reference(scale: float) -> None:
    agree(supra_sum(GRAPH), GRAPH.supra_adjacency(), scale=scale)


@pytest.mark.parametrize("scale", [1.0, 50.0, 1e3, 1e8, 1e30])
@pytest.mark.parametrize("name", STACKS)
def test_single_precision_within_two_in_100_000(name: str, scale: float) -> None:
    neighbourhood = layers_sum(GRAPH, STACKS[name])
    agree(neighbourhood, blocks(STACKS[name]), scale=scale, dtype=torch.float32, tolerance=2e-5)


@given(
    multilayer_graphs(min_layers=1, min_nodes=1, max_nodes=7, features=False, labels=False),
    st.sampled_from(SCALES),
    st.integers(0, 99),
)
def test_any_graph_equals_the_reference(graph: MultilayerGraph, scale: float, seed: int) -> None:
    agree(supra_sum(graph), graph.supra_adjacency(), scale=scale, seed=seed)
    for layer in graph.layers.values():
        agree(stack([layer], graph.num_nodes), layer.to_scipy(), scale=scale, seed=seed)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_gradients_by_finite_differences(scale: float) -> None:
    random = torch.Generator().manual_seed(1)
    graph = GRAPH.select_layers(["directed and weighted", "several groups"])
    neighbourhood = supra_sum(graph.subgraph(graph.nodes[:6]))  # every number is moved by itself
    values = torch.randn(neighbourhood.rows, 2, 2, generator=random, dtype=torch.float64)
    scores = torch.randn(neighbourhood.rows, 2, generator=random, dtype=torch.float64) * scale
    inputs = (values.requires_grad_(), scores.requires_grad_())
    assert torch.autograd.gradcheck(lambda v, t: attention(v, t, neighbourhood), inputs)


def test_equal_scores_give_plain_means() -> None:
    layer = EdgeLayer(3, [0, 0], [1, 2])
    values = torch.tensor([[[3.0]], [[6.0]], [[0.0]]])
    for level in (0.0, 1e30, -1e30):
        found = attention(values, torch.full((3, 1), level), stack([layer], 3))
        assert found.flatten().tolist() == [3.0, 4.5, 1.5]


def test_ties_far_below_the_highest_score() -> None:
    # nodes 0 and 1 hear only each other; their scores are equal and out of exp's reach of node 2's
    layer = EdgeLayer(3, [0], [1])
    values = torch.tensor([[[2.0]], [[4.0]], [[9.0]]])
    for depth in (100.0, 1e5, 1e18, 1e30):
        scores = torch.tensor([[-depth], [-depth], [0.0]])
        assert attention(values, scores, stack([layer], 3)).flatten().tolist() == [3.0, 3.0, 9.0]


@pytest.mark.parametrize(
    "depth", [BAND - 1e-3, BAND, BAND + 1e-3, 2 * BAND, 2.0**50, 2.0**52, 2.0**57, 2.0**58, 2.0**80]
)
def test_across_the_borders_of_bands(depth: float) -> None:
    layer = EdgeLayer(4, [0, 1, 2], [1, 2, 3])
    values = torch.arange(8, dtype=torch.float64).view(4, 1, 2)
    scores = torch.tensor([[0.0], [-depth], [-depth - 1], [-depth - 90]], dtype=torch.float64)
    row = torch.softmax(scores[1:, 0], 0)
    wanted = (row[:, None] * values[1:, 0]).sum(0)
    torch.testing.assert_close(attention(values, scores, stack([layer], 4))[2, 0], wanted)


def test_few_passes_where_nobody_listens_further_down() -> None:
    # a star: everybody hears the centre, which has the highest score; a thousand bands lie below
    calls = 0
    nodes = 1000
    star = stack([EdgeLayer(nodes, np.zeros(nodes - 1, dtype=int), np.arange(1, nodes))], nodes)

    class Counting(type(star)):  # type: ignore[misc]
        def forward(self, values: torch.Tensor) -> torch.Tensor:
            nonlocal calls
            calls += 1
            return super().forward(values)

    star.__class__ = Counting
    scores = -1e4 * torch.arange(nodes, dtype=torch.float64)[:, None]
    found = attention(torch.randn(nodes, 1, 1, dtype=torch.float64), scores, star)
    assert bool(found.isfinite().all())
    assert calls < 10


def test_same_bits_twice() -> None:
    neighbourhood = supra_sum(GRAPH)
    values = torch.randn(neighbourhood.rows, 2, 3, generator=torch.Generator().manual_seed(0))
    for scale in (1.0, 100.0):
        scores = values[..., 0] * scale
        first, second = (attention(values, scores, neighbourhood) for _ in range(2))
        assert torch.equal(first, second)


def test_scores_that_are_no_numbers_show() -> None:
    scores = torch.tensor([[0.0], [torch.nan]])
    found = attention(torch.ones(2, 1, 1), scores, stack([EdgeLayer(2, [0], [1])], 2))
    assert bool(found.isnan().any())


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_one_row_per_group_is_what_its_members_hear(scale: float) -> None:
    layers = [LAYERS[name] for name in STACKS["groups"]]
    groups = groups_sum(GRAPH, STACKS["groups"])
    assert groups is not None
    random = torch.Generator().manual_seed(2)
    values = torch.randn(groups.rows, 2, 3, generator=random, dtype=torch.float64)
    scores = torch.randn(groups.rows, 2, generator=random, dtype=torch.float64) * scale
    inputs = (values.requires_grad_(), scores.requires_grad_())
    slope = torch.randn(groups.rows, 2, 3, generator=random, dtype=torch.float64)
    at_nodes = attention(values, scores, stack(layers, NODES))
    at_groups = attention(values, scores, groups)
    assert at_groups.shape[0] == groups.outputs
    assert bool(at_groups.isfinite().all())
    expanded = at_groups[groups.member_of]
    torch.testing.assert_close(expanded, at_nodes)
    wanted = torch.autograd.grad((at_nodes * slope).sum(), inputs)
    for found, other in zip(torch.autograd.grad((expanded * slope).sum(), inputs), wanted, strict=True):
        torch.testing.assert_close(found, other)


def test_numerators_and_denominators() -> None:
    neighbourhood = stack([LAYERS["weighted"]], NODES)
    values, scores = torch.randn(NODES, 2, 3), torch.randn(NODES, 2)
    sums, totals = attention_sums(values, scores, neighbourhood)
    torch.testing.assert_close(sums / totals[..., None], attention(values, scores, neighbourhood))


SHAPE = (2, 7, 3, 2, 4)


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=random, dtype=torch.float64)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("heads", [1, 2, 3])
def test_the_same_as_written_out(name: str, heads: int) -> None:
    activation = ACTIVATIONS[name]
    sums = numbers(2, 7, 3, heads, 4).requires_grad_()
    totals = numbers(2, 7, 3, heads, seed=1).exp().requires_grad_()
    factors = numbers(2, 3, heads, seed=2).requires_grad_()
    inputs = (sums, totals, factors)
    means = activation(sums / totals[..., None])
    wanted = torch.einsum("lnmhd,lmh->lnmd", means, factors)
    found = fuse_heads(sums, totals, factors, activation)
    torch.testing.assert_close(found, wanted)
    slope = numbers(2, 7, 3, 4, seed=3)
    for one, other in zip(
        torch.autograd.grad((found * slope).sum(), inputs),
        torch.autograd.grad((wanted * slope).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_without_totals() -> None:
    sums, factors = numbers(*SHAPE).requires_grad_(), numbers(2, 3, 2).requires_grad_()
    ones = torch.ones(SHAPE[:4], dtype=torch.float64)
    elu = ACTIVATIONS["elu"]
    torch.testing.assert_close(fuse_heads(sums, None, factors, elu), fuse_heads(sums, ones, factors, elu))
    assert torch.autograd.gradcheck(lambda s, f: fuse_heads(s, None, f, elu), (sums, factors))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_heads_gradients_by_finite_differences(name: str) -> None:
    sums = numbers(2, 2, 2, 2, 3).requires_grad_()
    totals = (numbers(2, 2, 2, 2, seed=1).abs() + 0.5).requires_grad_()
    factors = numbers(2, 2, 2, seed=2).requires_grad_()
    work = lambda s, t, f: fuse_heads(s, t, f, ACTIVATIONS[name])  # noqa: E731
    assert torch.autograd.gradcheck(work, (sums, totals, factors))


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    sums, totals = numbers(*SHAPE), numbers(*SHAPE[:4], seed=1).exp()
    factors = numbers(2, 3, 2, seed=2)
    whole = fuse_heads(sums, totals, factors, ACTIVATIONS["elu"])
    monkeypatch.setattr(sys.modules["gramme.ops.attention"], "BLOCK", 16)
    assert len(list(row_blocks(sums.flatten(0, 2)))) > 3
    assert torch.equal(fuse_heads(sums, totals, factors, ACTIVATIONS["elu"]), whole)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_fast_activations_in_single_precision(name: str) -> None:
    values = torch.cat([torch.linspace(-20, 20, 4001), torch.tensor([0.0, -1e-7, 1e-7, -90.0])])
    value, slope = ACTIVATIONS[name].with_slope(values)
    values.requires_grad_()
    wanted = ACTIVATIONS[name](values)
    torch.testing.assert_close(value, wanted.detach(), rtol=1e-6, atol=1e-7)
    (wanted_slope,) = torch.autograd.grad(wanted.sum(), values)
    torch.testing.assert_close(slope, wanted_slope, rtol=1e-6, atol=1e-7)


def test_slices_cover_all_rows() -> None:
    values = torch.zeros(10, 3)
    covered = [row for part in row_blocks(values) for row in range(10)[part]]
    assert covered == list(range(10))
    assert list(row_blocks(torch.zeros(0, 3))) == []


@pytest.mark.parametrize("name", ["elu", "relu", "none"])
@pytest.mark.parametrize("divided", [True, False])
def test_one_compiled_pass_in_single_precision(name: str, divided: bool) -> None:
    results = []
    for kind in (torch.float64, torch.float32):
        sums = numbers(*SHAPE).to(kind).requires_grad_()
        totals = (numbers(*SHAPE[:4], seed=1).abs() + 0.5).to(kind).requires_grad_()
        factors = numbers(2, 3, 2, seed=2).to(kind).requires_grad_()
        found = fuse_heads(sums, totals if divided else None, factors, ACTIVATIONS[name])
        inputs = [sums, factors, *([totals] if divided else [])]
        slope = numbers(2, 7, 3, 4, seed=3).to(kind)
        results.append([found, *torch.autograd.grad((found * slope).sum(), inputs)])
    assert "InOnePass" in type(results[1][0].grad_fn).__name__
    for wanted, found in zip(*results, strict=True):
        torch.testing.assert_close(found, wanted.float(), rtol=1e-5, atol=1e-5)


ATTENTION_HOP_LAYERS = [
    EdgeLayer(7, [0, 1, 2, 3, 0], [1, 2, 3, 4, 5], weight=[1.0, 2.0, 0.5, 1.0, 1.0]),
    MembershipLayer(7, [0, 1, 2, 2, 3, 6], [0, 0, 0, 1, 1, 2], weight=[1.0, 2.0, 1.0, 1.0, 0.5, 3.0]),
]


def numbers_attention_hop(*shape: int, seed: int = 0) -> torch.Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=random)


def inputs(members: int = 2, heads: int = 2, columns: int = 5) -> list[torch.Tensor]:
    return [
        numbers_attention_hop(7, members, 4),
        numbers_attention_hop(members, 2, 4, heads, columns, seed=1).requires_grad_(),
        numbers_attention_hop(members, 2, heads, columns, seed=2).requires_grad_(),
        numbers_attention_hop(members, 2, heads, seed=3).requires_grad_(),
    ]


def both_ways(
    name: str, given: list[torch.Tensor], bound: float | None, nodes: np.ndarray | None = None
) -> list[list[torch.Tensor]]:
    """Values and gradients by the compiled loops, and in double precision by torch's operations."""
    found = []
    for kind in (torch.float32, torch.float64):
        neighbourhood = stack(ATTENTION_HOP_LAYERS, 7, nodes)
        features, *parameters = (one.detach().to(kind).requires_grad_() for one in given)
        assert hop_fits(features, neighbourhood, ACTIVATIONS[name]) == (kind == torch.float32)
        value = weighted_attention(features, *parameters, neighbourhood, ACTIVATIONS[name], score_bound=bound)
        slope = numbers_attention_hop(*value.shape, seed=4).to(kind)
        grads = torch.autograd.grad((value * slope).sum(), [features, *parameters])
        found.append([value.detach(), *grads])
    return found


@pytest.mark.parametrize("bound", [None, 1.5])
@pytest.mark.parametrize("name", ["elu", "relu", "none"])
def test_equals_torch_s_operations(name: str, bound: float | None) -> None:
    for one, other in zip(*both_ways(name, inputs(), bound), strict=True):
        torch.testing.assert_close(one, other.float(), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(("members", "heads", "columns"), [(1, 1, 1), (1, 3, 8), (3, 2, 33)])
def test_any_size_and_some_outputs(members: int, heads: int, columns: int) -> None:
    given = inputs(members, heads, columns)
    for one, other in zip(*both_ways("elu", given, 2.0, np.array([1, 4])), strict=True):
        torch.testing.assert_close(one, other.float(), rtol=5e-4, atol=5e-5)


def test_the_compiled_exponential_down_to_its_end() -> None:
    neighbourhood = stack([EdgeLayer(400, [], [])], 400)
    means = torch.linspace(-95, 3, 400).view(1, 400, 1, 1)
    found = attention_hop(means, torch.zeros(1, 1, 1, 1), torch.ones(1, 1, 1), neighbourhood, ACTIVATIONS["elu"])
    assert found is not None
    torch.testing.assert_close(found, torch.nn.functional.elu(means), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["elu", "relu", "none"])
def test_what_is_no_number_stays_none(name: str) -> None:
    given = inputs()
    given[0][3] = torch.nan
    compiled, plain = both_ways(name, given, 1.0)
    assert torch.equal(compiled[0].isnan(), plain[0].isnan())
    assert compiled[0].isnan().any()


def test_scores_too_far_apart_are_left_to_bands() -> None:
    given = inputs()
    given[2] = (100 * given[2]).detach().requires_grad_()
    for one, other in zip(*both_ways("elu", given, None), strict=True):
        torch.testing.assert_close(one, other.float(), rtol=2e-3, atol=2e-3)
    neighbourhood = stack(ATTENTION_HOP_LAYERS, 7)
    projected = 100 * numbers_attention_hop(2, 7, 1, 3)
    vector, factors = numbers_attention_hop(2, 1, 1, 3, seed=1), torch.ones(2, 1, 1)
    relu = ACTIVATIONS["relu"]
    assert attention_hop(projected, vector, factors, neighbourhood, relu) is None
    assert attention_hop(projected, vector, factors, neighbourhood, relu, 5.0) is not None


def test_where_it_cannot_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    values, neighbourhood = numbers_attention_hop(7, 2), stack(ATTENTION_HOP_LAYERS, 7)
    relu = ACTIVATIONS["relu"]
    assert hop_fits(values, neighbourhood, relu)
    assert not hop_fits(values.double(), neighbourhood, relu)
    assert not hop_fits(values, neighbourhood, Activation(relu.plain, relu.with_slope))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert not hop_fits(values, neighbourhood, relu)
    monkeypatch.undo()
    neighbourhood.communicator = Communicator(0, 2)
    assert not hop_fits(values, neighbourhood, relu)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_quotient_of_an_activation_times_its_argument_is_the_activation(name: str) -> None:
    activation = ACTIVATIONS[name]
    values = torch.tensor([-2.0, -0.1, 0.0, 0.3, 4.0], dtype=torch.float64)
    quotient = activation.quotient(values)
    torch.testing.assert_close(quotient * values, activation(values))
    assert quotient[2] == activation.with_slope(values)[1][2]
