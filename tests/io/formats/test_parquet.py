"""The tables of csv, stored by column."""

from typing import ClassVar

import pandas as pd
import pytest
from tests.io.cases import FormatCase

from gramme.errors import FileFormatError
from gramme.io import read

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
        ({"from": ["a"], "to": ["b"]}, "no column 'source'"),
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
