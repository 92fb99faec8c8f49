import sys

import numpy as np
import pandas as pd
import pytest
from tests.datasets.countries import table, variant_headers

from gramme.datasets.country_table import PILLARS, plain_name, read_countries
from gramme.errors import DataError, FileFormatError, MissingExtraError


def test_titles_other_sheets_and_other_spellings_do_not_matter(tmp_path):
    plain, fancy = tmp_path / "plain.csv", tmp_path / "fancy.xlsx"
    table().to_csv(plain, index=False)
    with pd.ExcelWriter(fancy) as writer:
        pd.DataFrame({"About": ["notes"]}).to_excel(writer, sheet_name="Read me", index=False)
        variant_headers(table()).to_excel(writer, sheet_name="Data", index=False, startrow=4)
    one, other = read_countries(fancy), read_countries(plain)
    assert one.countries == other.countries
    assert one.stages == other.stages
    assert all(np.array_equal(one.scores[pillar], other.scores[pillar]) for pillar in PILLARS)


def test_a_missing_column_is_named(tmp_path):
    path = tmp_path / "table.csv"
    table().drop(columns=["market size", "Country"]).to_csv(path, index=False)
    with pytest.raises(FileFormatError, match=r"row 1 of the file, lacks: country, market size"):
        read_countries(path)


def test_a_bad_score_is_named_with_its_line(tmp_path):
    frame = table().astype(object)
    frame.loc[3, "market size"] = "big"
    frame.to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(FileFormatError, match=r"line 5: 'big' is not a score in 'market size'"):
        read_countries(tmp_path / "table.csv")


@pytest.mark.parametrize("suffix", [".xlsx", ".csv", ".doc"])
@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff\x00\n\x80", b"PK\x03\x04"])
def test_nonsense_is_one_clear_error(tmp_path, suffix, content):
    path = tmp_path / f"table{suffix}"
    path.write_bytes(content)
    with pytest.raises(DataError, match="table"):
        read_countries(path)


def test_a_workbook_without_the_extra(tmp_path, monkeypatch):
    table().to_excel(tmp_path / "table.xlsx", index=False)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"gramme\[excel\]"):
        read_countries(tmp_path / "table.xlsx")


@pytest.mark.parametrize(
    "cell",
    [
        "Goods market efficiency",
        "6th pillar: Goods market efficiency",
        "Pillar 6 Goods market efficiency",
        "6. Goods market efficiency (score)",
        "F) Goods Market Efficiency, 1-7 (best)",
        "6 goods_market_efficiency",
    ],
)
def test_plain_names(cell):
    assert plain_name(cell) == "goodsmarketefficiency"
