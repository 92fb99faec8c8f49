"""Notices that another process is gone, and says which one.

A process that dies closes its connections, and any process that waits for it notices at once. One that vanishes with
its machine, or stands still, does not: so each tells the meeting place every two seconds that it lives, and is given up
after :data:`SILENCE_SECONDS` without a word.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import torch.distributed as dist
from torch._C._distributed_c10d import TCPStore

from gramme.distributed.world import World
from gramme.errors import GrammeError

BEAT_SECONDS = 2.0
SILENCE_SECONDS = float(os.environ.get("GRAMME_SILENCE_SECONDS", "25"))
"""How long a process may be silent before the others end."""
LOST_EXIT = 3

_cleanups: list[Callable[[], None]] = []


class LostWorkerError(GrammeError):
    """Another process is gone, so the work cannot go on."""

    of_one_process = True


@contextlib.contextmanager
def cleaned_up(cleanup: Callable[[], None]) -> Iterator[None]:
    """Within this, ``cleanup`` is called if the process has to end at once because another one is gone."""
    _cleanups.append(cleanup)
    try:
        yield
    finally:
        _cleanups.remove(cleanup)


@contextlib.contextmanager
def watched(world: World) -> Iterator[None]:
    """Within this, the loss of another process ends this one with a message that names the lost one."""
    if world.alone:
        yield
        return
    watch = _Watch(world)
    watch.start()
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, GrammeError) or not _of_connection(error):
            raise
        raise LostWorkerError(watch.who_is_gone()) from error
    finally:
        watch.stop()


def _of_connection(error: RuntimeError) -> bool:
    text = str(error)
    return isinstance(error, dist.DistError) or any(
        word in text for word in ("Connection", "gloo", "NCCL", "timed out", "Timed out", "socket")
    )


class _Watch:
    """Tells the meeting place that this process lives, and looks who else does."""

    def __init__(self, world: World) -> None:
        self.world = world
        store: Any = dist.distributed_c10d._get_default_store()
        while not isinstance(store, TCPStore):
            store = store.underlying_store
        self._address, self._port = store.host, store.port
        self.store = self._client(30)
        self.store.set(f"who/{world.rank}", f"process {os.getpid()} on {socket.gethostname()}")
        world.wait()
        self.names = [self.store.get(f"who/{rank}").decode() for rank in range(world.size)]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _client(self, seconds: float) -> TCPStore:
        return TCPStore(
            self._address, self._port, is_master=False, timeout=timedelta(seconds=seconds)
        )

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(5)

    def _run(self) -> None:
        heard = [(-1, time.monotonic())] * self.world.size
        beat = 0
        while not self._ended.wait(BEAT_SECONDS):
            beat += 1
            try:
                self.store.set(f"beat/{self.world.rank}", str(beat))
                for rank in range(self.world.size):
                    key = f"beat/{rank}"
                    count = int(self.store.get(key)) if self.store.check([key]) else 0
                    if count != heard[rank][0]:
                        heard[rank] = (count, time.monotonic())
            except RuntimeError:
                # the meeting place is gone; the first process, or what started it, had it
                if not self._ended.is_set():
                    self._give_up([0])
                return
            silent = [
                rank
                for rank, (_, since) in enumerate(heard)
                if time.monotonic() - since > SILENCE_SECONDS and rank != self.world.rank
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
            asked.set(f"here/{self.world.rank}", "yes")
            deadline = time.monotonic() + 6
            missing = list(range(self.world.size))
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
            f"{lost} is gone, so that the others cannot go on; nothing half done is left, and --resume goes on from "
            "the last checkpoint"
        )
