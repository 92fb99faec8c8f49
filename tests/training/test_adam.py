"""Adam as torch has it, without what torch loads for it."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from gramme.training.adam import Adam


def test_steps_are_those_of_torch_to_the_bit() -> None:
    start = torch.randn(7, generator=torch.Generator().manual_seed(0))
    mine, other = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    later, later_other = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    own = Adam([mine, later], 0.05, 0.1)
    torchs = torch.optim.Adam([other, later_other], lr=0.05, weight_decay=0.1, fused=True)
    for step in range(6):
        for optimiser, first, second in ((own, mine, later), (torchs, other, later_other)):
            optimiser.zero_grad()
            loss = (first**4).sum() + ((second - 1) ** 2).sum() * (step > 2)
            (loss if step > 2 else (first**4).sum()).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    assert torch.equal(mine, other)
    assert torch.equal(later, later_other)
    assert not torch.equal(mine, start)


def test_without_gradients_nothing_moves() -> None:
    parameter = nn.Parameter(torch.ones(2))
    Adam([parameter], 0.1, 0.1).step()
    assert parameter.tolist() == [1, 1]


@pytest.mark.slow  # loads torch anew
def test_a_training_does_not_load_the_compiler() -> None:
    code = (
        "import sys, torch; from gramme.training.adam import Adam\n"
        "p = torch.nn.Parameter(torch.ones(2)); a = Adam([p], 0.1, 0.0)\n"
        "(p ** 2).sum().backward(); a.step()\n"
        "assert p[0] < 1 and 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
