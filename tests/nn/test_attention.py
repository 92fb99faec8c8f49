import pytest
import scipy.sparse as sp
import torch
from tests.nn.slow import slow_hop
from tests.ops.cases import GRAPH, LAYERS, NODES, STACKS

from gramme.nn import HEAD_COMBINATIONS, HEAD_WEIGHTS, AttentionHop, MemberRandom, ScalingFactors, ShapesOnly
from gramme.nn.attention import glorot
from gramme.ops import ACTIVATIONS, groups_sum, layers_sum


@pytest.mark.parametrize("kind", HEAD_WEIGHTS)
def test_start_near_an_equal_share(kind: str) -> None:
    factors = ScalingFactors(MemberRandom(range(50)), (4, 5), kind)()
    assert factors.shape == (50, 4, 5)
    assert abs(factors.mean().item() - 0.2) < 0.01
    assert factors.std() > 0.001


def test_constraints_hold_wherever_training_leads() -> None:
    for kind in HEAD_WEIGHTS:
        factors = ScalingFactors(MemberRandom([0]), (5,), kind)
        with torch.no_grad():
            factors.raw.copy_(torch.tensor([[-50.0, -1.0, 0.0, 1.0, 50.0]]))
        if kind != "free":
            assert bool((factors() >= 0).all())
        if kind == "simplex":
            torch.testing.assert_close(factors().sum(-1), torch.ones(1))
        if kind == "free":
            assert torch.equal(factors(), factors.raw)


def test_unknown_kind() -> None:
    with pytest.raises(ValueError, match="nonnegative, simplex, free, not 'positive'"):
        ScalingFactors(MemberRandom([0]), (2,), "positive")


def test_printed_form() -> None:
    assert "(1, 2), simplex" in repr(ScalingFactors(MemberRandom([0]), (2,), "simplex"))


def test_glorot_range() -> None:
    weight = glorot(MemberRandom([0, 1]), (30, 20), 30, 20)
    bound = (6 / 50) ** 0.5
    assert weight.shape == (2, 30, 20)
    assert weight.requires_grad
    assert 0.9 * bound < weight.abs().max() <= bound


def test_a_member_draws_the_same_in_any_company() -> None:
    together, alone = MemberRandom([3, 5, 8]), MemberRandom([5])
    for draw in ("uniform", "normal"):
        arguments = ((2, 3), 0.5) if draw == "uniform" else ((2, 3),)
        several, one = getattr(together, draw)(*arguments), getattr(alone, draw)(*arguments)
        assert torch.equal(several[1], one[0])
        assert not torch.equal(several[0], several[1])
    like, like_one = torch.zeros(4, 3, 6), torch.zeros(4, 1, 6)
    for _ in range(2):
        assert torch.equal(together.mask(like, 1, 0.5)[:, 1], alone.mask(like_one, 1, 0.5)[:, 0])


def test_a_mask_keeps_the_mean() -> None:
    mask = MemberRandom([0]).mask(torch.zeros(1, 100_000), 0, 0.3)
    assert set(mask.unique().tolist()) == {0.0, mask.max().item()}
    torch.testing.assert_close(mask.max(), torch.tensor(1 / 0.7))
    assert abs(mask.mean().item() - 1) < 0.01


def test_masks_differ_from_step_to_step() -> None:
    random = MemberRandom([0])
    like = torch.zeros(100, 1, 4)
    assert not torch.equal(random.mask(like, 1, 0.5), random.mask(like, 1, 0.5))


def test_nothing_global_is_touched() -> None:
    state = torch.get_rng_state()
    random = MemberRandom([1, 2])
    random.normal((3,))
    random.mask(torch.zeros(2, 3), 0, 0.5)
    assert torch.equal(torch.get_rng_state(), state)


def test_any_whole_number_is_a_seed() -> None:
    random = MemberRandom([-1, 2**64 + 5])
    assert random.members == 2
    random.mask(torch.zeros(2, 3), 0, 0.5)


def test_shapes_alone_are_those_of_one_member() -> None:
    with torch.device("meta"):
        shapes = ShapesOnly()
        found = [shapes.uniform((2, 3), 0.5), shapes.normal((4,))]
    drawn = [MemberRandom([0]).uniform((2, 3), 0.5), MemberRandom([0]).normal((4,))]
    assert [one.shape for one in found] == [one.shape for one in drawn]
    assert shapes.members == 1


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
