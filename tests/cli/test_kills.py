"""Commands killed at random moments: nothing is lost, doubled or left behind.

Each command is killed again and again in the same place, with SIGKILL, and then run to its end. What stands there must
be whole after every kill, and all of it in the end. Every second kill comes at a moment by the clock, the others just
before a step that changes a folder (a file or folder made, renamed, linked or removed), however fast the machine is.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from tests.processes import Process
from tests.sizes import sample

from gramme.cli import main
from gramme.evaluation import Ledger
from gramme.io import read, write

USUAL, MANY = 6, 100
NEVER = -1
SECONDS_OF_A_NEW_ONE = 6.0


CHANGES = {"os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir", "os.symlink", "os.chmod"}
CHANGES |= {"shutil.rmtree", "tempfile.mkstemp", "tempfile.mkdtemp", "sqlite3.connect"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
LIBC = {"renameat2"}  # what is called through ctypes


def in_folder(folder: Path, words: list[str], last: int | None = None) -> None:
    """`gramme WORDS` in a folder, with a place for temporary files of its own.

    Killed before the step number ``last`` that changes a folder; without it, the number of such steps goes to a file.
    """
    os.chdir(folder)
    tempfile.tempdir = str(folder / "tmp")
    process, steps = os.getpid(), 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal steps
        if os.getpid() != process:
            return
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES
        called = event == "ctypes.dlsym" and arguments[1] in LIBC
        if event in CHANGES or writes or called:
            if steps == last:
                os.kill(process, signal.SIGKILL)
            steps += 1

    sys.addaudithook(hook)
    try:
        main(words)
    finally:
        if last is None:
            Path("tmp/steps").write_text(str(steps))


class Killed(ABC):
    """A command, and what must be true of what it leaves."""

    seconds: float
    """Kills by the clock come within so many seconds of the start, or within thrice that in the slow run."""
    nodes = 30

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tmp").mkdir()
        random_ends = random.Random(1)
        rows = [
            f"{layer},n{random_ends.randrange(self.nodes)},n{random_ends.randrange(self.nodes)}"
            for layer in ("talk", "mail")
            for _ in range(self.nodes * 8 // 3)
        ]
        (folder / "edges.csv").write_text("\n".join(["layer,source,target", *rows]) + "\n")
        labels = [f"n{place},{'ab'[place % 4 > 1]}" for place in range(0, self.nodes, 2)]
        (folder / "labels.csv").write_text("\n".join(["node,label", *labels]) + "\n")
        self.given = self.names()

    @abstractmethod
    def words(self, turn: int) -> list[str]:
        """The command, of which each turn asks for something else where it can."""

    @abstractmethod
    def look(self, turn: int) -> None:
        """Fails unless what is there is whole."""

    @abstractmethod
    def look_at_end(self, turns: int) -> None:
        """Fails unless all is there after the last turn, once, and nothing else."""

    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}

    def steps_of_a_second_run(self) -> int:
        """How many steps change a folder in a run that finds what an earlier one has written.

        The first run does not count: in a new checkout it also writes what Python and numba compile, and a benchmark
        has more to do in it than in any later turn. A step beyond the last one would kill nobody.
        """
        for turn in range(2):
            assert self.start(turn).wait() == 0
        steps = int((self.folder / "tmp" / "steps").read_text())
        self.begin_anew()
        return steps

    def begin_anew(self) -> None:
        """Remove what the runs wrote."""
        for name in self.names() - self.given:
            path = self.folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        (self.folder / "tmp" / "steps").unlink()

    def start(self, turn: int, last: int | None = None) -> Process:
        return Process(in_folder, self.folder, self.words(turn), last)

    def start_new(self, turn: int) -> subprocess.Popen[bytes]:
        """As from a shell: a process that imports all by itself."""
        command = [sys.executable, "-m", "gramme", *self.words(turn)]
        environment = os.environ | {"TMPDIR": str(self.folder / "tmp")}
        return subprocess.Popen(command, cwd=self.folder, env=environment)


class Fit(Killed):
    seconds = 0.4
    option = ("--labels", "labels.csv", "--label", "label", "--method", "majority")

    def words(self, turn: int) -> list[str]:
        words = [type(self).__name__.lower(), "edges.csv", *self.option, "--out", "out"]
        return [*words, "--overwrite", "--quiet", "--seed", str(turn)]

    def look(self, turn: int) -> None:
        out = self.folder / "out"
        if out.exists():  # the first may have been killed before it was done
            held = {path.name for path in out.iterdir()}
            assert held == self.files(), "half a result"
            assert "</html>" in (out / "report.html").read_text()[-200:]

    def files(self) -> set[str]:
        return {"config.json", "model.safetensors", "predictions.csv", "report.html"}

    def look_at_end(self, turns: int) -> None:
        assert self.names() - self.given == {"out"}
        assert not [path.name for path in (self.folder / "tmp").iterdir() if path.name != "steps"]


class Links(Fit):
    option = ("--top", "5")
    nodes = 7  # so few that attention, which takes seconds, is left out

    def files(self) -> set[str]:
        return {"config.json", "model.safetensors", "links.csv", "ingredients.csv", "report.html"}


class Convert(Killed):
    seconds = 0.15

    def words(self, turn: int) -> list[str]:
        return ["convert", "edges.csv", "graph.npz", "--overwrite"]

    def look(self, turn: int) -> None:
        left = {name for name in self.names() - self.given if not name.startswith(".graph.npz")}
        assert left <= {"graph.npz"}, "something was left behind that the next one does not sweep"
        if (self.folder / "graph.npz").exists():
            assert read(self.folder / "graph.npz") == read(self.folder / "edges.csv")

    def look_at_end(self, turns: int) -> None:
        assert self.names() - self.given == {"graph.npz"}


class Benchmark(Killed):
    seconds = 0.3

    def words(self, turn: int) -> list[str]:
        words = ["benchmark", "--datasets", "graph.npz", "--methods", "majority,label-propagation"]
        words += ["--train", "30", "--repeats", str(5 + turn), "--jobs", "1", "--quiet"]
        return [*words, "--out", "runs.sqlite"]  # each turn has something left to do

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        graph = read(folder / "edges.csv", labels=folder / "labels.csv", label="label")
        write(graph, folder / "graph.npz")
        self.given = self.names()
        self.seen: set[tuple[object, ...]] = set()

    def table(self) -> pd.DataFrame:
        with Ledger(self.folder / "runs.sqlite", create=False) as ledger:
            return ledger.runs()

    def look(self, turn: int) -> None:
        if not (self.folder / "runs.sqlite").exists():
            return
        table = self.table()
        keys = ["dataset", "method", "train_percent", "realisation"]
        found = set(table[[*keys, "accuracy"]].itertuples(index=False, name=None))
        assert len(found) == len(table[keys].drop_duplicates()) == len(table), "a run twice"
        assert found >= self.seen, "a run was lost or done again with another result"
        self.seen = found

    def look_at_end(self, turns: int) -> None:
        assert len(self.table()) == 2 * (5 + turns)
        beside = {"runs.sqlite-wal", "runs.sqlite-shm"}  # sqlite's own, while somebody reads
        assert self.names() - self.given - beside == {"runs.sqlite"}
        assert not [path.name for path in (self.folder / "tmp").iterdir() if path.name != "steps"]


def strike(killed: Killed, turn: int, steps: int, chance: random.Random, longer: float) -> bool:
    """Start a turn and kill it at a random moment; True unless it had ended by itself."""
    if turn % 2:
        return killed.start(turn, chance.randrange(steps)).wait() != 0
    if turn % 24 == 12:
        process: Process | subprocess.Popen[bytes] = killed.start_new(turn)
        seconds = SECONDS_OF_A_NEW_ONE
    else:
        process, seconds = killed.start(turn, NEVER), longer * killed.seconds
    time.sleep(seconds * chance.random())
    process.kill()
    return process.wait() != 0


def kill_again_and_again(kind: Callable[[Path], Killed], folder: Path, kills: int, longer: float = 1.0) -> int:
    """Returns how many were killed before they had ended by themselves."""
    killed, chance = kind(folder), random.Random(kills)
    steps = killed.steps_of_a_second_run()
    early = 0
    for turn in range(kills):
        early += strike(killed, turn, steps, chance, longer)
        killed.look(turn)
    assert killed.start(kills).wait() == 0
    killed.look(kills)
    killed.look_at_end(kills)
    return early


@pytest.mark.parametrize("kind", [Fit, Links, Convert, Benchmark])
def test_a_few_kills_lose_double_and_leave_nothing(kind, tmp_path):
    assert kill_again_and_again(kind, tmp_path, USUAL) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Fit, Links, Convert, Benchmark])
def test_a_hundred_kills_lose_double_and_leave_nothing(kind, tmp_path):
    assert kill_again_and_again(kind, tmp_path, sample(MANY, least=5), longer=3) > 0
