"""A process ends soon after the one that started it, even if that had ended before it could look."""

import os
import time

from tests.processes import Process

from gramme._parent import end_with


def stay(parent: int) -> None:
    end_with(parent)
    time.sleep(600)


def test_a_process_whose_parent_is_gone_ends():
    assert Process(stay, os.getpid()).wait(60) == 1  # a server started it, not this process
