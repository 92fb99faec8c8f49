import pytest
import scipy.sparse as sp
import torch
from tests.nn.slow import slow_hop
from tests.ops.cases import GRAPH, LAYERS, NODES, STACKS

from gramme.nn import HEAD_COMBINATIONS, AttentionHop, MemberRandom
from gramme.ops import ACTIVATIONS, groups_sum, layers_sum


def hop(
    layers: int,
    members: int = 2,
    heads: int = 2,
    activation: str = "elu",
    dropout: float = 0.0,
    out_dim: int = 3,
    combine_heads: str = "weighted",
    score_bound: float | None = None,
) -> AttentionHop:
    made = AttentionHop(
        MemberRandom(range(members)),
        layers,
        5,
        out_dim,
        heads,
        head_weights="nonnegative",
        activation=activation,
        attention_dropout=dropout,
        combine_heads=combine_heads,
        score_bound=score_bound,
    )
    return made.double()


def numbers(*shape: int) -> torch.Tensor:
    random = torch.Generator().manual_seed(0)
    return torch.randn(*shape, generator=random, dtype=torch.float64)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("name", STACKS)
def test_equals_the_equations(name: str, shared: bool) -> None:
    chosen = STACKS[name]
    one = hop(len(chosen))
    features = numbers(NODES, 2, 5) if shared else numbers(len(chosen), NODES, 2, 5)
    found = one(features, layers_sum(GRAPH, chosen))
    assert found.shape == (len(chosen), NODES, 2, 3)
    for place, layer in enumerate(chosen):
        for member in range(2):
            mine = (features if shared else features[place])[:, member]
            wanted = slow_hop(one, member, place, mine, LAYERS[layer].to_scipy())
            torch.testing.assert_close(found[place, :, member], wanted)


@pytest.mark.parametrize("bound", [0.5, 5.0])
def test_bounded_scores(bound: float) -> None:
    one = hop(1, members=1, score_bound=bound)
    features = 20 * numbers(NODES, 1, 5)
    found = one(features, layers_sum(GRAPH, ["directed"]))[0, :, 0]
    wanted = slow_hop(one, 0, 0, features[:, 0], LAYERS["directed"].to_scipy())
    torch.testing.assert_close(found, wanted)
    assert float(one.scores(features).abs().max()) <= bound
    assert float(hop(1, members=1).scores(features).abs().max()) > bound


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("heads", [1, 3])
def test_activations_and_heads(activation: str, heads: int) -> None:
    one = hop(1, members=1, heads=heads, activation=activation)
    features = numbers(NODES, 1, 5)
    found = one(features, layers_sum(GRAPH, ["directed"]))[0, :, 0]
    wanted = slow_hop(one, 0, 0, features[:, 0], LAYERS["directed"].to_scipy())
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("combine_heads", HEAD_COMBINATIONS)
@pytest.mark.parametrize("heads", [1, 2])
def test_ways_to_combine_heads(combine_heads: str, heads: int) -> None:
    one = hop(2, heads=heads, out_dim=4, combine_heads=combine_heads)
    features = numbers(2, NODES, 2, 5)
    chosen = ["directed", "undirected"]
    found = one(features, layers_sum(GRAPH, chosen))
    assert found.shape == (2, NODES, 2, 4)
    for place, layer in enumerate(chosen):
        wanted = slow_hop(one, 1, place, features[place, :, 1], LAYERS[layer].to_scipy())
        torch.testing.assert_close(found[place, :, 1], wanted)


def test_a_node_that_hears_itself_alone_combines_its_heads_all_the_same() -> None:
    for combine_heads in HEAD_COMBINATIONS:
        one = hop(1, members=1, heads=2, out_dim=4, combine_heads=combine_heads)
        features = numbers(NODES, 1, 5)
        wanted = slow_hop(one, 0, 0, features[:, 0], sp.csr_array((NODES, NODES)))
        torch.testing.assert_close(one(features, None)[0, :, 0], wanted)


def test_scores_are_the_neighbour_s_half_of_the_edge_score() -> None:
    one = hop(2)
    features = numbers(NODES, 2, 5)
    values = torch.einsum("nmi,mlihd->lnmhd", features, one.weight)
    wanted = torch.einsum("lnmhd,mlhd->lnmh", values, one.attention)
    torch.testing.assert_close(one.scores(features), wanted)


def test_groups_give_one_row_per_group() -> None:
    one = hop(3)
    features = numbers(NODES, 2, 5)
    groups = groups_sum(GRAPH, STACKS["groups"])
    assert groups is not None
    found = one(features, groups)
    assert found.shape == (3, groups.size, 2, 3)
    expanded = found.flatten(0, 1)[groups.member_of].view(3, NODES, 2, 3)
    torch.testing.assert_close(expanded, one(features, layers_sum(GRAPH, STACKS["groups"])))


def test_without_a_neighbourhood_a_node_hears_itself() -> None:
    one = hop(1)
    features = numbers(1, NODES, 2, 5)
    torch.testing.assert_close(one(features, None), one(features, layers_sum(GRAPH, ["no edges"])))


def test_attention_dropout_only_in_training() -> None:
    one = hop(1, dropout=0.5)
    features = numbers(NODES, 2, 5)
    neighbourhood = layers_sum(GRAPH, ["undirected"])
    one.eval()
    assert torch.equal(one(features, neighbourhood), one(features, neighbourhood))
    one.train()
    assert not torch.equal(one(features, neighbourhood), one(features, neighbourhood))


def test_every_parameter_learns() -> None:
    one = hop(2)
    one(numbers(NODES, 2, 5), layers_sum(GRAPH, ["directed", "weighted"])).square().sum().backward()
    for name, parameter in one.named_parameters():
        assert parameter.grad is not None, name
        assert bool((parameter.grad != 0).any()), name
