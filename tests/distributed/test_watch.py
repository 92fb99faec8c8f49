"""A process that dies or stands still ends the others, with its name."""

import contextlib
import io
import os
import signal
import sys
import time

import pytest
from tests.processes import CONTEXT

from gramme.distributed import join, watch
from gramme.distributed.meeting import LOST_EXIT, LostWorkerError
from gramme.distributed.process_group import free_port

SILENCE_SECONDS = 3.0


class _Told(io.StringIO):
    """A stderr that passes on what is written to it at once."""

    def __init__(self, answer) -> None:
        super().__init__()
        self.answer = answer

    def write(self, text: str) -> int:
        self.answer.send(text)
        return len(text)


def _work(rank: int, port: int, answer) -> None:
    watch.SILENCE_SECONDS = SILENCE_SECONDS
    sys.stderr = _Told(answer)
    watch._cleanups.append(lambda: answer.send("cleaned up"))
    try:
        with join(rank=rank, size=2, port=port, watch=True) as world:
            answer.send("met")
            while True:  # until the other is lost
                world.total(1.0)
                time.sleep(0.05)
    except LostWorkerError as error:
        answer.send(str(error))


@pytest.mark.distributed
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_the_lost_one_is_named(rank, how):
    port = free_port()
    ends = [CONTEXT.Pipe(duplex=False) for _ in range(2)]
    both = [CONTEXT.Process(target=_work, args=(k, port, ends[k][1])) for k in range(2)]
    for process, (_, there) in zip(both, ends, strict=True):
        process.start()
        there.close()
    try:
        for here, _ in ends:
            assert here.poll(60)
            assert here.recv() == "met"
        os.kill(both[rank].pid, how)
        other = both[1 - rank]
        other.join(30)
        told = []
        with contextlib.suppress(EOFError):
            while True:
                told.append(ends[1 - rank][0].recv())
        said = "".join(told)
        assert f"worker {rank} (process {both[rank].pid} on" in said
        assert "is gone or stands still" in said
        if how == signal.SIGSTOP:
            assert other.exitcode == LOST_EXIT
            assert told[-1] == "cleaned up"
    finally:
        for process in both:
            process.kill()
