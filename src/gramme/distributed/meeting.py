"""Processes meet before they work: all must come within :data:`MEETING_SECONDS`, and all must have been asked the same.

Each leaves a note at the meeting place with its name and the terms of its work, and reads those of the others.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from torch._C._distributed_c10d import PrefixStore, Store

from gramme.errors import DataError, GrammeError

MEETING_SECONDS = float(os.environ.get("GRAMME_MEETING_SECONDS", "120"))
"""How long a process waits for the others before the work begins."""
LOST_EXIT = 3
"""The exit code of a process that ended because another one is gone."""
LOOK_SECONDS = 0.1
LATE_SECONDS = 2.0  # for an answer of the meeting place, after the others' time is over


class LostWorkerError(GrammeError):
    """Another process is gone, so the work cannot go on."""

    of_one_process = True


class DifferentTermsError(DataError):
    """Processes that should work together were asked for different things."""


def of_this_attempt(store: Store) -> Store:
    """The notes of this attempt: torchrun may start processes again, and keeps the store of those that ended."""
    return PrefixStore(f"gramme/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)


def meet(store: Store, rank: int, size: int, seconds: float, terms: Mapping[str, Any]) -> list[str]:
    """Wait for all processes; returns the name of each, like "process 4711 on host".

    Parameters
    ----------
    store : Store
    rank, size : int
    seconds : float
        After which those that have not come are named in a :class:`LostWorkerError`.
    terms : mapping of str to anything that JSON holds
        What all must agree on; the first that one of them has otherwise is named in a :class:`DifferentTermsError`.
    """
    mine = {"name": f"process {os.getpid()} on {socket.gethostname()}", "terms": dict(terms)}
    store.set(f"meeting/{rank}", json.dumps(mine))
    deadline = time.monotonic() + seconds
    missing = list(range(size))
    while True:
        missing = [other for other in missing if not store.check([f"meeting/{other}"])]
        if not missing:
            break
        if time.monotonic() > deadline:
            raise LostWorkerError(not_come(missing, size, seconds))
        time.sleep(LOOK_SECONDS)
    notes = [json.loads(store.get(f"meeting/{other}")) for other in range(size)]
    names = [str(note["name"]) for note in notes]
    for other in range(1, size):
        _compare(names, notes[0]["terms"], other, notes[other]["terms"])
    return names


def not_come(missing: list[int], size: int, seconds: float) -> str:
    """Who has not come to the meeting."""
    numbers = ", ".join(str(rank) for rank in missing)
    who = (
        f"workers {numbers} of {size} have"
        if len(missing) > 1
        else f"worker {numbers} of {size} has"
    )
    return (
        f"{who} not come within {seconds:g} seconds, so the work cannot begin; start all {size} at about the same "
        "time, or wait longer with GRAMME_MEETING_SECONDS"
    )


def _compare(
    names: list[str], first: Mapping[str, Any], rank: int, other: Mapping[str, Any]
) -> None:
    for what in {**first, **other}:
        if first.get(what) != other.get(what):
            raise DifferentTermsError(
                f"worker {rank} ({names[rank]}) has {what} {_shown(other.get(what))}, and worker 0 ({names[0]}) has "
                f"{_shown(first.get(what))}; start all workers with the same options on the same parts"
            )


def _shown(value: Any) -> str:
    return "nothing" if value is None else str(value)


@contextlib.contextmanager
def in_time(seconds: float, address: str, port: int) -> Iterator[None]:
    """Within this, a meeting place that accepts a connection but does not answer ends the process with a message."""

    def give_up() -> None:
        sys.stderr.write(
            f"Error: worker 0, which keeps the meeting place {address}:{port}, does not answer within {seconds:g} "
            "seconds, so the work cannot begin\n"
        )
        sys.stderr.flush()
        os._exit(LOST_EXIT)

    timer = threading.Timer(seconds + LATE_SECONDS, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
