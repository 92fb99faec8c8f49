"""The compiled hop against the same formula in torch's operations, in values and gradients."""

import numpy as np
import pytest
import torch

from gramme.graph import EdgeLayer, MembershipLayer
from gramme.nn.formula import weighted_attention
from gramme.ops import ACTIVATIONS, attention_hop, hop_fits, stack
from gramme.ops.heads import Activation

LAYERS = [
    EdgeLayer(7, [0, 1, 2, 3, 0], [1, 2, 3, 4, 5], weight=[1.0, 2.0, 0.5, 1.0, 1.0]),
    MembershipLayer(
        7, [0, 1, 2, 2, 3, 6], [0, 0, 0, 1, 1, 2], weight=[1.0, 2.0, 1.0, 1.0, 0.5, 3.0]
    ),
]


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=random)


def inputs(members: int = 2, heads: int = 2, columns: int = 5) -> list[torch.Tensor]:
    return [
        numbers(7, members, 4),
        numbers(members, 2, 4, heads, columns, seed=1).requires_grad_(),
        numbers(members, 2, heads, columns, seed=2).requires_grad_(),
        numbers(members, 2, heads, seed=3).requires_grad_(),
    ]


def both_ways(
    name: str, given: list[torch.Tensor], bound: float | None, nodes: np.ndarray | None = None
) -> list[list[torch.Tensor]]:
    """Values and gradients by the compiled loops, and in double precision by torch's operations."""
    found = []
    for kind in (torch.float32, torch.float64):
        neighbourhood = stack(LAYERS, 7, nodes)
        features, *parameters = (one.detach().to(kind).requires_grad_() for one in given)
        assert hop_fits(features, neighbourhood, ACTIVATIONS[name]) == (kind == torch.float32)
        value = weighted_attention(
            features, *parameters, neighbourhood, ACTIVATIONS[name], score_bound=bound
        )
        slope = numbers(*value.shape, seed=4).to(kind)
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
    found = attention_hop(
        means, torch.zeros(1, 1, 1, 1), torch.ones(1, 1, 1), neighbourhood, ACTIVATIONS["elu"]
    )
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
    neighbourhood = stack(LAYERS, 7)
    projected = 100 * numbers(2, 7, 1, 3)
    vector, factors = numbers(2, 1, 1, 3, seed=1), torch.ones(2, 1, 1)
    relu = ACTIVATIONS["relu"]
    assert attention_hop(projected, vector, factors, neighbourhood, relu) is None
    assert attention_hop(projected, vector, factors, neighbourhood, relu, 5.0) is not None


def test_where_it_cannot_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    values, neighbourhood = numbers(7, 2), stack(LAYERS, 7)
    relu = ACTIVATIONS["relu"]
    assert hop_fits(values, neighbourhood, relu)
    assert not hop_fits(values.double(), neighbourhood, relu)
    assert not hop_fits(values, neighbourhood, Activation(relu.plain, relu.with_slope))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert not hop_fits(values, neighbourhood, relu)
    monkeypatch.undo()
    monkeypatch.setattr(type(neighbourhood), "across_processes", True)
    assert not hop_fits(values, neighbourhood, relu)
