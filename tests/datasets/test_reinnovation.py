import numpy as np
import pytest
from tests.datasets.countries import COUNTRIES, table

from gramme.datasets import load
from gramme.datasets.country_table import PILLARS
from gramme.errors import DataError


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
