"""Commands killed at random moments: nothing is lost, doubled or left behind.

Each command is killed again and again in the same place, with SIGKILL, and then run to its end. What stands there must
be whole after every kill, and all of it in the end.
"""

import os
import random
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

USUAL, MANY = 10, 100


def in_folder(folder: Path, words: list[str]) -> None:
    """`gramme WORDS` in a folder, with a place for temporary files of its own."""
    os.chdir(folder)
    tempfile.tempdir = str(folder / "tmp")
    main(words)


class Killed(ABC):
    """A command, and what must be true of what it leaves."""

    seconds: float
    """Kills come within so many seconds of the start, or within thrice that in the slow run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tmp").mkdir()
        random_ends = random.Random(1)
        rows = [
            f"{layer},n{random_ends.randrange(30)},n{random_ends.randrange(30)}"
            for layer in ("talk", "mail")
            for _ in range(80)
        ]
        (folder / "edges.csv").write_text("\n".join(["layer,source,target", *rows]) + "\n")
        labels = [f"n{place},{'ab'[place % 4 > 1]}" for place in range(0, 30, 2)]
        (folder / "labels.csv").write_text("\n".join(["node,label", *labels]) + "\n")
        self.given = self.names()

    @abstractmethod
    def words(self, turn: int) -> list[str]:
        """The command, of which each turn asks for something else where it can."""

    @abstractmethod
    def look(self, turn: int) -> None:
        """Fails unless what is there is whole."""

    @abstractmethod
    def look_at_end(self) -> None:
        """Fails unless all is there, once, and nothing else."""

    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}

    def start(self, turn: int) -> Process:
        return Process(in_folder, self.folder, self.words(turn))


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

    def look_at_end(self) -> None:
        assert self.names() - self.given == {"out"}
        assert not list((self.folder / "tmp").glob("gramme*"))


class Links(Fit):
    option = ("--top", "5")

    def files(self) -> set[str]:
        return {"config.json", "model.safetensors", "links.csv", "ingredients.csv", "report.html"}


class Convert(Killed):
    seconds = 0.15

    def words(self, turn: int) -> list[str]:
        return ["convert", "edges.csv", "graph.npz", "--overwrite"]

    def look(self, turn: int) -> None:
        assert self.names() - self.given <= {"graph.npz"}, "something was left behind"
        if (self.folder / "graph.npz").exists():
            assert read(self.folder / "graph.npz") == read(self.folder / "edges.csv")

    def look_at_end(self) -> None:
        assert self.names() - self.given == {"graph.npz"}


class Benchmark(Killed):
    seconds = 0.3
    runs = 2 * 2 * 10

    def words(self, turn: int) -> list[str]:
        words = ["benchmark", "--datasets", "graph.npz", "--methods", "majority,label-propagation"]
        words += ["--train", "30,50", "--repeats", "10", "--jobs", "1", "--quiet"]
        return [*words, "--out", "runs.sqlite"]

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

    def look_at_end(self) -> None:
        assert len(self.table()) == self.runs
        beside = {"runs.sqlite-wal", "runs.sqlite-shm"}  # sqlite's own, while somebody reads
        assert self.names() - self.given - beside == {"runs.sqlite"}
        assert not list((self.folder / "tmp").glob("gramme*"))


def kill_again_and_again(
    kind: Callable[[Path], Killed], folder: Path, kills: int, longer: float = 1.0
) -> int:
    """Returns how many were killed before they had ended by themselves."""
    killed, chance = kind(folder), random.Random(kills)
    early = 0
    for turn in range(kills):
        process = killed.start(turn)
        time.sleep(longer * killed.seconds * chance.random())
        process.kill()
        early += process.wait() != 0
        killed.look(turn)
    assert killed.start(kills).wait() == 0
    killed.look(kills)
    killed.look_at_end()
    return early


@pytest.mark.parametrize("kind", [Fit, Links, Convert, Benchmark])
def test_ten_kills_lose_double_and_leave_nothing(kind, tmp_path):
    assert kill_again_and_again(kind, tmp_path, USUAL) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Fit, Links, Convert, Benchmark])
def test_a_hundred_kills_lose_double_and_leave_nothing(kind, tmp_path):
    assert kill_again_and_again(kind, tmp_path, sample(MANY, least=5), longer=3) > 0
