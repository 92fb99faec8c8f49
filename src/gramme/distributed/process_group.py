"""Joining the processes that work on one graph: torch.distributed, with gloo on CPUs and NCCL on GPUs.

``torchrun`` sets the addresses in the environment; :func:`join` uses them. The rendezvous listens on loopback unless an
address is given. What travels are tensors; nothing is ever unpickled.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import TCPStore

from gramme.distributed.meeting import (
    LOOK_SECONDS,
    MEETING_SECONDS,
    LostWorkerError,
    in_time,
    meet,
    not_come,
    of_this_attempt,
)
from gramme.distributed.watch import watched
from gramme.distributed.world import ALONE, World
from gramme.errors import DataError

LOOPBACK = "127.0.0.1"
TIMEOUT_SECONDS = 1800.0
"""How long a process waits for the others once all have met; one that dies is noticed at once."""


def in_world() -> bool:
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
    wire: str | None = None,
    terms: Mapping[str, Any] | None = None,
    watch: bool = False,
    meeting: float = MEETING_SECONDS,
    timeout: float = TIMEOUT_SECONDS,
) -> Iterator[World]:
    """Join the processes that work on one graph, and leave them at the end.

    Without arguments everything is taken from the environment that torchrun sets (``RANK``, ``WORLD_SIZE``,
    ``MASTER_ADDR``, ``MASTER_PORT``); a process without it is alone.

    Parameters
    ----------
    rank, size : int, optional
    address : str, optional
        Where the first process listens; the loopback if not given.
    port : int, optional
    wire : {"bfloat16"}, optional
        What rows of float32 travel as; as they are if not given.
    terms : mapping, optional
        What all must agree on, as JSON can hold it: an error names the first thing that one has otherwise.
    watch : bool, default=False
        Whether to end this process, with a message, when another one dies or stands still.
    meeting : float, default=120
        Seconds after which a process gives up waiting for those that have not come.
    timeout : float, default=1800
        The same once all have met, for one that lives and does not go on.
    """
    here = _from_environment("RANK", rank)
    count = _from_environment("WORLD_SIZE", size)
    if here is None or count is None or count == 1:
        yield ALONE
        return
    if not 0 <= here < count:
        raise DataError(f"process {here} cannot be one of {count}: they are numbered from 0")
    if wire not in (None, "bfloat16"):
        raise DataError(f"rows travel as they are or as bfloat16, not as {wire!r}")
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
    with in_time(meeting, where, at):
        try:
            place = _store(where, at, here, count, meeting)
            store = of_this_attempt(place)
            names = meet(store, here, count, meeting, {"the backend": backend, **(terms or {})})
        except dist.DistError:
            raise LostWorkerError(
                f"worker 0, which keeps the meeting place {where}:{at}, ended before all {count} had met; its own "
                "message says why"
            ) from None
    with watched(place, here, names) if watch else nullcontext():
        store.set_timeout(timedelta(seconds=timeout))
        dist.init_process_group(
            backend, store=store, rank=here, world_size=count, timeout=timedelta(seconds=timeout)
        )
        try:
            yield World(here, count, wire=torch.bfloat16 if wire else None)
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
        address,
        port,
        size,
        is_master=True,
        timeout=wait,
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
                raise LostWorkerError(
                    f"nobody listens at {address}:{port} ({error.strerror or error}): {not_come([0], size, seconds)}"
                ) from None
        time.sleep(LOOK_SECONDS)


def _from_environment(name: str, given: int | None) -> int | None:
    if given is not None:
        return given
    text = os.environ.get(name)
    if text is None:
        return None
    if not text.isdigit():
        raise DataError(f"{name}={text!r} in the environment is not a number")
    return int(text)
