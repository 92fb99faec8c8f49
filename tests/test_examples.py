"""The scripts in examples/: each runs, says what it found, and leaves the files it names."""

import contextlib
import csv
import io
import re
import runpy
import sys
import warnings
from pathlib import Path
from unittest import mock

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
# Script, and how good its predictions must be: far above what guessing the most frequent class gets.
SCRIPTS = {"votes.py": 0.65, "school_class.py": 0.75, "coauthorship.py": 0.6, "own_model.py": 0.85}
SHARE = re.compile(r"(\d+)% of the |(\d+) of (\d+) predictions")


def run(script: str, *arguments: object) -> str:
    """What a script prints; it is run with warnings as errors, as a reader would rather not see any."""
    given = [str(EXAMPLES / script), *map(str, arguments)]
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", given),
        contextlib.redirect_stdout(printed),
        warnings.catch_warnings(),
        contextlib.suppress(SystemExit),
    ):
        warnings.simplefilter("error", UserWarning)
        runpy.run_path(given[0], run_name="__main__")
    return printed.getvalue()


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_example_runs_predicts_well_and_leaves_its_files(script: str, tmp_path: Path) -> None:
    if script == "coauthorship.py":
        pytest.importorskip("torch_geometric")
    printed = run(script, tmp_path / "out")
    percent, right, total = SHARE.findall(printed)[-1]
    assert (int(percent) / 100 if percent else int(right) / int(total)) >= SCRIPTS[script]
    written = printed.partition(f"Written to {tmp_path / 'out'}: ")[2].splitlines()[0].split(", ")
    assert "predictions.csv" in written
    for name in written:
        assert (tmp_path / "out" / name).stat().st_size > 0
    with (tmp_path / "out" / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(row["predicted"] for row in rows)


@pytest.mark.slow
def test_votes_reads_the_real_record(gramme_data: Path, tmp_path: Path) -> None:
    source = gramme_data / "congress_votes" / "house-votes-84.data"
    printed = run("votes.py", tmp_path, source)
    assert "435 members, 16 votes, the party of 218 is known." in printed
    assert int(SHARE.findall(printed)[-1][0]) >= 90


def test_coauthorship_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("torch_geometric.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    printed = run("coauthorship.py", tmp_path / "out")
    assert 'pip install "gramme[pyg]"' in printed
    assert not (tmp_path / "out").exists()
