"""Attention over compact views equals a softmax written out neighbour by neighbour."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gramme.nn.relations import SparseSum, StackedViews


def random_views(seed: int, listeners: int = 7, sources: int = 6) -> list[sp.csr_array]:
    random = np.random.default_rng(seed)
    matrices = []
    for share in (0.4, 0.0, 0.1):
        dense = random.random((listeners, sources)) < share
        matrices.append(sp.csr_array(dense * random.uniform(0.5, 2.0, dense.shape)))
    return matrices


def dense_attention(matrix: sp.csr_array, values: torch.Tensor, scores: torch.Tensor) -> dict[int, torch.Tensor]:
    """What each listener of a view that hears somebody hears, one softmax at a time."""
    weights = torch.from_numpy(matrix.toarray())
    found = {}
    for row in range(weights.shape[0]):
        heard = torch.nonzero(weights[row])[:, 0]
        if heard.numel():
            share = weights[row, heard] * scores[heard].exp()
            found[row] = (share[:, None] * values[heard]).sum(0) / share.sum()
    return found


@pytest.mark.parametrize("seed", range(5))
def test_attention_is_the_softmax_over_those_who_are_heard(seed: int) -> None:
    matrices = random_views(seed)
    stack = StackedViews(matrices)
    table = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    score = torch.randn(6, dtype=torch.float64, generator=torch.Generator().manual_seed(seed + 1))
    values, scores = table[stack.sources], score[stack.sources]
    heard = stack.by_view(stack.attend(values, scores))
    rows = stack.by_view(stack.rows)
    for matrix, got, listeners in zip(matrices, heard, rows, strict=True):
        expected = dense_attention(matrix, table, score)
        assert listeners.tolist() == sorted(expected)
        for place, listener in enumerate(listeners.tolist()):
            torch.testing.assert_close(got[place], expected[listener])


def test_gradients_of_attention_gather_and_join() -> None:
    stack = StackedViews(random_views(3))

    def joined(table: torch.Tensor, score: torch.Tensor) -> torch.Tensor:
        said = stack.gather.sums(table)
        return stack.join.sums(stack.attend(said, score))

    table = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    score = torch.randn(sum(stack.source_counts), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(joined, (table, score))


def test_views_may_have_sources_of_their_own() -> None:
    first, second = sp.csr_array(np.eye(3)), sp.csr_array(np.eye(3)[:, [2, 1, 0]])
    stack = StackedViews([first, second], [0, 3], 6)
    assert stack.sources.tolist() == [0, 1, 2, 3, 4, 5]
    table = torch.arange(6.0)[:, None]
    heard = stack.attend(stack.gather(table), torch.zeros(6))
    assert stack.join(heard)[:, 0].tolist() == [0 + 5, 1 + 4, 2 + 3]


def test_no_view_and_views_without_edges() -> None:
    assert StackedViews([]).attend(torch.zeros(0, 2), torch.zeros(0)).shape == (0, 2)
    empty = StackedViews([sp.csr_array((4, 4))])
    assert empty.row_counts == [0]
    heard = empty.attend(torch.zeros(0, 2), torch.zeros(0))
    assert empty.join(heard).tolist() == [[0.0, 0.0]] * 4


def test_a_sparse_sum_is_its_matrix() -> None:
    matrix = random_views(1)[0]
    structure = SparseSum(matrix)
    values = torch.randn(6, 2, dtype=torch.float64)
    back = torch.randn(7, 2, dtype=torch.float64)
    torch.testing.assert_close(structure(values), torch.from_numpy(matrix @ values.numpy()))
    torch.testing.assert_close(structure.transposed(back), torch.from_numpy(matrix.T @ back.numpy()))
