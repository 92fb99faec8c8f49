import pytest
import torch

from gramme.training.threads import MIN_SHARED_NUMBERS, threads_for


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_only_large_work_is_shared() -> None:
    with threads_for(MIN_SHARED_NUMBERS - 1):
        assert torch.get_num_threads() == 1
    with threads_for(MIN_SHARED_NUMBERS):
        assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_an_error_restores_the_threads() -> None:
    with pytest.raises(RuntimeError), threads_for(1):
        raise RuntimeError
    assert torch.get_num_threads() == 2
