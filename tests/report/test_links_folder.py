"""The folder of links holds what the model found, and replaces an earlier one only when told to."""

import json

import pandas as pd
import pytest
from tests.links.graphs import planted_links
from tests.links.short import short_fits

from gramme.errors import DataError
from gramme.links import GrammeLinks
from gramme.report.links_folder import write_links


def test_the_tables_are_the_models(tmp_path):
    with short_fits():
        model = GrammeLinks().fit(planted_links(30), layers=["talk"])
    found = model.candidates("talk", top=4)
    folder = tmp_path / "links"
    files = write_links(folder, model, found, config={"data": "friends"})
    assert files == sorted(path.name for path in folder.iterdir())
    written = pd.read_csv(folder / "links.csv")
    assert written["source"].tolist() == found["source"].tolist()
    assert written["why"].tolist() == found["why"].tolist()
    assert len(pd.read_csv(folder / "ingredients.csv")) == len(model.ingredients_)
    assert json.loads((folder / "config.json").read_text())["data"] == "friends"
    with pytest.raises(DataError, match="exists"):
        write_links(folder, model, found, config={})
    assert write_links(folder, model, found.head(1), config={}, overwrite=True) == files
    assert len(pd.read_csv(folder / "links.csv")) == 1
