import pytest
import torch

from gramme.nn import HEAD_WEIGHTS, MemberRandom, ScalingFactors
from gramme.nn.weights import glorot


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
