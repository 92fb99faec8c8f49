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
    own_note = {"name": f"process {os.getpid()} on {socket.gethostname()}", "terms": dict(terms)}
    store.set(f"meeting/{rank}", json.dumps(own_note))
    deadline = time.monotonic() + seconds
    missing_workers = list(range(size))
    while True:
        missing_workers = [other for other in missing_workers if not store.check([f"meeting/{other}"])]
        if not missing_workers:
            break
        if time.monotonic() > deadline:
            raise LostWorkerError(missing_ranks(missing_workers, size, seconds))
        time.sleep(LOOK_SECONDS)
    worker_notes = [json.loads(store.get(f"meeting/{other}")) for other in range(size)]
    worker_names = [str(note["name"]) for note in worker_notes]
    for other in range(1, size):
        first_terms, other_terms = worker_notes[0]["terms"], worker_notes[other]["terms"]
        for term_name in {**first_terms, **other_terms}:
            first_value, other_value = first_terms.get(term_name), other_terms.get(term_name)
            if first_value != other_value:
                raise DifferentTermsError(
                    f"worker {other} ({worker_names[other]}) has {term_name} "
                    f"{'nothing' if other_value is None else other_value}, and "
                    f"worker 0 ({worker_names[0]}) has "
                    f"{'nothing' if first_value is None else first_value}; start all workers with the same "
                    "options on the same parts"
                )
    return worker_names


def missing_ranks(missing: list[int], size: int, seconds: float) -> str:
    """Which processes have not come."""
    rank_numbers = ", ".join(str(rank) for rank in missing)
    who_misses = (
        f"workers {rank_numbers} of {size} have" if len(missing) > 1 else f"worker {rank_numbers} of {size} has"
    )
    return (
        f"{who_misses} not come within {seconds:g} seconds, so the work cannot begin; start "
        f"all {size} at about the same "
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
    worker_watch = _Watch(store, rank, names)
    worker_watch.start()
    try:
        yield
    except RuntimeError as error:
        connection_words = ("Connection", "gloo", "NCCL", "timed out", "Timed out", "socket")
        of_connection = isinstance(error, dist.DistError) or any(word in str(error) for word in connection_words)
        if isinstance(error, GrammeError) or not of_connection:
            raise
        raise LostWorkerError(worker_watch.who_is_gone()) from error
    finally:
        worker_watch.stop()


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
        beat_counts = [-1] * self.size
        own_beat = 0
        while not self._ended.wait(BEAT_SECONDS):
            own_beat += 1
            try:
                self._store.set(f"beat/{self.rank}", str(own_beat))
                for rank in range(self.size):
                    beat_key = f"beat/{rank}"
                    beat_count = int(self._store.get(beat_key)) if self._store.check([beat_key]) else 0
                    if beat_count != beat_counts[rank]:
                        beat_counts[rank], self._heard[rank] = beat_count, time.monotonic()
            except RuntimeError:
                # the meeting place is gone; the first process, or what started it, had it
                if not self._ended.is_set():
                    self._give_up([0])
                return
            self._answered = time.monotonic()

    def _judge(self) -> None:
        """Give up those that are silent; if the meeting place is, nothing is known of the others."""
        while not self._ended.wait(BEAT_SECONDS):
            current_time = time.monotonic()
            if current_time - self._answered > SILENCE_SECONDS:
                silent_ranks = [0]
            else:
                silent_ranks = [
                    rank
                    for rank, last_heard in enumerate(self._heard)
                    if rank != self.rank and current_time - last_heard > SILENCE_SECONDS
                ]
            if silent_ranks and not self._ended.is_set():
                self._give_up(silent_ranks)

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
            own_client = self._client(5)
            own_client.set(f"here/{self.rank}", "yes")
            deadline = time.monotonic() + 6
            missing_ranks_now = list(range(self.size))
            while missing_ranks_now and time.monotonic() < deadline:
                missing_ranks_now = [rank for rank in missing_ranks_now if not own_client.check([f"here/{rank}"])]
                time.sleep(0.2)
            if missing_ranks_now:
                return self._said(missing_ranks_now)
            return "the connection between the workers broke, and all of them ended"
        return self._said([0])

    def _said(self, ranks: list[int]) -> str:
        lost_workers = ", ".join(f"worker {rank} ({self.names[rank]})" for rank in ranks)
        return (
            f"{lost_workers} {'is' if len(ranks) == 1 else 'are'} gone or "
            f"{'stands' if len(ranks) == 1 else 'stand'} still, so "
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
    with socket.socket() as bound_socket:
        bound_socket.bind((LOOPBACK, 0))
        port: int = bound_socket.getsockname()[1]
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
    own_rank = _from_environment("RANK", rank)
    worker_count = _from_environment("WORLD_SIZE", size)
    if own_rank is None or worker_count is None or worker_count == 1:
        yield SINGLE_PROCESS
        return
    if not 0 <= own_rank < worker_count:
        raise DataError(f"process {own_rank} cannot be one of {worker_count}: they are numbered from 0")
    meeting_address = address or os.environ.get("MASTER_ADDR", LOOPBACK)
    meeting_port = _from_environment("MASTER_PORT", port)
    if meeting_port is None:
        raise DataError("processes that are to meet need a port: MASTER_PORT")
    if meeting_address in (LOOPBACK, "localhost"):
        # gloo would else take the address of the host's name, which others can reach
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    has_cards = torch.cuda.is_available() and dist.is_nccl_available()
    # numbers in main memory, such as counts, always travel by gloo
    backend = "cpu:gloo,cuda:nccl" if has_cards else "gloo"
    if has_cards:  # each process of a machine has a card of its own
        local_rank = _from_environment("LOCAL_RANK", None) or 0
        torch.cuda.set_device(local_rank % torch.cuda.device_count())
    with in_time(wait, meeting_address, meeting_port):
        try:
            meeting_store = _store(meeting_address, meeting_port, own_rank, worker_count, wait)
            attempt_store = of_this_attempt(meeting_store)
            worker_names = rendezvous(
                attempt_store, own_rank, worker_count, wait, {"the backend": backend, **(terms or {})}
            )
        except dist.DistError:
            raise LostWorkerError(
                f"worker 0, which keeps the meeting place {meeting_address}:{meeting_port}, "
                f"ended before all {worker_count} had met; its own "
                "message says why"
            ) from None
    with watched(meeting_store, own_rank, worker_names) if watch else nullcontext():
        attempt_store.set_timeout(timedelta(seconds=timeout))
        dist.init_process_group(
            backend, store=attempt_store, rank=own_rank, world_size=worker_count, timeout=timedelta(seconds=timeout)
        )
        try:
            yield Communicator(own_rank, worker_count)
        finally:
            dist.destroy_process_group()


def _store(address: str, port: int, rank: int, size: int, timeout: float) -> TCPStore:
    """Where processes meet. Under torchrun its agent listens already; else the first process does, on that address."""
    agent_listens = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    is_listener = rank == 0 and not agent_listens
    wait_time = timedelta(seconds=timeout)
    if not is_listener:
        _await_listener(address, port, size, timeout)
        return TCPStore(address, port, size, is_master=False, timeout=wait_time)
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
        address,
        port,
        size,
        is_master=True,
        timeout=wait_time,
        wait_for_workers=False,
        master_listen_fd=listener.detach(),
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
                reason_text = f"({error.strerror or error}): {missing_ranks([0], size, seconds)}"
                raise LostWorkerError(f"nobody listens at {address}:{port} {reason_text}") from None
        time.sleep(LOOK_SECONDS)


def _from_environment(name: str, given: int | None) -> int | None:
    if given is not None:
        return given
    variable_text = os.environ.get(name)
    if variable_text is None:
        return None
    if not variable_text.isdecimal():
        raise DataError(f"{name}={variable_text!r} in the environment is not a number")
    return int(variable_text)
