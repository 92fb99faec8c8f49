import os
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib.externals.loky.process_executor import TerminatedWorkerError
from tests.evaluation.runs import same
from tests.links.graphs import planted_links
from tests.methods.graphs import planted
from tests.processes import Process, is_alive, with_its_output_in

from gramme._runtime import end_with
from gramme.errors import DataError
from gramme.evaluation import Ledger, backends, benchmark
from gramme.evaluation.backends import WORKER_DIED, check_backend, surviving
from gramme.evaluation.link_benchmark import link_benchmark
from gramme.methods import METHODS, Majority, Method

GRAPHS = {"small": planted(40), "other": planted(50, seed=1)}
METHODS_HERE = ["majority", "label-propagation", "one-hot-logistic", "gramme-fusion", "line"]
SETTINGS = {"gramme-fusion": {"epochs": 3, "ensemble": 2}}


def runs(folder, name, methods=METHODS_HERE, graphs=GRAPHS, **options):
    path = folder / f"{name}.sqlite"
    options = {"train": [10, 30], "repeats": 1, "settings": SETTINGS} | options
    benchmark(graphs, methods, out=path, **options)
    with Ledger(path, create=False) as ledger:
        return ledger.runs()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """All runs one after the other, in this process."""
    folder = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAMME_CACHE", str(folder / "cache"))
        found = runs(folder, "alone", jobs=1)
    assert found["status"].eq("done").all()
    assert len(found) == 2 * 5 * 2
    return found


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """Embeddings are made anew, not found where the other runs left them."""
    monkeypatch.setenv("GRAMME_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("own_cache")
def test_one_job_and_two_give_the_same(tmp_path, alone):
    same(alone, runs(tmp_path, "two", jobs=2))


def test_one_job_and_two_give_the_same_links(tmp_path):
    datasets, methods = {"g": planted_links(24)}, ["own-adamic-adar", "repeated"]
    alone = link_benchmark(datasets, methods, out=tmp_path / "1.sqlite")
    beside = link_benchmark(datasets, methods, out=tmp_path / "2.sqlite", jobs=2)
    assert beside.drop(columns="cpu_seconds").equals(alone.drop(columns="cpu_seconds"))


class Deadly(Majority):
    """Kills the process it runs in, in one realisation."""

    def fit(self, graph, y=None):
        if sum(label is not None for label in y) == 12:  # 30 % of 40
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(graph, y)


def test_a_run_that_kills_its_process_costs_only_itself(tmp_path):
    methods = [METHODS["majority"], Method("deadly", Deadly, "dies")]
    graphs = {"small": GRAPHS["small"]}
    found = runs(tmp_path, "r", methods, graphs, jobs=2, settings={})
    assert len(found) == 2 * 2
    dead = found[found["status"] == "failed"]
    assert dead[["dataset", "method", "train_percent", "error"]].to_numpy().tolist() == [
        ["small", "deadly", 30.0, WORKER_DIED]
    ]


@dataclass(frozen=True)
class Numbered:
    """A run of a pool that is only played."""

    key: int

    def failed(self, error):
        return SimpleNamespace(spec=self, error=error)


def played(deadly, chance):
    """A pool in which some runs kill their worker, and with it all that are under way at that moment."""

    def results(specs, workers):
        waiting, under_way = list(specs), []
        while waiting or under_way:
            while waiting and len(under_way) < workers:
                under_way.append(waiting.pop(0))
            ended = under_way.pop(chance.randrange(len(under_way)))
            if ended.key in deadly:
                raise TerminatedWorkerError
            yield SimpleNamespace(spec=ended, error=None)

    return results


@given(st.integers(0, 12), st.sets(st.integers(0, 11)), st.integers(1, 4), st.randoms(use_true_random=False))
def test_every_run_has_one_result_whichever_die(count, deadly, jobs, chance):
    specs = [Numbered(key) for key in range(count)]
    found = list(surviving(specs, played(deadly, chance), jobs))
    assert sorted(one.spec.key for one in found) == list(range(count))
    assert all(one.error == (WORKER_DIED if one.spec.key in deadly else None) for one in found)


def test_unknown_backend():
    with pytest.raises(DataError, match="did you mean 'ray'"):
        check_backend("rai")


def hold_two_workers(folder: Path) -> None:
    """Two runs that do not end, with their scratch files in a folder."""

    with (folder / "said").open("wb") as file:
        os.dup2(file.fileno(), 2)

    def endless(spec, path, parent):
        end_with(parent)
        (folder / f"worker-{os.getpid()}").touch()
        time.sleep(600)

    tempfile.tempdir = str(folder)
    backends._in_worker = endless
    specs = [SimpleNamespace(key=key, dataset="a") for key in "xy"]
    list(backends._in_processes(specs, {"a": None}, 2))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_soon_after_their_parent(tmp_path, how):
    parent = Process(hold_two_workers, tmp_path)
    try:
        workers = wait_for(lambda: [int(path.name[7:]) for path in tmp_path.glob("worker-*")], 2)
        assert list(tmp_path.glob(".gramme-benchmark-*"))
        workers += [int(path.name) for path in children_of(parent.pid)]  # and who cleans up behind
        os.kill(parent.pid, how)
        assert parent.wait(10) == -how
        wait_for(lambda: [number for number in workers if not is_alive(number)], len(workers))
    finally:
        parent.kill()
    assert (tmp_path / "said").read_text() == ""


def wait_for(found, count, seconds=60):
    """What there is once there is enough of it."""
    end = time.monotonic() + seconds
    while len(found()) < count:
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)
    return found()


def children_of(parent: int) -> list[Path]:
    """The places in /proc of the processes that a process has started."""
    return [
        Path("/proc", child)
        for task in Path(f"/proc/{parent}/task").glob("*/children")
        for child in task.read_text().split()
    ]


def workers_of(parent: int) -> list[Path]:
    """Those of the pool's processes."""
    found = children_of(parent)
    return [one for one in found if b"popen_loky_posix" in (one / "cmdline").read_bytes()]


def hears_interrupts(process: Path) -> bool:
    """Whether a process neither blocks nor ignores Ctrl-C, by the masks that the system shows."""
    lines = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    deaf_to = int(lines["SigBlk"], 16) | int(lines["SigIgn"], 16)
    return not deaf_to >> (signal.SIGINT - 1) & 1


def command_that_hears(folder: Path, words: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    with_its_output_in(folder, words, None, {})


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks into /proc")
@pytest.mark.parametrize("seconds", [0, 0.3])
def test_an_interrupt_while_workers_start_is_their_parents_alone(tmp_path, seconds):
    heard = tmp_path / "heard"
    heard.mkdir()
    words = ["benchmark", "--datasets", "wine", "--methods", "majority,label-propagation"]
    words += ["--train", "10,50", "--jobs", "2", "--out", str(tmp_path / "runs.sqlite")]
    run = Process(command_that_hears, heard, words)
    while not (workers := workers_of(run.pid)):
        assert run.poll() is None
        time.sleep(0.001)
    assert not any(map(hears_interrupts, workers))
    time.sleep(seconds)
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait() == 130
    said = (heard / "1").read_text() + (heard / "2").read_text()
    assert "0 of 80 runs were done" in said
    assert "Traceback" not in said
    assert "Warning" not in said
