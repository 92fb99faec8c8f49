"""Processes of the tests' own, to be killed or to meet each other, that start at once: a server has done the imports.

The server runs nothing of gramme's and only forks, so that each process is as good as a new one.
"""

import multiprocessing
import os
from collections.abc import Callable
from typing import Any

from gramme.cli import main

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["gramme.cli.fit_steps", "gramme.cli.benchmark_steps", "gramme.cli.links_steps", "networkx"]
)


def _lead_a_group(function: Callable[..., object], *arguments: Any) -> None:
    os.setsid()  # os.killpg(process.pid, ...) ends it with all its children
    function(*arguments)


class Process:
    """A function of a module, in a group of processes of its own; the methods are those of `subprocess.Popen`."""

    def __init__(self, function: Callable[..., object], *arguments: Any) -> None:
        self._process = _CONTEXT.Process(target=_lead_a_group, args=(function, *arguments))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, the signal below 0 if it was killed, or None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float = 120) -> int:
        self._process.join(timeout)
        assert self.returncode is not None, "it still runs"
        return self.returncode

    def kill(self) -> None:
        self._process.kill()


class Command(Process):
    """`gramme WORDS`."""

    def __init__(self, *words: object) -> None:
        super().__init__(main, [str(word) for word in words])
