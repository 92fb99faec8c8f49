import pytest
import torch

from gramme.graph import MembershipLayer
from gramme.ops import GroupSum, project, spread


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=random, dtype=torch.float64)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("members", "layers"), [(1, 1), (1, 3), (2, 1), (3, 2)])
def test_products_in_order(shared: bool, members: int, layers: int) -> None:
    features = numbers(*([] if shared else [layers]), 5, members, 4)
    weights = [numbers(members, layers, 4, out, seed=out) for out in (6, 2)]
    pattern = "nmi,mlio->lnmo" if shared else "lnmi,mlio->lnmo"
    for found, weight in zip(project(features, *weights), weights, strict=True):
        assert found.is_contiguous()
        torch.testing.assert_close(found, torch.einsum(pattern, features, weight))


@pytest.mark.parametrize("shared", [True, False])
def test_gradients_by_finite_differences(shared: bool) -> None:
    features = numbers(*([] if shared else [2]), 3, 2, 3).requires_grad_()
    weights = [numbers(2, 2, 3, out, seed=out).requires_grad_() for out in (4, 1)]
    assert torch.autograd.gradcheck(project, (features, *weights))


def test_a_result_that_is_not_used_has_no_gradient() -> None:
    features, weights = numbers(3, 1, 2), [numbers(1, 1, 2, 2).requires_grad_() for _ in range(2)]
    project(features, *weights)[0].sum().backward()
    assert weights[0].grad is not None
    assert weights[1].grad is None or not weights[1].grad.any()


def test_each_member_is_given_its_group_s_row() -> None:
    layers = [MembershipLayer.from_codes([0, 1, 0, -1]), MembershipLayer.from_codes([0, 0, 0, 0])]
    groups = GroupSum([layer.incidence() for layer in layers])
    values = numbers(2, groups.size, 2, 3).requires_grad_()
    found = spread(values, groups)
    assert found.shape == (2, 4, 2, 3)
    assert torch.equal(found.flatten(0, 1), values.flatten(0, 1)[groups.member_of])
    assert torch.autograd.gradcheck(lambda v: spread(v, groups), (values,))
