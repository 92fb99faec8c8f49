"""How many threads a training may use: small tensors are faster on one.

Sharing a tensor of a few thousand numbers between threads costs more than computing it, and much more when the machine
has other work: the threads wait for each other after every operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

MIN_SHARED_NUMBERS = 1 << 21
"""Numbers in an activation from which several threads pay off."""


@contextmanager
def threads_for(numbers: int) -> Iterator[None]:
    """Run the body on one thread where its tensors hold fewer than :data:`MIN_SHARED_NUMBERS` numbers.

    >>> before = torch.get_num_threads()
    >>> with threads_for(1000):
    ...     torch.get_num_threads()
    1
    >>> torch.get_num_threads() == before
    True
    """
    before = torch.get_num_threads()
    if numbers >= MIN_SHARED_NUMBERS or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
