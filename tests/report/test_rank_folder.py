import json

import pandas as pd
import pytest
from tests.ranking.families import florentine_families

from gramme.errors import DataError
from gramme.ranking import layer_influences, rank
from gramme.report.rank_folder import write_ranks


def test_a_ranking_is_written_whole_and_not_over_another(tmp_path):
    graph = florentine_families()
    ranks = rank(graph, ["degree"])
    given = {"seeds": None, "layers": layer_influences(graph), "config": {"data": "families"}}
    files = write_ranks(tmp_path / "out", graph, ranks, **given)
    assert files == ["config.json", "layers.csv", "ranks.csv", "report.html"]
    table = pd.read_csv(tmp_path / "out" / "ranks.csv")
    assert table["degree"].tolist() == ranks["degree"].tolist()
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["data"] == "families"
    assert "gramme" in config["versions"]
    with pytest.raises(DataError, match="exists already"):
        write_ranks(tmp_path / "out", graph, ranks, **given)
