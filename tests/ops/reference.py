"""Attention spelled out edge by edge, as the paper writes it: the slow truth that the fast way must equal.

Only for tests and for reading: it stores every edge, scores it with both ends and takes an explicit softmax.
"""

from __future__ import annotations

import scipy.sparse as sp
import torch
from torch import Tensor


def reference_attention(
    values: Tensor, scores: Tensor, adjacency: sp.csr_array, own_scores: Tensor | None = None
) -> Tensor:
    """Per-edge softmax attention.

    Parameters
    ----------
    values : tensor, shape (rows, heads, dim)
    scores : tensor, shape (rows, heads)
        The neighbour's part t_j of an edge's score.
    adjacency : scipy CSR, shape (rows, rows)
        Entry (i, j) is the weight with which i listens to j, no diagonal; a self edge of weight 1 is added.
    own_scores : tensor, shape (rows, heads), optional
        The listener's part s_i, which cancels; here to show that it does.
    """
    edges = sp.coo_array(adjacency + sp.eye_array(adjacency.shape[0], format="csr"))
    listener = torch.from_numpy(edges.row).long()
    heard = torch.from_numpy(edges.col).long()
    strength = torch.from_numpy(edges.data).to(values.dtype)[:, None]
    score = scores[heard]
    if own_scores is not None:
        score = score + own_scores[listener]
    index = listener[:, None].expand_as(score)
    highest = torch.full_like(scores, -torch.inf).scatter_reduce(0, index, score.detach(), "amax")
    weight = strength * torch.exp(score - highest[listener])
    total = torch.zeros_like(scores).index_add(0, listener, weight)
    coefficient = weight / total[listener]
    mean = torch.zeros_like(values)
    return mean.index_add(0, listener, coefficient[..., None] * values[heard])
