import pytest
import torch

from gramme.ops import ACTIVATIONS, fuse_heads
from gramme.ops.blocks import blocks as row_blocks

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
    torch.testing.assert_close(
        fuse_heads(sums, None, factors, elu), fuse_heads(sums, ones, factors, elu)
    )
    assert torch.autograd.gradcheck(lambda s, f: fuse_heads(s, None, f, elu), (sums, factors))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradients_by_finite_differences(name: str) -> None:
    sums = numbers(2, 2, 2, 2, 3).requires_grad_()
    totals = (numbers(2, 2, 2, 2, seed=1).abs() + 0.5).requires_grad_()
    factors = numbers(2, 2, 2, seed=2).requires_grad_()
    work = lambda s, t, f: fuse_heads(s, t, f, ACTIVATIONS[name])  # noqa: E731
    assert torch.autograd.gradcheck(work, (sums, totals, factors))


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    sums, totals = numbers(*SHAPE), numbers(*SHAPE[:4], seed=1).exp()
    factors = numbers(2, 3, 2, seed=2)
    whole = fuse_heads(sums, totals, factors, ACTIVATIONS["elu"])
    monkeypatch.setattr("gramme.ops.blocks.BLOCK", 16)
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
