import pytest
import torch
from tests.ops.cases import LAYERS, NODES
from tests.ops.reference import reference_attention

from gramme.graph import EdgeLayer


def test_by_hand() -> None:
    # node 0 hears itself and node 1 with scores log 1 and log 3: a quarter and three quarters
    layer = EdgeLayer(2, [0], [1], directed=True)
    values = torch.tensor([[[4.0]], [[8.0]]])
    scores = torch.tensor([[1.0], [3.0]]).log()
    found = reference_attention(values, scores, layer.to_scipy())
    torch.testing.assert_close(found.flatten(), torch.tensor([7.0, 8.0]))


def test_a_weight_multiplies_the_neighbour_but_not_the_node_itself() -> None:
    layer = EdgeLayer(2, [0], [1], [3.0], directed=True)
    values = torch.tensor([[[4.0]], [[8.0]]])
    found = reference_attention(values, torch.zeros(2, 1), layer.to_scipy())
    torch.testing.assert_close(found.flatten(), torch.tensor([7.0, 8.0]))


@pytest.mark.parametrize("name", LAYERS)
def test_the_listener_s_part_of_the_score_cancels(name: str) -> None:
    random = torch.Generator().manual_seed(0)
    adjacency = LAYERS[name].to_scipy()
    values = torch.randn(NODES, 2, 3, generator=random, dtype=torch.float64)
    scores = torch.randn(NODES, 2, generator=random, dtype=torch.float64)
    own = 10 * torch.randn(NODES, 2, generator=random, dtype=torch.float64)
    own.requires_grad_()
    with_own = reference_attention(values, scores, adjacency, own)
    torch.testing.assert_close(with_own, reference_attention(values, scores, adjacency))
    (slope,) = torch.autograd.grad(with_own.square().sum(), own)
    torch.testing.assert_close(slope, torch.zeros_like(slope), rtol=0, atol=1e-12)
