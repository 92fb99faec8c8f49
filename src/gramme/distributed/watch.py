"""Notices that another process is gone, and says which one.

A process that dies closes its connections, and any process that waits for it notices at once. One that vanishes with
its machine, or stands still, does not: so each tells the meeting place every second that it lives, and is given up
after :data:`SILENCE_SECONDS` without a word. So is the meeting place itself.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import torch.distributed as dist
from torch._C._distributed_c10d import Store, TCPStore

from gramme.distributed.meeting import LOST_EXIT, LostWorkerError, of_this_attempt
from gramme.errors import GrammeError

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
    """Within this, the loss of another process ends this one with a message that names the lost one.

    Parameters
    ----------
    store : TCPStore
        Where the processes met.
    rank : int
    names : list of str
        Of all processes, by rank.
    """
    watch = _Watch(store, rank, names)
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

    def __init__(self, store: TCPStore, rank: int, names: list[str]) -> None:
        self.rank, self.size, self.names = rank, len(names), names
        self._address, self._port = store.host, store.port
        # of its own: a client does one thing at a time, and the main thread's may wait for long
        self._store = self._client(SILENCE_SECONDS)
        self._heard = [time.monotonic()] * self.size
        self._answered = time.monotonic()
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=each, daemon=True) for each in (self._talk, self._judge)
        ]

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
