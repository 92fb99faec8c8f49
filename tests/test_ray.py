"""Work on a real local Ray is what one process does. All tests of it share one Ray, whose start takes long."""

import pandas as pd
import pytest
from tests.distributed.graphs import graph
from tests.evaluation.runs import same
from tests.links.graphs import planted_links
from tests.methods.graphs import planted

from gramme import _ray
from gramme._ray import connected_ray, import_ray
from gramme.cli import main
from gramme.errors import MissingExtraError
from gramme.evaluation import Ledger, benchmark
from gramme.evaluation.link_benchmark import link_benchmark
from gramme.io import write

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
