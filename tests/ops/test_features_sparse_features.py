"""Sparse features: products, gradients and repeated rows as those of the dense matrix, and a size no dense one has."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gramme.ops import SparseFeatures, project

MATRIX = sp.random_array((7, 5), density=0.4, format="csr", rng=np.random.default_rng(0))


@pytest.fixture(autouse=True)
def _in_double_precision():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def weights(members: int = 2, layers: int = 3) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(0)
    return [torch.randn(members, layers, 5, out, generator=random).requires_grad_() for out in (4, 1)]


def dense(members: int = 2) -> torch.Tensor:
    return torch.from_numpy(MATRIX.toarray())[:, None].expand(7, members, 5)


def test_products_are_those_of_the_dense_matrix():
    features = SparseFeatures(MATRIX, 2)
    assert features.shape == (7, 2, 5)
    for found, expected in zip(project(features, *weights()), project(dense(), *weights()), strict=True):
        assert found.is_contiguous()
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("dropped", [False, True])
def test_gradients_by_finite_differences(dropped: bool):
    features = SparseFeatures(MATRIX, 2)
    if dropped:
        features = features.times(torch.rand(MATRIX.nnz, 2))
    assert torch.autograd.gradcheck(lambda *some: project(features, *some), weights())


def test_members_have_entries_of_their_own_once_some_are_dropped():
    mask = torch.rand(MATRIX.nnz, 2)
    found = project(SparseFeatures(MATRIX, 2).times(mask), *weights())[0]
    for member in range(2):
        kept = MATRIX.copy()
        kept.data = kept.data * mask[:, member].numpy()
        alone = project(torch.from_numpy(kept.toarray())[:, None], weights()[0][member, None])[0]
        torch.testing.assert_close(found[:, :, member], alone[:, :, 0])


def test_rows_repeat_for_the_copies_of_a_node():
    features = SparseFeatures(MATRIX, 2)
    repeated = features.repeat(3, 1, 1)
    assert repeated.shape == (21, 2, 5)
    found = project(repeated, *weights())[0]
    torch.testing.assert_close(found, project(dense().repeat(3, 1, 1), *weights())[0])
    with pytest.raises(ValueError, match="only rows"):
        features.repeat(1, 2, 1)


@pytest.mark.parametrize("dropped", [False, True])
@pytest.mark.parametrize("times", [1, 3])
def test_dense_columns_beside_the_sparse_ones(dropped: bool, times: int):
    random = torch.Generator().manual_seed(1)
    more = torch.randn(7, 2, generator=random)
    features = SparseFeatures(MATRIX[:, :3], 2, beside=more).repeat(times, 1, 1)
    assert features.shape == (7 * times, 2, 5)
    whole = torch.cat([torch.from_numpy(MATRIX[:, :3].toarray()), more], dim=1)
    whole = whole.repeat(times, 1)[:, None].expand(-1, 2, -1)
    if dropped:
        row, column = (torch.from_numpy(one.copy()).long() for one in MATRIX[:, :3].nonzero())
        rows = torch.cat([row + 7 * number for number in range(times)])
        columns = column.repeat(times)
        mask = (torch.rand(whole.shape, generator=random) < 0.5).double()
        features = features.times(mask[rows, :, columns], mask[:, :, 3:])
        whole = whole * mask
    found, expected = project(features, *weights()), project(whole, *weights())
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
    assert torch.autograd.gradcheck(lambda *some: project(features, *some), weights())


def test_nothing_but_zeros():
    features = SparseFeatures(sp.csr_array((3, 5)), 2)
    (found,) = project(features, weights()[0])
    assert found.shape == (3, 3, 2, 4)
    assert not found.any()
    found.sum().backward()
