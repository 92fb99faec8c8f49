"""Formats and datasets that another installed package adds through entry points."""

import os
import subprocess
import sys

MODULE = """
from gramme.datasets.record import Dataset, DatasetInfo
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.io import Format
from gramme.io.parsed import Parsed, RowCollector

def read(path, options):
    rows = RowCollector(path)
    for number, line in enumerate(path.read_text().split(), 1):
        rows.add("ties", *line.split("~"), None, number)
    return Parsed([path], rows.finish())

TILDE = Format("tilde", (".tilde",), read, None, "a~b per line", "it is only read")
FALSE_CSV = Format("csv", (".csv",), read, None, "not the real one", "")
PAIR = Dataset(
    DatasetInfo("pair", "A pair", "two nodes", 2, 1, None, "by hand", "none", "none", embedded=True),
    lambda paths: MultilayerGraph({"ties": EdgeLayer(2, [0], [1])}, name="pair"),
)
"""
ENTRY_POINTS = """
[gramme.formats]
tilde = guest_of_gramme:TILDE
csv = guest_of_gramme:FALSE_CSV
broken = guest_of_gramme:NOTHING
number = guest_of_gramme:ENTRY

[gramme.datasets]
pair = guest_of_gramme:PAIR
"""


def run(folder, *words):
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "gramme", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )


def test_formats_and_datasets_of_another_package(tmp_path):
    info = tmp_path / "guest_of_gramme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guest-of-gramme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "guest_of_gramme.py").write_text(MODULE + "ENTRY = 3\n")
    (tmp_path / "g.tilde").write_text("a~b\nb~c\n")
    (tmp_path / "g.csv").write_text("source,target\na,b\n")
    read = run(tmp_path, "info", "g.tilde")
    assert read.returncode == 0, read.stderr
    assert "tilde" in read.stdout
    assert "the plugin 'guest_of_gramme:NOTHING' (gramme.formats) is left out: AttributeError" in read.stderr
    assert "the plugin 'guest_of_gramme:ENTRY' (gramme.formats) is left out: it is no Format" in read.stderr
    assert run(tmp_path, "info", "g.csv").returncode == 0  # by gramme's own reader, which no package replaces
    assert "two nodes" in run(tmp_path, "datasets", "list").stdout
    (tmp_path / "g.unknown").touch()
    assert "tilde (.tilde)" in run(tmp_path, "info", "g.unknown").stderr
