"""Processes meet on loopback, and a wrong environment is refused."""

import contextlib
import io
import os
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from tests.distributed.processes import together
from tests.processes import CONTEXT
from torch._C._distributed_c10d import TCPStore

from gramme.distributed import SINGLE_PROCESS, Communicator, is_one_of_several, join
from gramme.distributed import launch as watch
from gramme.distributed.launch import LOOPBACK, LOST_EXIT, DifferentTermsError, LostWorkerError, free_port, rendezvous
from gramme.errors import DataError


def test_who_has_not_come_is_named():
    message = "workers 1, 2 of 3 have not come within 0.3 seconds"
    with pytest.raises(LostWorkerError, match=message), join(rank=0, size=3, port=free_port(), wait=0.3):
        pass


def test_without_the_first_there_is_nobody_to_meet():
    port = free_port()
    message = f"nobody listens at 127.0.0.1:{port} .*worker 0 of 2 has not come within 0.3 seconds"
    with pytest.raises(LostWorkerError, match=message), join(rank=1, size=2, port=port, wait=0.3):
        pass


def test_a_place_that_is_taken_is_told():
    from gramme.errors import DataError

    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(DataError, match=f"cannot listen at 127.0.0.1:{port}"), join(rank=0, size=2, port=port):
            pass


def _join_late(port: int) -> None:
    with join(rank=1, size=2, port=port, wait=0.3):
        pass


def test_a_meeting_place_that_never_answers_is_given_up():
    with socket.socket() as silent:
        silent.bind((LOOPBACK, 0))
        silent.listen()
        process = CONTEXT.Process(target=_join_late, args=(silent.getsockname()[1],))
        process.start()
        process.join(60)
        try:
            assert process.exitcode == LOST_EXIT
        finally:
            process.kill()


def test_a_meeting_place_that_closes_is_told():
    port = free_port()
    wait = timedelta(seconds=30)
    host = [TCPStore(LOOPBACK, port, is_master=True, timeout=wait, wait_for_workers=False)]
    closing = threading.Timer(0.5, host.clear)
    closing.start()
    message = f"worker 0, which keeps the meeting place 127.0.0.1:{port}, ended before all 2 had met"
    with pytest.raises(LostWorkerError, match=message), join(rank=1, size=2, port=port, wait=30):
        pass


def _met(*terms: dict[str, object]) -> list[object]:
    """What each of several threads with its terms gets from a meeting: names, or an error."""
    port = free_port()
    wait = timedelta(seconds=30)
    host = TCPStore(LOOPBACK, port, is_master=True, timeout=wait, wait_for_workers=False)
    ready = threading.Barrier(len(terms))

    def one(rank: int) -> object:
        store = TCPStore(LOOPBACK, port, is_master=False, timeout=wait)
        ready.wait()
        try:
            return rendezvous(store, rank, len(terms), 30, terms[rank])
        except DifferentTermsError as error:
            return str(error)

    with ThreadPoolExecutor(len(terms)) as threads:
        found = list(threads.map(one, range(len(terms))))
    del host
    return found


def test_all_learn_the_names_of_all():
    first, second = _met({"--seed": 1}, {"--seed": 1})
    assert first == second
    assert len(first) == 2
    assert "process" in first[0]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"--seed": 2, "--set": ["a=1"]}, r"worker 2 \(process .*has --seed 2, and worker 0 .* has 1;"),
        ({"--seed": 1}, r"worker 2 .* has --set nothing, and worker 0 .* has \['a=1'\]"),
    ],
)
def test_different_terms_are_named_to_all(other, message):
    import re

    same = {"--seed": 1, "--set": ["a=1"]}
    for told in _met(same, same, other):
        assert isinstance(told, str)
        assert re.search(message, told)


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
        with join(rank=rank, size=2, port=port, watch=True) as communicator:
            answer.send("met")
            while True:  # until the other is lost
                communicator.all_sum(1.0)
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


def listeners(communicator: Communicator) -> list[str]:
    """The addresses that this process listens on, from /proc."""
    own = set()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            own.add(str(link.readlink()))
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                found.append(fields[1].split(":")[0])
    return found


@pytest.mark.distributed
def test_nobody_listens_beyond_the_loopback():
    found = [address for one in together(2, listeners) for address in one]
    assert found
    assert set(found) == {"0100007F"}  # 127.0.0.1


def test_a_process_without_others_is_alone(monkeypatch):
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert not is_one_of_several()
    with join() as communicator:
        assert communicator is SINGLE_PROCESS


@pytest.mark.parametrize(
    ("options", "message"),
    [({"rank": 2, "size": 2, "port": 1}, "process 2 cannot be one of 2"), ({"rank": 0, "size": 2}, "MASTER_PORT")],
)
def test_what_cannot_meet_is_refused(options, message, monkeypatch):
    monkeypatch.delenv("MASTER_PORT", raising=False)
    with pytest.raises(DataError, match=message), join(**options):
        pass


def test_a_number_in_the_environment_must_be_one(monkeypatch):
    monkeypatch.setenv("RANK", "first")
    with pytest.raises(DataError, match="RANK='first'"), join():
        pass


def test_the_port_is_free():
    from gramme.distributed.launch import free_port

    with socket.socket() as one:
        one.bind(("127.0.0.1", free_port()))
