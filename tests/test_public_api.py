"""What users and other programs rely on: the names of the package and the README's example."""

import re
import subprocess
import sys
from pathlib import Path

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
        "MultilayerGraph",
        "GrammeAuto",
        "GrammeFusion",
        "GrammeSG",
    ):
        assert callable(getattr(gramme, name))
    for name in ("from_table", "from_edges", "from_networkx", "from_scipy", "from_pyg"):
        assert callable(getattr(gramme.MultilayerGraph, name))
    assert callable(gramme.datasets.load)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(gramme, "nonsense")


def test_the_readmes_example_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    ended = subprocess.run(
        [sys.executable, "-c", blocks[0]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]
