"""Excel workbooks that openpyxl wrote: a sheet per layer, matrices, and a sheet about the people."""

import io
import zipfile
from typing import ClassVar

import pandas as pd
import pytest
from tests.io.cases import ReadCase
from tests.io.formats.test_text import ADVICE, EVENTS

from gramme.errors import FileFormatError
from gramme.io import inspect, read

openpyxl = pytest.importorskip("openpyxl")
PEOPLE = pd.DataFrame(
    {"person": ["Ann", "Bo", "Cy", "Di"], "Team": ["red", "NA", "blue", "red"], "Age": [30, 40, None, 60]}
)
FRIENDS = pd.DataFrame({"from": ["Ann", "Bo"], "to": ["Bo", "Di"], "weight": [1.5, 2]})


def workbook(**sheets):
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer, engine="openpyxl") as writer:
        for name, frame in sheets.items():
            frame.to_excel(writer, sheet_name=name, index=name in ("advice", "events"))
    return buffer.getvalue()


EXAMPLE = workbook(friends=FRIENDS)


class TestExcel(ReadCase):
    format = "excel"
    examples: ClassVar = [{"g.xlsx": EXAMPLE}, {"g.xlsx": EXAMPLE}]
    words: ClassVar = [b"PK\x03\x04", b"<row>", b'r="XFD1048576"']

    def mutated(self, randomness, data):
        """Half of the time, change a member: what changes in the archive is mostly caught by its checksums."""
        if randomness.random() < 0.5:
            return super().mutated(randomness, data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        victim = randomness.choice(list(members))
        members[victim] = super().mutated(randomness, members[victim])
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return buffer.getvalue()


def test_a_sheet_per_layer_and_one_of_people(tmp_path):
    (tmp_path / "g.xlsx").write_bytes(workbook(advice=ADVICE, friends=FRIENDS, events=EVENTS, people=PEOPLE))
    graph, report = inspect(tmp_path / "g.xlsx", label="Team")
    assert list(graph.layers) == ["advice", "friends", "events"]
    assert graph.layers["advice"].directed
    assert graph.layers["friends"].weight.tolist() == [1.5, 2]
    assert graph.layers["events"].num_groups == 3
    assert graph.labels.tolist() == ["red", None, "blue", "red"]
    assert graph.features[:, 0].tolist() == [30, 40, 40, 60]
    assert "1 label read as unknown: NA" in report.notes


def test_a_list_of_edges_in_one_sheet(tmp_path):
    FRIENDS.assign(layer=["x", "y"]).to_excel(tmp_path / "g.xlsx", index=False)
    assert list(read(tmp_path / "g.xlsx").layers) == ["x", "y"]


def test_a_workbook_without_edges(tmp_path):
    (tmp_path / "g.xlsx").write_bytes(workbook(people=PEOPLE, more=PEOPLE))
    with pytest.raises(FileFormatError, match="none of its tables is a list of edges"):
        read(tmp_path / "g.xlsx")
    (tmp_path / "g.xlsx").write_bytes(workbook(people=PEOPLE))
    with pytest.raises(FileFormatError, match="header must name the columns source"):
        read(tmp_path / "g.xlsx")


def test_what_unfolds_is_bounded(tmp_path):
    """A cell at the far corner of a sheet, and a member that claims to be huge."""
    book = openpyxl.Workbook()
    book.active.append(["source", "target"])
    book.active.append(["a", "b"])
    book.active["XFD200000"] = "x"
    book.save(tmp_path / "g.xlsx")
    with pytest.raises(FileFormatError):
        read(tmp_path / "g.xlsx")
    with zipfile.ZipFile(tmp_path / "g.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 30_000_000)
    with pytest.raises(FileFormatError, match="would unfold"):
        read(tmp_path / "g.xlsx")
