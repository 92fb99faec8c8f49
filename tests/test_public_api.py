"""What users and other programs rely on: the names of the package and the README's example."""

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gramme

ROOT = Path(__file__).parent.parent


def test_every_public_name_is_there_and_listed() -> None:
    for name in gramme.__all__:
        assert getattr(gramme, name) is not None
        assert name in dir(gramme)


def test_the_contracts_names() -> None:
    for name in (
        "read",
        "write",
        "load",
        "rank",
        "MultilayerGraph",
        "GrammeAuto",
        "GrammeFusion",
        "GrammeLinks",
        "GrammeRegressor",
        "GrammeSG",
    ):
        assert callable(getattr(gramme, name))
    for name in ("from_table", "from_edges", "from_networkx", "from_scipy", "from_pyg"):
        assert callable(getattr(gramme.MultilayerGraph, name))
    assert callable(gramme.datasets.load)


def fresh(code: str) -> str:
    """What a new interpreter prints that runs the code: this one has imported too much to tell."""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def works_at_once(name: str) -> bool:
    """Whether a name is there in a copy of this process in which gramme is new; the libraries stay loaded."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    try:
        for module in [one for one in sys.modules if one.partition(".")[0] == "gramme"]:
            del sys.modules[module]
        new = importlib.import_module("gramme")
        assert new is not gramme
        assert name in dir(new)
        getattr(new, name)
    except BaseException:
        os._exit(1)
    os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_every_name_of_dir_works_at_once_after_a_fresh_import() -> None:
    assert [name for name in dir(gramme) if not works_at_once(name)] == []


def test_dir_has_every_room_before_and_after_it_is_imported() -> None:
    rooms = {path.parent.name for path in Path(gramme.__file__).parent.glob("*/__init__.py")}
    assert rooms - {"cli", "app"} <= set(dir(gramme))  # the command line and the app are no library


def test_import_gramme_alone_imports_nothing_heavy() -> None:
    code = "import sys, gramme; print(*{name.partition('.')[0] for name in sys.modules})"
    assert not set(fresh(code).split()) & {"numpy", "scipy", "pandas", "torch", "rich", "typer"}


def test_type_checkers_see_the_names_that_are_imported_on_first_use() -> None:
    tree = ast.parse(Path(gramme.__file__).read_text(encoding="utf-8"))
    for_checkers = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in for_checkers.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == {*gramme._DEFINED_IN, *gramme._PACKAGES}


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(gramme, "nonsense")


def test_the_readmes_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for name, short in (("ensemble", 2), ("folds", 2)):  # the demo in full is in tests/test_packaging.py
        monkeypatch.setitem(gramme.GrammeAuto.__init__.__kwdefaults__, name, short)
    exec(blocks[0], {})
    assert {path.name for path in tmp_path.iterdir()} == {"model.safetensors", "page.html"}


@pytest.mark.slow
def test_the_first_example_of_the_readme_passes_a_strict_type_checker(tmp_path) -> None:
    first = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert first is not None
    (tmp_path / "readme.py").write_text(first[1], encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "readme.py"]
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
