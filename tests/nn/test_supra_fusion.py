"""The supra fusion layer: the paper's equations, and heads that multiply out."""

import pytest
import torch
from tests.nn.slow import slow_supra_fusion

from gramme.nn import HEAD_WEIGHTS, MemberRandom, Shape, SupraFusion

SHAPE = Shape(3, 5, 4, 2, (1, 1, 1), (1, 1, 1))


@pytest.mark.parametrize("feed_forward", [True, False])
@pytest.mark.parametrize("kind", HEAD_WEIGHTS)
def test_equals_the_equations(kind: str, feed_forward: bool) -> None:
    shape = Shape(3, 5, 4, 2, (1, 1, 1), (1, 1, 1), head_weights=kind)
    fusion = SupraFusion(shape, MemberRandom([1, 2]), 5, feed_forward)
    values = torch.randn(3, 7, 2, 4, generator=torch.Generator().manual_seed(0))
    found = fusion(values)
    assert found.shape == (7, 2, 4)
    for member in range(2):
        wanted = slow_supra_fusion(fusion, member, list(values[:, :, member]))
        torch.testing.assert_close(found[:, member], wanted)


def test_layer_factors_are_what_a_layer_alone_contributes() -> None:
    fusion = SupraFusion(SHAPE, MemberRandom([0]), 2, False)
    for layer in range(3):
        values = torch.zeros(3, 1, 1, 4)
        values[layer] = 1
        expected = fusion.layer_factors()[0, layer].expand(4)
        torch.testing.assert_close(fusion(values)[0, 0], expected)
