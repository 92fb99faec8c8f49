import os
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.errors import DataError, FileFormatError
from gramme.graph import MultilayerGraph
from gramme.io.plain_table import header_of, read_table
from gramme.io.source import gathered


def read(folder: Path, data: str | bytes, name: str = "a.csv", **options) -> pd.DataFrame:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_table(path, **options)


def cells(column: pd.Series) -> list:
    return [None if pd.isna(value) else value for value in column.astype(object)]


def test_columns_get_the_type_their_cells_have(tmp_path):
    table = read(
        tmp_path, "name,age,zip,born,mood\nAnn,31,01067,2001-05-06,good\nBø,,10115,,?\n C ,1.5,,1999-01-01,NA\n"
    )
    assert cells(table["name"]) == ["Ann", "Bø", "C"]
    assert cells(table["age"]) == [31.0, None, 1.5]
    assert cells(table["zip"]) == ["01067", "10115", None]
    assert table["born"].dtype == "datetime64[ns]"
    assert cells(table["mood"]) == ["good", None, None]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a;b\n1,5;x\n2,25;y\n", "a.csv"),
        ("a\tb\n1.5\tx\n2.25\ty\n", "a.tsv"),
        ("a|b\r\n1.5|x\r\n2.25|y\r\n", "a.txt"),
        (b"\xef\xbb\xbfa,b\n1.5,x\n2.25,y\n", "a.csv"),
        ('"a","b"\n"1.5","x"\n"2.25","y"', "a.csv"),
        ("\n\na,b\n1.5,x\n\n2.25,y\n\n", "a.csv"),
    ],
)
def test_dialects_give_the_same_table(tmp_path, text, name):
    table = read(tmp_path, text, name)
    assert list(table.columns) == ["a", "b"] == header_of(tmp_path / name)
    assert cells(table["a"]) == [1.5, 2.25]
    assert cells(table["b"]) == ["x", "y"]


def test_names_and_labels_stay_text_and_marks_are_missing(tmp_path):
    table = read(tmp_path, "id,x,y\n1,99,0\n01,3,1\n", text=["id", "y"], missing=["99"])
    assert cells(table["id"]) == ["1", "01"]
    assert cells(table["x"]) == [None, 3.0]
    assert cells(table["y"]) == ["0", "1"]


def test_a_first_column_without_a_name_holds_row_names(tmp_path):
    assert list(read(tmp_path, '"","a",""\n"r1",1,2\n').columns) == ["row", "a", "column 3"]


def test_quoted_cells_may_hold_anything(tmp_path):
    table = read(tmp_path, 'a,"b\nc"\n"x,\ny","say ""hi"""\n')
    assert list(table.columns) == ["a", "b\nc"]
    assert cells(table["a"]) == ["x,\ny"]
    assert cells(table["b\nc"]) == ['say "hi"']


def test_parquet_and_excel_give_the_same_as_csv(tmp_path):
    table = pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "y"], "c": [True, False, True], "d": [1.0, None, 2.0]})
    table.to_parquet(tmp_path / "a.parquet")
    table.to_excel(tmp_path / "a.xlsx", index=False)
    table.to_csv(tmp_path / "a.csv", index=False)
    read_back = [read_table(tmp_path / f"a.{end}", text=["d"]) for end in ("csv", "parquet", "xlsx")]
    for found in read_back:
        assert cells(found["a"]) == [1, 2, 3]
        assert cells(found["b"]) == ["x", None, "y"]
        assert cells(found["c"]) == ["True", "False", "True"]
    assert cells(read_back[1]["d"]) == cells(read_back[2]["d"]) == ["1", None, "2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n \n", "blank"),
        ("a,b\n", "a header but no row"),
        ("a,a\n1,2\n", "two columns have the name 'a'"),
        ("a,b\n1,2\n1,2,3\n", "line 3: there are 3 cells, but the header names 2 columns"),
        ("a,b\n1,2,3\n1,2,3\n", "more cells than the 2 columns|there are 3 cells"),
        (b"a,b\n\xff\x81,2\n", "line 2: the bytes here are not text in UTF-8 or Windows-1252"),
        (b"a,b\n\0,2\n", "bytes of zero"),
        ('a,b\n"1,2\n', "not readable as a table"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, text)


@pytest.mark.parametrize("name", ["a.parquet", "a.xlsx", "a.doc"])
def test_files_that_are_something_else(tmp_path, name):
    with pytest.raises(DataError, match=r"Parquet|Excel|must end in one of"):
        read(tmp_path, "nothing of the kind", name)


def test_excel_without_its_library_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"gramme\[excel\]"):
        read(tmp_path, "x", "a.xlsx")


@given(st.one_of(st.binary(max_size=200), st.text(alphabet='ab1.,;\t|"\n\r ?-', max_size=80)))
def test_arbitrary_bytes_are_a_table_or_a_clear_error(tmp_path_factory, data):
    try:
        table = read(tmp_path_factory.mktemp("t"), data)
    except DataError:
        return
    assert len(table) >= 1
    assert len(table.columns) >= 1


def test_more_columns_than_a_table_can_have(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("," * 10_000_000 + "\n1\n")
    with pytest.raises(FileFormatError, match="10,000,001 columns; a table may have at most 100,"):
        read_table(path)


def test_the_time_for_wide_tables_is_linear(tmp_path):
    """Comparing each name with all others takes minutes here."""
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{n}" for n in range(99_999)) + ",c7\n1\n")
    started = time.process_time()
    with pytest.raises(FileFormatError, match="two columns have the name 'c7'"):
        read_table(path)
    assert time.process_time() - started < 10


@pytest.mark.parametrize("dates", [["2020-01-31", "9999-12-31"], ["31.12.9999", "01.02.2020"]])
def test_dates_that_mean_never_are_categories(tmp_path, dates):
    path = tmp_path / "t.csv"
    path.write_text("until\n" + "\n".join(dates) + "\n")
    with gathered() as notes:
        table = read_table(path)
    assert table["until"].tolist() == dates
    assert any("'until': some dates are before 1678 or after 2261" in one for one in notes.doubts)
    path.write_text("until\n" + "\n".join(dates) + "\n")
    later = read_table(path, missing=["9999-12-31", "31.12.9999"])["until"]
    assert later.isna().sum() == 1
    assert pd.api.types.is_datetime64_any_dtype(later)


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_parquet_dates_out_of_range_are_read_or_refused(tmp_path, unit):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    per_second = {"s": 1, "ms": 1000, "us": 10**6}[unit]
    moments = [0, 253_402_214_400 * per_second]  # the last day of the year 9999
    path = tmp_path / "t.parquet"
    parquet.write_table(arrow.table({"until": arrow.array(moments, arrow.timestamp(unit))}), path)
    assert [str(one)[:4] for one in read_table(path)["until"]] == ["1970", "9999"]
    days = arrow.array([0, 2**31 - 1], arrow.int32()).cast(arrow.date32())
    for column in (
        days,
        arrow.array([0, 2**62], arrow.timestamp("us")),
        arrow.array([0, 2**62], arrow.int64()).cast(arrow.time64("us")),
        arrow.array([0, 2**31 - 1], arrow.int32()).cast(arrow.time32("s")),
    ):
        parquet.write_table(arrow.table({"until": column}), path)
        try:
            table = read_table(path)
        except DataError:
            continue
        MultilayerGraph.from_table(table)


def test_a_lone_cell_at_the_far_end_of_a_sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"] = "name"
    book.active["XFD1048576"] = "x"
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(FileFormatError, match="far more cells than it spells out; delete those far"):
        read_table(tmp_path / "t.xlsx")


def test_a_header_is_read_of_ordinary_files_that_fit_the_memory_only(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")  # opening it would wait for ever
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    (tmp_path / "huge.csv").touch()
    os.truncate(tmp_path / "huge.csv", 8 * 10**12)
    for name, message in (
        ("pipe.csv", "is not an ordinary file"),
        ("zero.csv", "is not an ordinary file"),
        ("huge.csv", "of memory are free"),
    ):
        with pytest.raises(DataError, match=message):
            header_of(tmp_path / name)


def test_what_r_writes_and_comments_and_semicolons_are_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('# a survey\n"Ort";"Alter"\n"1";"Ulm";31\n"2";"Bonn";40\n')
    with gathered() as notes:
        table = read_table(path)
    assert table.columns.tolist() == ["row", "Ort", "Alter"]
    assert table["Alter"].tolist() == [31, 40]
    assert notes.all == [
        "t.csv: 1 line of comment left out (# or % at the start)",
        "t.csv: read with ; between the cells",
        "t.csv: the first column has no name in the header; called 'row'",
    ]


def test_marks_among_numbers_with_thousands_are_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"x;{k}.{100 + k},50\n" for k in range(1, 10)) + "x;k.A.\n")
    with gathered() as notes:
        read_table(path)
    assert any("90 % of 'b' are numbers" in note and "k.A." in note for note in notes.all)


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_labels_that_are_unknown_are_counted_in_every_format(tmp_path, ending):
    """NA is Namibia or nothing, by what is asked for; "None" is a class like any other."""
    table = pd.DataFrame({"who": [*"abcdef"], "team": ["x", "NA", "NA", "", "None", "."]})
    path = tmp_path / f"t.{ending}"
    writers = {"csv": table.to_csv, "xlsx": table.to_excel, "parquet": table.to_parquet}
    writers[ending](path, index=False)
    with gathered() as notes:
        found = read_table(path, text=["team"], label="team")
    assert cells(found["team"]) == ["x", None, None, None, "None", None]
    assert "3 labels read as unknown: NA, ." in notes.all
    with gathered() as notes:
        kept = read_table(path, text=["team"], label="team", keep_na=True)
    assert cells(kept["team"]) == ["x", "NA", "NA", None, "None", "."]
    assert not any("unknown" in note for note in notes.all)


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_a_header_is_that_of_the_table(tmp_path, ending):
    table = pd.DataFrame({" a ": [1, 2], "b": ["x", "y"], "": [0.5, 1.5]})
    writers = {"csv": table.to_csv, "xlsx": table.to_excel, "parquet": table.to_parquet}
    path = tmp_path / f"t.{ending}"
    writers[ending](path, index=False)
    assert header_of(path) == list(read_table(path).columns)


@pytest.mark.parametrize("separator", [" ", "   "])
def test_a_table_with_spaces_between_cells(tmp_path, separator):
    text = 'name "mean age"\nAnn 31\n"Bo Lee" 1.5\n'.replace(" ", separator).replace("Bo" + separator, "Bo ")
    table = read(tmp_path, text.replace("mean" + separator, "mean "), "a.txt")
    assert cells(table["name"]) == ["Ann", "Bo Lee"]
    assert cells(table["mean age"]) == [31.0, 1.5]


def test_names_of_rows_as_write_table_has_them(tmp_path):
    with gathered() as notes:
        table = read(tmp_path, '"name" "age"\n"1" "Ann" 31\n"2" "Bo" NA\n', "a.csv")
    assert list(table.columns) == ["row", "name", "age"]
    assert cells(table["age"]) == [31.0, None]
    assert "a.csv: read with spaces between the cells" in notes.all


def test_one_column_of_words_stays_one(tmp_path):
    assert list(read(tmp_path, "First name\nAnn\nBo Lee Cy\n").columns) == ["First name"]


def test_a_point_that_may_part_thousands_is_told(tmp_path):
    with gathered() as notes:
        table = read(tmp_path, "a;b;c\n1.234;0.123;1.5\n2;0.456;2.25\n")
    assert cells(table["a"]) == [1.234, 2.0]
    assert notes.doubts == ["'a': cells like '1.234' are read with a decimal point; if that is 1234, write it so"]


def test_rows_with_too_few_cells_are_doubted(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,3\n1,2\n")
    with gathered() as notes:
        table = read_table(tmp_path / "t.csv")
    assert table["c"].isna().tolist() == [False, True]
    assert notes.doubts == ["t.csv: rows with fewer cells than the header lack the last ones"]
