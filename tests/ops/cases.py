"""Graphs with every kind of layer, and the comparison with attention spelled out edge by edge."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import torch
from tests.ops.reference import reference_attention
from torch import Tensor

from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph
from gramme.ops import NeighbourhoodSum, attention

NODES = 12
_random = np.random.default_rng(5)


def _ends(count: int) -> tuple[np.ndarray, np.ndarray]:
    # the last two nodes have no edge in any layer
    return _random.integers(0, NODES - 2, count), _random.integers(0, NODES - 2, count)


LAYERS: dict[str, Layer] = {
    "undirected": EdgeLayer(NODES, *_ends(20)),
    "directed": EdgeLayer(NODES, *_ends(25), directed=True),
    "weighted": EdgeLayer(NODES, *_ends(20), _random.random(20) + 0.1),
    "directed and weighted": EdgeLayer(NODES, *_ends(25), _random.random(25) + 0.1, directed=True),
    "some nodes absent": EdgeLayer(NODES, [0, 1, 4], [1, 2, 0], nodes=[0, 1, 2, 4, 7]),
    "no edges": EdgeLayer(NODES, [], []),
    "one group each": MembershipLayer.from_codes(_random.integers(-1, 3, NODES)),
    "one group in all": MembershipLayer.from_codes(np.zeros(NODES, dtype=int)),
    "several groups": MembershipLayer(NODES, *_ends(20)),
    "nobody in a group": MembershipLayer(NODES, [], []),
}
GRAPH = MultilayerGraph(LAYERS)
STACKS = {
    "edges": ["undirected", "directed", "weighted"],
    "symmetric edges": ["undirected", "some nodes absent"],
    "groups": ["one group each", "one group in all", "nobody in a group"],
    "groups of both kinds": ["one group each", "several groups"],
    "mixed": ["directed", "one group each", "several groups", "no edges", "weighted"],
}


def dense(apply: Callable[[Tensor], Tensor], rows: int) -> np.ndarray:
    """The matrix of a linear operation."""
    return apply(torch.eye(rows, dtype=torch.float64)).numpy()


def blocks(layers: list[str]) -> sp.csr_array:
    return sp.csr_array(sp.block_diag([LAYERS[name].to_scipy() for name in layers], format="csr"))


def agree(
    neighbourhood: NeighbourhoodSum,
    adjacency: sp.csr_array,
    *,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    tolerance: float = 1e-12,
    heads: int = 3,
    seed: int = 0,
) -> None:
    """Attention equals the edge by edge reference in values and gradients.

    The reference runs in double precision on the same numbers.
    """
    random = torch.Generator().manual_seed(seed)
    rows = neighbourhood.rows
    values = torch.randn(rows, heads, 4, generator=random).to(dtype)
    scores = (torch.randn(rows, heads, generator=random).double() * scale).to(dtype)
    slope = torch.randn(rows, heads, 4, generator=random).to(dtype)
    found, found_slopes = _with_slopes(lambda v, t: attention(v, t, neighbourhood), values, scores, slope)
    wanted, wanted_slopes = _with_slopes(
        lambda v, t: reference_attention(v, t, adjacency), values.double(), scores.double(), slope.double()
    )
    for one, other in zip((found, *found_slopes), (wanted, *wanted_slopes), strict=True):
        torch.testing.assert_close(one.double(), other, rtol=tolerance, atol=tolerance)


def _with_slopes(
    work: Callable[[Tensor, Tensor], Tensor], values: Tensor, scores: Tensor, slope: Tensor
) -> tuple[Tensor, tuple[Tensor, ...]]:
    values, scores = values.clone().requires_grad_(), scores.clone().requires_grad_()
    result = work(values, scores)
    assert result.dtype == values.dtype
    return result.detach(), torch.autograd.grad((result * slope).sum(), (values, scores))
