"""The command line in a process of its own, to be killed, that starts at once: a server has done its imports.

The server runs nothing of gramme's and only forks, so that each process is as good as a new one.
"""

import multiprocessing
import os

from gramme.cli import main

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["gramme.cli.fit_steps", "gramme.cli.benchmark_steps"])


def _main(words: list[str]) -> None:
    os.setsid()  # os.killpg(process.pid, ...) ends it with all its children
    main(words)


class Command:
    """`gramme WORDS`, started in a group of processes of its own; the methods are those of `subprocess.Popen`."""

    def __init__(self, *words: object) -> None:
        self._process = _CONTEXT.Process(target=_main, args=([str(word) for word in words],))
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
