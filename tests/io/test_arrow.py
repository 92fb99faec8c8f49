"""Arrow columns as text."""

import pytest

from gramme.errors import FileFormatError
from gramme.io.spreadsheet import column_texts

arrow = pytest.importorskip("pyarrow")


def test_columns_as_text(tmp_path):
    table = arrow.table({"n": [1, None], "x": [2.0, 0.5], "t": ["a", ""], "b": [True, False]})
    path = tmp_path / "t.parquet"
    assert column_texts(table, "n", path, empty=True) == ["1", ""]
    assert column_texts(table, "x", path, empty=True) == ["2", "0.5"]
    assert column_texts(table, "t", path, empty=True) == ["a", ""]
    for name, message in (("n", "is empty in row 1"), ("x", "names are text or whole"), ("b", "holds True")):
        with pytest.raises(FileFormatError, match=message):
            column_texts(table, name, path)
