import sys

import numpy as np
import pandas as pd
import pytest
from tests.datasets.countries import COUNTRIES, table, variant_headers

from gramme.datasets import load
from gramme.datasets.recipes.countries import PILLARS, plain_name, read_countries
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


@pytest.mark.parametrize("suffix", ["xlsx", "csv"])
def test_one_layer_per_pillar(tmp_path, suffix):
    path = tmp_path / f"table.{suffix}"
    frame = table()
    write = frame.to_excel if suffix == "xlsx" else frame.to_csv
    write(path, index=False)
    graph = load("reinnovation", path=path, neighbours=3)
    assert graph.num_nodes == COUNTRIES
    assert list(graph.layers) == list(PILLARS)
    assert graph.classes == ["1", "2", "3"]
    assert graph.nodes[4] == "Country 4"
    for pillar, layer in graph.layers.items():
        scores = frame[pillar].to_numpy()
        assert (layer.degrees() >= 3).all()
        nearest = np.argsort(np.abs(scores - scores[0]), kind="stable")[1]
        assert nearest in layer.neighbours(0)[0]


def test_a_country_without_a_score_is_absent_from_that_layer(tmp_path):
    frame = table().astype(object)
    frame.loc[3, "market size"] = "n/a"
    frame.loc[5, "innovation"] = None
    frame.loc[6, "Stage of development"] = None
    frame.to_csv(tmp_path / "table.csv", index=False)
    graph = load("reinnovation", path=tmp_path / "table.csv")
    assert np.flatnonzero(~graph.layers["market size"].present).tolist() == [3]
    assert np.flatnonzero(~graph.layers["innovation"].present).tolist() == [5]
    assert graph.labels[6] is None


def test_more_neighbours_than_countries_join_everybody(tmp_path):
    table().to_csv(tmp_path / "table.csv", index=False)
    graph = load("reinnovation", path=tmp_path / "table.csv", neighbours=500)
    assert graph.layers["innovation"].num_edges == COUNTRIES * (COUNTRIES - 1) // 2


def test_without_a_table_the_message_says_what_is_needed_and_where_to_get_it(monkeypatch, cache):
    monkeypatch.delenv("GRAMME_DATA", raising=False)
    with pytest.raises(DataError) as caught:
        load("reinnovation")
    message = str(caught.value)
    for words in ("country, stage of development", *PILLARS, "World Economic Forum", "path="):
        assert words in message
    assert str(cache / "reinnovation") in message
    with pytest.raises(DataError, match=r"there is no file nowhere\.xlsx.*World Economic Forum"):
        load("reinnovation", path="nowhere.xlsx")


def test_a_table_alone_in_the_data_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMME_DATA", str(tmp_path))
    folder = tmp_path / "reinnovation"
    folder.mkdir()
    table().to_csv(folder / "a.csv", index=False)
    assert load("reinnovation").num_nodes == COUNTRIES
    table().to_csv(folder / "b.csv", index=False)
    with pytest.raises(DataError, match=r"holds a\.csv, b\.csv: say which"):
        load("reinnovation")
