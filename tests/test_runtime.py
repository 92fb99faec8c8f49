"""Work on a real local Ray is what one process does. All tests of it share one Ray, whose start takes long."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from tests.distributed.graphs import graph
from tests.evaluation.runs import same
from tests.links.graphs import planted_links
from tests.methods.graphs import planted
from tests.processes import Process

from gramme import _runtime as _ray
from gramme._runtime import LARGE_PAGES, connected_ray, end_with, free_bytes, import_ray, kibibytes, return_memory
from gramme.cli import main
from gramme.errors import MissingExtraError
from gramme.evaluation import Ledger, benchmark
from gramme.evaluation.link_benchmark import link_benchmark
from gramme.io import write


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
def test_the_system_is_asked():
    free = free_bytes()
    assert free is not None
    assert 2**20 < free < 2**50
    assert kibibytes("self/status", "VmRSS") > 1000


def test_a_line_that_is_not_there():
    with pytest.raises((ValueError, OSError)):
        kibibytes("meminfo", "Nothing")


def faults_of_a_large_array(setting: str | None) -> tuple[str, int]:
    """The setting once gramme computes, and how many pages the system had to give for 64 MiB."""
    environment = {name: value for name, value in os.environ.items() if name != LARGE_PAGES}
    if setting is not None:
        environment[LARGE_PAGES] = setting
    program = (
        "import os, gramme, gramme.ops, torch, resource\n"
        "faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "before = faults()\n"
        "array = torch.ones(16 << 20)\n"
        f"print(os.environ.get('{LARGE_PAGES}'), faults() - before)\n"
    )
    made = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    said, faults = made.stdout.split()
    return said, int(faults)


def test_nothing_that_is_imported_changes_the_environment():
    program = (
        "import os; before = dict(os.environ); import gramme\n"
        "assert dict(os.environ) == before, 'gramme'\n"
        "import gramme.methods, gramme.links, gramme.evaluation, gramme.report\n"
        "added = {k: v for k, v in os.environ.items() if before.get(k) != v}\n"
        "assert not {k for k in added if not k.startswith('KMP_')}, added  # KMP_...: OpenMP's own, from torch\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pages of 2 MiB are Linux's")
def test_large_arrays_of_torch_lie_on_large_pages_unless_the_user_says_otherwise():
    said, faults = faults_of_a_large_array("0")
    assert said == "0"
    plain = faults_of_a_large_array(None)
    assert plain[0] == "None"
    allowed = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if allowed.exists() and "[madvise]" in allowed.read_text(encoding="ascii"):
        assert plain[1] < faults / 4


def stay(parent: int) -> None:
    end_with(parent)
    time.sleep(600)


def test_a_process_whose_parent_is_gone_ends():
    assert Process(stay, os.getpid()).wait(60) == 1  # a server started it, not this process


METHODS = ["label-propagation", "gramme-fusion", "line"]
SETTINGS = {"gramme-fusion": {"epochs": 3, "ensemble": 2}}


@pytest.fixture(scope="module")
def told():
    """What Ray was told: each start and end. It goes on until the last test of it."""
    ray = pytest.importorskip("ray", reason='the extra is absent: pip install "gramme[ray]"')
    found = []

    def init(**options):
        found.append(options)
        begin(**options)

    begin = ray.init
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        patch.setattr(ray, "init", init)
        patch.setattr(ray, "shutdown", lambda: found.append("end"))
        yield found
    ray.shutdown()


@pytest.fixture(scope="module")
def started(told):
    """A local Ray for two tasks, as the first piece of work starts it."""
    with connected_ray("a test", 2):
        pass
    return told


def runs(folder, name, **options):
    path = folder / f"{name}.sqlite"
    datasets = {"small": planted(40)}
    benchmark(datasets, METHODS, out=path, train=[30], repeats=1, settings=SETTINGS, **options)
    with Ledger(path, create=False) as ledger:
        return ledger.runs()


@pytest.mark.ray
def test_what_was_not_connected_before_is_left_again(told):
    with connected_ray("a test", 2) as ray:
        assert ray.is_initialized()
        first = len(told)
        assert told[-1]["num_cpus"] == 2
        with connected_ray("a test within", 7):
            pass
        assert len(told) == first, "it belongs to whoever started it"
    assert told[-1] == "end"


@pytest.mark.ray
def test_a_benchmark_gives_the_same(tmp_path, started, monkeypatch):
    monkeypatch.setenv("GRAMME_CACHE", str(tmp_path / "here"))
    alone = runs(tmp_path, "alone", jobs=1)
    assert alone["status"].eq("done").all()
    monkeypatch.setenv("GRAMME_CACHE", str(tmp_path / "there"))  # embeddings are made anew
    same(alone, runs(tmp_path, "ray", jobs=2, backend="ray"))


@pytest.mark.ray
def test_a_benchmark_of_links_gives_the_same(tmp_path, started):
    datasets, methods = {"g": planted_links(20)}, ["own-adamic-adar"]
    here = link_benchmark(datasets, methods, out=tmp_path / "1.sqlite")
    there = link_benchmark(datasets, methods, out=tmp_path / "2.sqlite", jobs=1, backend="ray")
    assert there.drop(columns="cpu_seconds").equals(here.drop(columns="cpu_seconds"))


@pytest.mark.ray
@pytest.mark.distributed
def test_workers_of_a_cluster_write_what_one_process_writes(tmp_path, started):
    write(graph("mixed"), tmp_path / "mixed.npz")
    found = []
    for name, options in (("one", ()), ("ray", ("--workers", 2, "--backend", "ray"))):
        words = ["fit", tmp_path / "mixed.npz", "--method", "label-propagation", "--no-estimate"]
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in (*words, *options, "--out", tmp_path / name)])
        assert not end.value.code
        found.append(pd.read_csv(tmp_path / name / "predictions.csv"))
    assert found[0].equals(found[1])


def test_where_it_is_absent_the_extra_is_named(monkeypatch):
    def absent(module, extra, purpose):
        raise MissingExtraError(f"{purpose} needs {module}: gramme[{extra}]")

    monkeypatch.setattr(_ray, "import_extra", absent)
    with pytest.raises(MissingExtraError, match=r"--backend ray needs ray: gramme\[ray\]"):
        import_ray("--backend ray")


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux can give memory back")
def test_gaps_between_arrays_go_back_to_the_system() -> None:
    blocks = [b"x" * 60_000 for _ in range(3_000)]
    last = blocks[-1]  # as long as it stands behind them, the others' memory stays with the program
    del blocks
    held = kibibytes("self/status", "VmRSS")
    return_memory(99_999)
    assert held - kibibytes("self/status", "VmRSS") < 10_000
    return_memory(100_000)
    assert held - kibibytes("self/status", "VmRSS") > 100_000
    assert last
