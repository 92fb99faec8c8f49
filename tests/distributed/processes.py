"""Real processes for the tests of this room: a function runs in each of them, with its communicator.

They are forked from a server that has torch loaded already, so that a group of four starts in a fraction of a second.
"""

from __future__ import annotations

import multiprocessing.connection
import traceback
from collections.abc import Callable
from typing import Any

from tests.processes import CONTEXT

from gramme.distributed.launch import free_port, join

SECONDS = 300


def together(size: int, function: Callable[..., Any], *args: Any) -> list[Any]:
    """What ``function(communicator, *args)`` returns in each of ``size`` processes."""
    port = free_port()
    ends = [CONTEXT.Pipe(duplex=False) for _ in range(size)]
    workers = [
        CONTEXT.Process(target=_work, args=(rank, size, port, there, function, args))
        for rank, (_, there) in enumerate(ends)
    ]
    for worker, (_, there) in zip(workers, ends, strict=True):
        worker.start()
        there.close()
    found: dict[int, Any] = {}
    waiting = {here: rank for rank, (here, _) in enumerate(ends)}
    try:
        while waiting:
            ready = multiprocessing.connection.wait(waiting, SECONDS)
            assert ready, f"processes {sorted(waiting.values())} of {size} say nothing"
            for here in ready:
                rank = waiting.pop(here)
                kind, value = here.recv()
                assert kind == "result", f"process {rank} of {size}:\n{value}"
                found[rank] = value
        for worker in workers:
            worker.join(20)
    finally:
        for worker in workers:
            worker.kill()
    return [found[rank] for rank in range(size)]


def _work(rank: int, size: int, port: int, answer: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    import torch

    torch.set_num_threads(1)
    try:
        with join(rank=rank, size=size, port=port, timeout=SECONDS) as communicator:
            answer.send(("result", function(communicator, *args)))
    except BaseException:
        answer.send(("error", traceback.format_exc()))
