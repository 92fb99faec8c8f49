"""The tables of csv, stored by column."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from tests.io.cases import FormatCase

from gramme.errors import FileFormatError
from gramme.io import inspect, read
from gramme.io.spreadsheet import read_arrow

pytest.importorskip("pyarrow")


class TestParquet(FormatCase):
    format = "parquet"
    words: ClassVar = [b"PAR1", b"source", b"\x15\x00"]


def test_whole_numbers_become_text(tmp_path):
    table = pd.DataFrame({"layer": [1, 1], "source": [10, 9], "target": [9, 3], "weight": [0.5, 2]})
    table.to_parquet(tmp_path / "g.parquet")
    graph = read(tmp_path / "g.parquet")
    assert graph.nodes.tolist() == ["3", "9", "10"]
    assert list(graph.layers) == ["1"]
    assert graph.layers["1"].weight.tolist() == [2.0, 0.5]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"name": ["a"], "age": ["b"]}, "must name the columns source and target"),
        ({"source": [1.5], "target": [2.0]}, "names are text or whole numbers"),
        ({"source": ["a", None], "target": ["b", "c"]}, "'source' is empty in row 1"),
        ({"source": ["a"], "target": ["b"], "weight": [-1.0]}, "row 0: the weight"),
        ({"source": ["a"], "target": ["b"], "weight": ["x"]}, "row 0: the weight 'x'"),
    ],
)
def test_errors(tmp_path, columns, message):
    pd.DataFrame(columns).to_parquet(tmp_path / "g.parquet")
    with pytest.raises(FileFormatError, match=message):
        read(tmp_path / "g.parquet")


def test_rows_out_of_thin_air(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 3_000_000
    column = pa.array(["a"] * rows)
    pq.write_table(pa.table({"source": column, "target": column}), tmp_path / "g.parquet")
    assert (tmp_path / "g.parquet").stat().st_size < 20_000
    with pytest.raises(FileFormatError, match="3000000 rows are declared"):
        read(tmp_path / "g.parquet")


@pytest.mark.parametrize("dictionary", [False, True])
def test_a_long_text_that_repeats_is_not_unfolded(tmp_path, dictionary, monkeypatch):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("gramme.io.spreadsheet._SPARE_BYTES", 50_000_000)
    words = arrow.DictionaryArray.from_arrays(np.zeros(90_000, np.int32), ["x" * 10_000])
    table = arrow.table({"source": words})
    parquet.write_table(table, tmp_path / "t.parquet", store_schema=dictionary)
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    with pytest.raises(FileFormatError, match="bytes would unfold to more than"):
        read_arrow(tmp_path / "t.parquet")


def test_more_cells_than_the_file_can_hold(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    column = arrow.array(np.zeros(200_000, dtype=np.int8))
    table = arrow.table({f"c{number}": column for number in range(80)})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(FileFormatError, match="16000000 cells in"):
        read_arrow(tmp_path / "t.parquet")


def test_columns_are_found_by_their_names_as_in_csv(tmp_path):
    table = pd.DataFrame({"Ego": ["a", "b"], "Alter": ["b", "c"], "Relation": ["x", "y"], "note": ["p", "q"]})
    table.to_parquet(tmp_path / "g.parquet")
    table.to_csv(tmp_path / "g.csv", index=False)
    (graph, report), (same, told) = inspect(tmp_path / "g.parquet"), inspect(tmp_path / "g.csv")
    assert graph == same
    assert list(graph.layers) == ["x", "y"]
    assert [note.replace(".parquet", ".csv") for note in report.notes] == list(told.notes)


def test_gephis_directions_are_directions(tmp_path):
    table = pd.DataFrame({"Source": ["a", "b"], "Target": ["b", "c"], "Type": ["Directed", "Directed"]})
    table.to_parquet(tmp_path / "g.parquet")
    assert read(tmp_path / "g.parquet").layers["edges"].directed
