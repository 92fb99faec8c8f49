"""Processes of the tests' own, to be killed or to meet each other, that start at once: a server has done the imports.

The server runs no command and only forks, so that each process is as good as a new one.
"""

import multiprocessing
import multiprocessing.process
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gramme.cli import main

# Python has one such server for all tests of a process, whoever asks for it first: it must know what all of them need.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.preloaded"])


def _lead_a_group(function: Callable[..., object], *arguments: Any) -> None:
    os.setsid()  # os.killpg(process.pid, ...) ends it with all its children
    function(*arguments)


class Process:
    """A function of a module, in a group of processes of its own; the methods are those of `subprocess.Popen`."""

    def __init__(self, function: Callable[..., object], *arguments: Any) -> None:
        self._begin(CONTEXT.Process(target=_lead_a_group, args=(function, *arguments)))

    def _begin(self, process: multiprocessing.process.BaseProcess) -> None:
        self._process = process
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, the signal below 0 if it was killed, or None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float = 600) -> int:
        """Its exit code. A process that makes sure that its files are on a busy disk may take minutes."""
        self._process.join(timeout)
        assert self.returncode is not None, "it still runs"
        return self.returncode

    def kill(self) -> None:
        self._process.kill()


class Copy(Process):
    """A function in a copy of this very process, which must have no threads yet; it ends with this one."""

    def __init__(self, function: Callable[..., object], *arguments: Any) -> None:
        context = multiprocessing.get_context("fork")
        self._begin(context.Process(target=function, args=arguments, daemon=True))


def _write(function: Callable[[], str], path: Path) -> None:
    path.write_text(f"{hash('gramme')}\n{function()}")


def in_another_process(function: Callable[[], str], folder: Path) -> str:
    """What a function returns in a process whose hashes of texts are others than here."""
    path = folder / "found"
    assert Process(_write, function, path).wait() == 0
    hashed, _, found = path.read_text().partition("\n")
    assert "PYTHONHASHSEED" in os.environ or int(hashed) != hash("gramme")
    return found


def is_alive(process: int) -> bool:
    """Whether a process has not ended, by its number; one whose parent has yet to notice its end has."""
    try:
        state = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


class Command(Process):
    """`gramme WORDS`."""

    def __init__(self, *words: object) -> None:
        super().__init__(main, [str(word) for word in words])


def with_its_output_in(
    folder: Path,
    words: list[str],
    place: Path | None,
    environment: dict[str, str],
    prepared: Callable[[], object] | None = None,
) -> None:
    """`gramme WORDS` in this process, whose output and that of its children goes to files `1` and `2` of a folder."""
    os.environ.update(environment)
    if place is not None:
        os.chdir(place)
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        stream.reconfigure(encoding=environment.get("PYTHONIOENCODING"))
        with (folder / str(number)).open("wb") as file:
            os.dup2(file.fileno(), number)  # of the processes that it starts as well
    if prepared is not None:
        prepared()
    main(words)


class HeardCommand(Process):
    """`gramme WORDS`, whose output and that of its children can be read once it has ended.

    It is kept in an empty `folder`; the command itself runs in `place`. `prepared` is called before it.
    """

    def __init__(
        self,
        folder: Path,
        *words: object,
        place: Path | None = None,
        prepared: Callable[[], object] | None = None,
        **environment: str,
    ) -> None:
        self._folder = folder
        given = [str(word) for word in words]
        super().__init__(with_its_output_in, folder, given, place, environment, prepared)

    def done(self, timeout: float = 600) -> tuple[int, str, str]:
        """Its exit code, its output and its messages."""
        code = self.wait(timeout)
        out, err = ((self._folder / name).read_text() for name in ("1", "2"))
        return code, out, err
