import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from gramme.evaluation.run import measured


def test_one_thread_inside_and_as_before_outside():
    before = torch.get_num_threads()
    with measured():
        assert torch.get_num_threads() == 1
        assert all(pool["num_threads"] == 1 for pool in threadpool_info())
    assert torch.get_num_threads() == before


def test_a_failed_body_has_its_cost():
    costs = []

    def fail():
        with measured() as cost:
            costs.append(cost)
            np.ones(30 << 20)  # 240 MiB
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    (cost,) = costs
    assert cost.cpu_seconds > 0
    assert cost.wall_seconds > 0
    assert cost.peak_memory > 240 << 20
