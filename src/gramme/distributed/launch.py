"""Joining the processes that work on one graph: torch.distributed, with gloo on CPUs and NCCL on GPUs.

``torchrun`` sets the addresses in the environment; :func:`join` uses them. The rendezvous listens on loopback unless an
address is given. What travels are tensors; nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import PrefixStore, Store, TCPStore

from gramme.errors import DataError, GrammeError
from gramme.ops.communicator import SINGLE_PROCESS, Communicator

# Processes meet before they work: all must come within :data:`RENDEZVOUS_SECONDS`, and all must have
# been asked the same.


RENDEZVOUS_SECONDS = float(os.environ.get("GRAMME_RENDEZVOUS_SECONDS", "120"))
"""How long a process waits for the others before the work begins."""
LOST_EXIT = 3
"""The exit code of a process that ended because another one is gone."""
LOOK_SECONDS = 0.1


class LostWorkerError(GrammeError):
    """Another process is gone, so the work cannot go on."""

    of_one_process = True


class DifferentTermsError(DataError):
    """Processes that should work together were asked for different things."""


def of_this_attempt(store: Store) -> Store:
    """The notes of this attempt: torchrun may start processes again, and keeps the store of those that ended."""
    return PrefixStore(f"gramme/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)


def rendezvous(store: Store, rank: int, size: int, seconds: float, terms: Mapping[str, Any]) -> list[str]:
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
            raise LostWorkerError(missing_ranks(missing, size, seconds))
        time.sleep(LOOK_SECONDS)
    notes = [json.loads(store.get(f"meeting/{other}")) for other in range(size)]
    names = [str(note["name"]) for note in notes]
    for other in range(1, size):
        first, others = notes[0]["terms"], notes[other]["terms"]
        for what in {**first, **others}:
            one, another = first.get(what), others.get(what)
            if one != another:
                raise DifferentTermsError(
                    f"worker {other} ({names[other]}) has {what} {'nothing' if another is None else another}, and "
                    f"worker 0 ({names[0]}) has {'nothing' if one is None else one}; start all workers with the same "
                    "options on the same parts"
                )
    return names


def missing_ranks(missing: list[int], size: int, seconds: float) -> str:
    """Which processes have not come."""
    numbers = ", ".join(str(rank) for rank in missing)
    who = f"workers {numbers} of {size} have" if len(missing) > 1 else f"worker {numbers} of {size} has"
    return (
        f"{who} not come within {seconds:g} seconds, so the work cannot begin; start all {size} at about the same "
        "time, or wait longer with GRAMME_RENDEZVOUS_SECONDS"
    )


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

    timer = threading.Timer(seconds + 2, give_up)  # 2 s for an answer after the others' time is over
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


# Notices that another process is gone, and says which one.


BEAT_SECONDS = 1.0
SILENCE_SECONDS = float(os.environ.get("GRAMME_SILENCE_SECONDS", "22"))
"""How long a process may be silent before the others end."""

_cleanups: list[Callable[[], None]] = []


@contextlib.contextmanager
def cleaned_up(cleanup: Callable[[], None]) -> Iterator[None]:
    """Within this, ``cleanup`` is called if the process has to end at once because another one is gone."""
    _cleanups.append(cleanup)
    try:
        yield
    finally:
        _cleanups.remove(cleanup)


@contextlib.contextmanager
def watched(store: TCPStore, rank: int, names: list[str]) -> Iterator[None]:
    """Within this, the loss of another process ends this one with a message that names the lost one."""
    watch = _Watch(store, rank, names)
    watch.start()
    try:
        yield
    except RuntimeError as error:
        words = ("Connection", "gloo", "NCCL", "timed out", "Timed out", "socket")
        of_connection = isinstance(error, dist.DistError) or any(word in str(error) for word in words)
        if isinstance(error, GrammeError) or not of_connection:
            raise
        raise LostWorkerError(watch.who_is_gone()) from error
    finally:
        watch.stop()


class _Watch:
    """Tells the meeting place that this process lives, and looks who else does."""

    def __init__(self, store: TCPStore, rank: int, names: list[str]) -> None:
        self.rank, self.size, self.names = rank, len(names), names
        self._address, self._port = store.host, store.port
        # of its own: a client does one thing at a time, and the main thread's may wait for long
        self._store = self._client(SILENCE_SECONDS)
        self._heard = [time.monotonic()] * self.size
        self._answered = time.monotonic()
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._talk, self._judge)]

    def _client(self, seconds: float) -> Store:
        wait = timedelta(seconds=seconds)
        return of_this_attempt(TCPStore(self._address, self._port, is_master=False, timeout=wait))

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(2 * BEAT_SECONDS)

    def _talk(self) -> None:
        """Beat, and listen for the beats of others; hangs where the meeting place stands still."""
        counts = [-1] * self.size
        beat = 0
        while not self._ended.wait(BEAT_SECONDS):
            beat += 1
            try:
                self._store.set(f"beat/{self.rank}", str(beat))
                for rank in range(self.size):
                    key = f"beat/{rank}"
                    count = int(self._store.get(key)) if self._store.check([key]) else 0
                    if count != counts[rank]:
                        counts[rank], self._heard[rank] = count, time.monotonic()
            except RuntimeError:
                # the meeting place is gone; the first process, or what started it, had it
                if not self._ended.is_set():
                    self._give_up([0])
                return
            self._answered = time.monotonic()

    def _judge(self) -> None:
        """Give up those that are silent; if the meeting place is, nothing is known of the others."""
        while not self._ended.wait(BEAT_SECONDS):
            now = time.monotonic()
            if now - self._answered > SILENCE_SECONDS:
                silent = [0]
            else:
                silent = [
                    rank
                    for rank, since in enumerate(self._heard)
                    if rank != self.rank and now - since > SILENCE_SECONDS
                ]
            if silent and not self._ended.is_set():
                self._give_up(silent)

    def _give_up(self, ranks: list[int]) -> None:
        sys.stderr.write(f"Error: {self._said(ranks)}\n")
        sys.stderr.flush()
        for cleanup in reversed(_cleanups):
            with contextlib.suppress(Exception):
                cleanup()
        os._exit(LOST_EXIT)

    def who_is_gone(self) -> str:
        """Ask all to answer once more, and name those that do not."""
        with contextlib.suppress(RuntimeError):
            asked = self._client(5)
            asked.set(f"here/{self.rank}", "yes")
            deadline = time.monotonic() + 6
            missing = list(range(self.size))
            while missing and time.monotonic() < deadline:
                missing = [rank for rank in missing if not asked.check([f"here/{rank}"])]
                time.sleep(0.2)
            if missing:
                return self._said(missing)
            return "the connection between the workers broke, and all of them ended"
        return self._said([0])

    def _said(self, ranks: list[int]) -> str:
        lost = ", ".join(f"worker {rank} ({self.names[rank]})" for rank in ranks)
        return (
            f"{lost} {'is' if len(ranks) == 1 else 'are'} gone or {'stands' if len(ranks) == 1 else 'stand'} still, so "
            "the others cannot go on; nothing half done is left, and --resume goes on from the last checkpoint"
        )


LOOPBACK = "127.0.0.1"
TIMEOUT_SECONDS = 1800.0
"""How long a process waits for the others once all have met; one that dies is noticed at once."""


def is_one_of_several() -> bool:
    """Whether this process was started as one of several, as torchrun does."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as one:
        one.bind((LOOPBACK, 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def join(
    *,
    rank: int | None = None,
    size: int | None = None,
    address: str | None = None,
    port: int | None = None,
    terms: Mapping[str, Any] | None = None,
    watch: bool = False,
    wait: float = RENDEZVOUS_SECONDS,
    timeout: float = TIMEOUT_SECONDS,
) -> Iterator[Communicator]:
    """Join the processes that work on one graph, and leave them at the end.

    Without arguments everything is taken from the environment that torchrun sets (``RANK``, ``WORLD_SIZE``,
    ``MASTER_ADDR``, ``MASTER_PORT``); a process without it is alone.

    Parameters
    ----------
    rank, size : int, optional
    address : str, optional
        Where the first process listens; the loopback if not given.
    port : int, optional
    terms : mapping, optional
        What all must agree on, as JSON can hold it: an error names the first thing that one has otherwise.
    watch : bool, default=False
        Whether to end this process, with a message, when another one dies or stands still.
    wait : float, default=120
        Seconds after which a process gives up waiting for those that have not come.
    timeout : float, default=1800
        The same once all have met, for one that lives and does not go on.
    """
    here = _from_environment("RANK", rank)
    count = _from_environment("WORLD_SIZE", size)
    if here is None or count is None or count == 1:
        yield SINGLE_PROCESS
        return
    if not 0 <= here < count:
        raise DataError(f"process {here} cannot be one of {count}: they are numbered from 0")
    where = address or os.environ.get("MASTER_ADDR", LOOPBACK)
    at = _from_environment("MASTER_PORT", port)
    if at is None:
        raise DataError("processes that are to meet need a port: MASTER_PORT")
    if where in (LOOPBACK, "localhost"):
        # gloo would else take the address of the host's name, which others can reach
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    cards = torch.cuda.is_available() and dist.is_nccl_available()
    # numbers in main memory, such as counts, always travel by gloo
    backend = "cpu:gloo,cuda:nccl" if cards else "gloo"
    if cards:  # each process of a machine has a card of its own
        local = _from_environment("LOCAL_RANK", None) or 0
        torch.cuda.set_device(local % torch.cuda.device_count())
    with in_time(wait, where, at):
        try:
            place = _store(where, at, here, count, wait)
            store = of_this_attempt(place)
            names = rendezvous(store, here, count, wait, {"the backend": backend, **(terms or {})})
        except dist.DistError:
            raise LostWorkerError(
                f"worker 0, which keeps the meeting place {where}:{at}, ended before all {count} had met; its own "
                "message says why"
            ) from None
    with watched(place, here, names) if watch else nullcontext():
        store.set_timeout(timedelta(seconds=timeout))
        dist.init_process_group(backend, store=store, rank=here, world_size=count, timeout=timedelta(seconds=timeout))
        try:
            yield Communicator(here, count)
        finally:
            dist.destroy_process_group()


def _store(address: str, port: int, rank: int, size: int, timeout: float) -> TCPStore:
    """Where processes meet. Under torchrun its agent listens already; else the first process does, on that address."""
    agent = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    first = rank == 0 and not agent
    wait = timedelta(seconds=timeout)
    if not first:
        _await_listener(address, port, size, timeout)
        return TCPStore(address, port, size, is_master=False, timeout=wait)
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
    except OSError as error:
        raise DataError(
            f"worker 0 cannot listen at {address}:{port}: {error.strerror}; give an address of its machine and a port "
            "that is free"
        ) from None
    listener.listen()
    return TCPStore(
        address, port, size, is_master=True, timeout=wait, wait_for_workers=False, master_listen_fd=listener.detach()
    )


def _await_listener(address: str, port: int, size: int, seconds: float) -> None:
    """Wait until somebody listens there; torch would wait too, and tell the user about it in stack traces."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection((address, port), timeout=seconds).close()
            return
        except OSError as error:
            if time.monotonic() > deadline:
                why = f"({error.strerror or error}): {missing_ranks([0], size, seconds)}"
                raise LostWorkerError(f"nobody listens at {address}:{port} {why}") from None
        time.sleep(LOOK_SECONDS)


def _from_environment(name: str, given: int | None) -> int | None:
    if given is not None:
        return given
    text = os.environ.get(name)
    if text is None:
        return None
    if not text.isdecimal():
        raise DataError(f"{name}={text!r} in the environment is not a number")
    return int(text)
