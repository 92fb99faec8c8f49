"""Every script of `benchmarks/` says what it takes, and runs in a small form; `paper/` has tests of its own."""

import os
from pathlib import Path

import pytest
from tests.scripts import run_script

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SHARED = {
    "measure",
    "distributed_cost",
    "shared",
    "figures",
    "write_table",
    "write_page",
    "networks",
    "multilayer_sets",
}
SHARED |= {"calls", "graphs"}
SCRIPTS = sorted(path for path in BENCHMARKS.glob("*/*.py") if path.stem not in SHARED)
# What each script is run with; OUT is a folder of the test's own, DATA the folder of the datasets.
SMALL = {
    "accuracy/ask": "--out OUT/a.csv --graphs vickers_chan --strategies cover,random --predictors label-propagation "
    "--per-class 1 --repeats 1",
    "accuracy/groups": "--out OUT/a.csv --datasets vickers_chan --graphs vickers_chan --seeds 1",
    "accuracy/links": "--data DATA --networks synthetic_tiny --repeats 1 --out OUT/a.csv",
    "accuracy/link_peers": "--data DATA --networks synthetic_tiny --methods best-single-score,own-adamic-adar "
    "--out OUT/a.csv",
    "accuracy/intervals": "--datasets vickers_chan --train 30 --repeats 1 --methods label-propagation,gramme-auto "
    "--runs OUT/r.csv --out OUT/a.csv",
    "accuracy/tables": "--task numbers --tables diabetes --methods linear --repeats 1 --out OUT/a.csv",
    "accuracy/relations": "--help",  # WordNet and Debian are not in the data folder
    "choices/settings": "--datasets vickers_chan --most 1 --only fusion --final",
    "choices/ingredients": "--datasets vickers_chan --repeats 1 --plain --work OUT",
    "published/right_layers": "--data DATA/right_layers --sets 3sources --methods label-propagation --percents 10 "
    "--noise 0 --samples 1",
    "published/heco": "--data DATA/acm_heco --methods label-propagation --per-class 20 --view edges",
    "published/gatne": "--help",  # tests/links/test_published_script.py runs it
    "published/s_ffsd": "--data DATA/s_ffsd --methods majority --out OUT/a.csv",
    "published/leaderboard": "--data DATA --protocols official --sets cora --method label-propagation --out OUT/a.csv",
    "speed/start": "--repeats 1",
    "speed/files": "--lines 2000 --rows 2000 --repeats 1",
    "speed/fit": "--cases table --rows 2000 --out OUT/a.csv",
    "speed/analysis": "--nodes 500 --edges 2000 --rows 1000 --no-peers",
    "speed/attention": "--only= --scale 100000",
    "speed/distributed": "--nodes 2000 --kinds random --most 1",
    "speed/app": "--help",  # it drives a browser; tests/app does so too
    "spot/runs": "--help",  # hours of reference runs
}


def test_every_script_has_a_small_form():
    names = {path.relative_to(BENCHMARKS).with_suffix("").as_posix() for path in SCRIPTS}
    assert {name for name in names if not name.startswith("paper/")} == set(SMALL)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_says_what_it_takes(path):
    """Importing it finds what has moved or changed its name."""
    ended = run_script(path, "--help")
    assert ended.returncode == 0, ended.stderr
    assert "usage:" in ended.stdout


def test_the_page_of_benchmarks_names_every_script():
    text = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    assert [path.stem for path in SCRIPTS if f"{path.stem}.py" not in text] == []


@pytest.mark.slow
@pytest.mark.dataset
@pytest.mark.parametrize("name", [name for name, arguments in SMALL.items() if arguments != "--help"])
def test_a_script_runs_in_a_small_form(name, tmp_path, monkeypatch, gramme_data):
    monkeypatch.chdir(tmp_path)
    words = SMALL[name].replace("OUT", str(tmp_path)).replace("DATA", os.environ["GRAMME_DATA"]).split()
    ended = run_script(BENCHMARKS / f"{name}.py", *words)
    assert ended.returncode == 0, ended.stderr[-2000:]
    if "OUT/a.csv" in SMALL[name]:
        assert (tmp_path / "a.csv").stat().st_size > 20
