import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.ops.cases import GRAPH, LAYERS, NODES, STACKS, agree, blocks
from tests.strategies import multilayer_graphs

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.ops import attention, attention_sums, groups_sum, layers_sum, stack, supra_sum
from gramme.ops.attention import BAND

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
    for found, other in zip(
        torch.autograd.grad((expanded * slope).sum(), inputs), wanted, strict=True
    ):
        torch.testing.assert_close(found, other)


def test_numerators_and_denominators() -> None:
    neighbourhood = stack([LAYERS["weighted"]], NODES)
    values, scores = torch.randn(NODES, 2, 3), torch.randn(NODES, 2)
    sums, totals = attention_sums(values, scores, neighbourhood)
    torch.testing.assert_close(sums / totals[..., None], attention(values, scores, neighbourhood))
