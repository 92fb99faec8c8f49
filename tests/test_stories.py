"""The notebooks of docs/learn/stories: every cell runs, in order, in an empty folder, and says what its text promises.

The cells are run here as a kernel would run them, one namespace for all; a kernel itself is started by the slow test.
"""

import ast
import json
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.sizes import sample

STORIES = Path(__file__).resolve().parents[1] / "docs" / "learn" / "stories"
# Story, and what it must come to: words that a cell shows.
SAID = {
    "analyst": r"(\d+)% predicted rightly",
    "bibliometrician": r"(\d+)% of 240 papers",
    "ml_engineer": r"GrAMME-Fusion: (\d+)",
    "paper_model": r"(\d+)% of the hidden labels",
    "sociologist": r"(\d+)% of the 30 others",
}
GOOD = {"analyst": 65, "bibliometrician": 75, "ml_engineer": 70, "paper_model": 70, "sociologist": 75}


def cells(story: str) -> list[dict[str, Any]]:
    notebook = json.loads((STORIES / f"{story}.ipynb").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = notebook["cells"]
    return found


def ran(story: str) -> list[str]:
    """What the cells of a story show: what they print, and the value of a last expression."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown: list[str] = []
    names["print"] = lambda *words: shown.append(" ".join(map(str, words)))
    for number, cell in enumerate(cells(story)):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), filename=f"{story}, cell {number}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{story}, cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = compile(ast.Expression(last.value), f"{story}, cell {number}", "eval")
            shown.append(repr(eval(value, names)))
    return shown


def test_every_story_is_told():
    assert {path.stem for path in STORIES.glob("*.ipynb")} == set(SAID) == set(GOOD)


@pytest.mark.parametrize("story", SAID)
def test_a_story_runs_and_comes_to_its_end(story, tmp_path, monkeypatch):
    import matplotlib
    import matplotlib.pyplot as plt

    if story == "ml_engineer":
        pytest.importorskip("torch_geometric")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # a reader would rather not see any
        warnings.filterwarnings("ignore", message=r".*read as|Sparse CSR")
        shown = "\n".join(ran(story))
    plt.close("all")
    found = re.search(SAID[story], shown)
    assert found, shown
    assert int(found[1]) >= GOOD[story], found[0]


@pytest.mark.parametrize("story", SAID)
def test_what_a_run_leaves_is_not_committed(story):
    for cell in cells(story):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@pytest.mark.slow
@pytest.mark.parametrize("story", list(SAID)[: sample(len(SAID))])
def test_a_kernel_runs_it(story, tmp_path):
    pytest.importorskip("nbconvert")
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html"]
    begun = time.monotonic()
    subprocess.run([*command, "--output-dir", str(tmp_path), str(STORIES / f"{story}.ipynb")], check=True)
    assert (tmp_path / f"{story}.html").stat().st_size > 100_000
    assert time.monotonic() - begun < 600
