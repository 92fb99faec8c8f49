import datetime
import zipfile

import pytest

from gramme.errors import FileFormatError
from gramme.io.plain_table import header_of, read_table
from gramme.io.source import gathered
from gramme.io.spreadsheet import cell_text, read_sheets

openpyxl = pytest.importorskip("openpyxl")


def write(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_sheets_as_text_without_blank_edges(tmp_path):
    path = write(
        tmp_path / "x.xlsx", People=[["name", "age", None], [None, None, None], ["ann", 30.0, None], ["bob"]], Empty=[]
    )
    assert read_sheets(path) == {"People": [["name", "age"], ["ann", "30"], ["bob", ""]]}


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "TRUE"), (1.5, "1.5"), (1e300, "1e+300"), (datetime.datetime(2020, 1, 2, 3, 4), "2020-01-02 03:04:00")],
)
def test_cells_as_a_person_would_write_them(value, text):
    assert cell_text(value) == text


def test_what_is_no_workbook(tmp_path):
    (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(FileFormatError, match="no Excel file that can be read"):
        read_sheets(tmp_path / "x.xlsx")
    with pytest.raises(FileFormatError, match="all sheets are empty"):
        read_sheets(write(tmp_path / "y.xlsx", Empty=[]))


def test_ids_that_are_too_long_for_a_spreadsheet_are_refused(tmp_path):
    """openpyxl, as Excel, writes 9007199254740993 as 9007199254740992: two nodes had become one."""
    ids = [2**53, 2**53 + 1]
    path = write(tmp_path / "x.xlsx", Ties=[["from", "to"], ids])
    with pytest.raises(FileFormatError, match="sheet 'Ties', row 2: the number 9007199254740992 is too long"):
        read_sheets(path)
    text = write(tmp_path / "y.xlsx", Ties=[["from", "to", "weight"], [*map(str, ids), 1e30]])
    assert read_sheets(text)["Ties"][1][:2] == ["9007199254740992", "9007199254740993"]


def test_millions_of_empty_cell_formats_are_refused_before_they_are_read(tmp_path):
    path = write(tmp_path / "x.xlsx", Ties=[["source", "target"], ["a", "b"]])
    packed = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bomb:
        for name in book.namelist():
            data = book.read(name)
            if name == "xl/styles.xml":
                data = data.replace(b'<cellXfs count="1">', b'<cellXfs count="1">' + b"<xf/>" * 2_000_000)
            bomb.writestr(name, data)
    for reading in (read_sheets, read_table):
        with pytest.raises(FileFormatError, match=r"would unfold to 2,\d+,\d+ elements"):
            reading(packed)


def test_a_first_column_without_a_name_is_called_as_in_csv(tmp_path):
    path = write(tmp_path / "x.xlsx", Empty=[], People=[[None, "age"], ["ann", 30], ["bob", 31]])
    assert list(read_table(path).columns) == ["row", "age"] == header_of(path)


def test_formulas_that_nobody_computed_are_said(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["source", "target", "weight"], ["a", "b", "=1+1"], ["b", "c", 2]):
        book.active.append(row)
    book.save(tmp_path / "ties.xlsx")
    with gathered() as notes:
        read_sheets(tmp_path / "ties.xlsx")
    assert notes.doubts == [
        "ties.xlsx: 1 formula without a value read as empty cells; open the file in a spreadsheet program and save it, "
        "which computes them"
    ]
