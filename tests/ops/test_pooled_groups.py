"""Pooling before projecting gives what attention over the members' edges gives, in values and in gradients."""

import numpy as np
import pytest
import torch

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.nn.attention import pooled_attention, weighted_attention
from gramme.ops import ACTIVATIONS, PooledGroups, layers_sum
from gramme.ops import pooled_groups as module

NODES, MEMBERS, INPUTS, HEADS, COLUMNS = 9, 2, 4, 3, 5
CODES = np.array(
    [
        [0, 0, 1, 1, 2, 2, 2, 0, 1],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
        [-1, 3, 3, -1, 1, 1, 1, 1, -1],  # some are absent, and group 0 and 2 have no members
    ]
)
GRAPH = MultilayerGraph({str(n): MembershipLayer.from_codes(row) for n, row in enumerate(CODES)})


def groups() -> PooledGroups:
    found = PooledGroups.of(GRAPH, GRAPH.layers, COLUMNS)
    assert found is not None
    return found


def parameters(layers: int = 3, scale: float = 1.0) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(3)
    shapes = [
        (NODES, MEMBERS, INPUTS),
        (MEMBERS, layers, INPUTS, HEADS, COLUMNS),
        (MEMBERS, layers, HEADS, COLUMNS),
        (MEMBERS, layers, HEADS),
    ]
    drawn = [torch.randn(one, generator=random, dtype=torch.float64) for one in shapes]
    drawn[2] *= scale
    return [one.requires_grad_() for one in drawn]


@pytest.mark.parametrize("concatenate", [False, True])
@pytest.mark.parametrize("bound", [None, 5.0])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_values_and_gradients_are_those_of_attention_over_edges(
    scale: float, bound: float | None, concatenate: bool
) -> None:
    activation = ACTIVATIONS["elu"]
    present = torch.from_numpy(CODES >= 0)[:, :, None, None]
    found, wanted = parameters(scale=scale), parameters(scale=scale)
    settings = {"concatenate": concatenate, "score_bound": bound}
    given = groups().by_layer(pooled_attention(*found, groups(), activation, **settings))
    edges = weighted_attention(*wanted, layers_sum(GRAPH), activation, **settings) * present
    torch.testing.assert_close(given, edges)
    (given**2).sum().backward()
    (edges**2).sum().backward()
    for one, other in zip(found, wanted, strict=True):
        if one.grad is not None or other.grad is not None:
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-6, atol=1e-9)


def test_joined_is_the_sum_over_the_layers() -> None:
    values = torch.randn(MEMBERS, groups().rows, 3, dtype=torch.float64, requires_grad=True)
    apart = groups().by_layer(values).sum(0)
    torch.testing.assert_close(groups().joined(values), apart)
    wanted = torch.autograd.grad((apart**2).sum(), values)
    assert torch.autograd.gradcheck(groups().joined, values)
    torch.testing.assert_close(torch.autograd.grad((groups().joined(values) ** 2).sum(), values), wanted)


def test_rows_are_the_groups_that_have_members() -> None:
    found = groups()
    assert found.sizes == [3, 1, 2]
    assert found.layer_of.tolist() == [0, 0, 0, 1, 2, 2]
    assert (~found.outside).sum(1).tolist() == [3, 3, 3, 9, 4, 2]
    np.testing.assert_allclose(found.portion * NODES, [3, 3, 3, 9, 4, 2])


def test_it_is_left_where_it_cannot_be_done_or_does_not_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(columns: int = 5, **layers: MembershipLayer | EdgeLayer) -> PooledGroups | None:
        return PooledGroups.of(MultilayerGraph(layers), layers, columns)

    single = MembershipLayer.from_codes([0, 1, 2, 3])
    assert of(a=single) is not None
    assert of(a=single, columns=3) is None, "more groups than columns"
    assert of(a=single, b=EdgeLayer(4, [0], [1])) is None
    assert of(a=MembershipLayer(4, [0, 0, 1], [0, 1, 1])) is None, "in two groups"
    alone = MembershipLayer(4, [0, 1], [0, 0], nodes=[0, 1, 2])
    assert of(a=alone) is None, "present, but in no group"
    monkeypatch.setattr(module, "MAX_POOLED_NUMBERS", 15)
    assert of(a=single) is None, "too large"
