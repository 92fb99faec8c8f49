"""Processes that do not come, do not answer, or were asked for something else are named."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from tests.processes import CONTEXT
from torch._C._distributed_c10d import TCPStore

from gramme.distributed import join
from gramme.distributed.meeting import LOST_EXIT, DifferentTermsError, LostWorkerError, meet
from gramme.distributed.process_group import LOOPBACK, free_port


def test_who_has_not_come_is_named():
    message = "workers 1, 2 of 3 have not come within 0.3 seconds"
    with (
        pytest.raises(LostWorkerError, match=message),
        join(rank=0, size=3, port=free_port(), meeting=0.3),
    ):
        pass


def test_without_the_first_there_is_nobody_to_meet():
    port = free_port()
    message = f"nobody listens at 127.0.0.1:{port} .*worker 0 of 2 has not come within 0.3 seconds"
    with (
        pytest.raises(LostWorkerError, match=message),
        join(rank=1, size=2, port=port, meeting=0.3),
    ):
        pass


def test_a_place_that_is_taken_is_told():
    from gramme.errors import DataError

    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(DataError, match=f"cannot listen at 127.0.0.1:{port}"),
            join(rank=0, size=2, port=port),
        ):
            pass


def _join_late(port: int) -> None:
    with join(rank=1, size=2, port=port, meeting=0.3):
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
    message = (
        f"worker 0, which keeps the meeting place 127.0.0.1:{port}, ended before all 2 had met"
    )
    with pytest.raises(LostWorkerError, match=message), join(rank=1, size=2, port=port, meeting=30):
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
            return meet(store, rank, len(terms), 30, terms[rank])
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
        (
            {"--seed": 2, "--set": ["a=1"]},
            r"worker 2 \(process .*has --seed 2, and worker 0 .* has 1;",
        ),
        ({"--seed": 1}, r"worker 2 .* has --set nothing, and worker 0 .* has \['a=1'\]"),
    ],
)
def test_different_terms_are_named_to_all(other, message):
    import re

    same = {"--seed": 1, "--set": ["a=1"]}
    for told in _met(same, same, other):
        assert isinstance(told, str)
        assert re.search(message, told)
