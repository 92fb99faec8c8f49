import torch

from gramme.nn import MemberRandom, ShapesOnly


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
