"""Sums of bags: precise, whatever their size and however they are moved."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from gramme.ops import Bags
from gramme.ops import bags as bags_module


@pytest.mark.parametrize("weighted", [False, True])
def test_a_large_group_is_summed_precisely(weighted: bool) -> None:
    members = 1_000_000
    random = np.random.default_rng(0)
    weights = random.random(members) + 0.5 if weighted else np.ones(members)
    matrix = sp.csr_array((weights, np.arange(members), [0, members]), shape=(1, members))
    values = torch.from_numpy(random.random((members, 2)).astype(np.float32))
    exact = torch.from_numpy(weights) @ values.double()
    found = Bags(matrix)(values)[0].double()
    assert ((found - exact).abs() / exact).max() < 2e-6


@given(st.lists(st.integers(0, 12), max_size=6), st.integers(2, 5))
def test_chunks_make_no_difference(sizes: list[int], chunk: int) -> None:
    random = np.random.default_rng(0)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    members = random.integers(0, 5, indptr[-1])
    matrix = sp.csr_array((random.random(indptr[-1]), members, indptr), shape=(len(sizes), 5))
    values = random.random((5, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bags_module, "CHUNK", chunk)
        chunked = Bags(matrix)
    np.testing.assert_allclose(chunked(torch.from_numpy(values)).numpy(), matrix @ values)


def test_weights_keep_their_precision_after_use_in_single_precision() -> None:
    bags = Bags(sp.csr_array([[0.1, 0.0], [0.0, 1.0]]))
    assert bags(torch.ones(2, 1)).dtype == torch.float32
    assert bags(torch.ones(2, 1, dtype=torch.float64))[0, 0] == 0.1


def test_no_members() -> None:
    assert Bags(sp.csr_array((3, 2)))(torch.ones(2, 4)).tolist() == [[0.0] * 4] * 3


def test_tensors_move_with_the_module_and_are_not_saved() -> None:
    bags = Bags(sp.csr_array([[0.5, 2.0]]))
    assert bags.state_dict() == {}
    bags(torch.ones(2, 1))  # makes the weights in single precision
    moved = bags.to("meta")
    assert {tensor.device.type for tensor in moved.buffers()} == {"meta"}


@pytest.mark.parametrize("columns", [1, 3])
def test_doubles_without_weights_are_summed_as_torch_does(columns: int) -> None:
    random = np.random.default_rng(0)
    matrix = sp.csr_array(sp.random_array((7, 5), density=0.5, random_state=random, format="csr"))
    matrix.data[:] = 1.0
    bags = Bags(matrix)
    values = torch.from_numpy(random.random((5, columns)))
    through_torch = bags(values.clone().requires_grad_())
    assert through_torch.requires_grad
    assert torch.equal(bags(values), through_torch.detach())
    assert torch.equal(bags(values.T.contiguous().T), through_torch.detach())
