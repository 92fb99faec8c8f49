import json

import numpy as np
import pytest

from gramme.errors import FileFormatError
from gramme.io.parsed import ReadReport, RowCollector


def test_a_report_survives_json():
    report = ReadReport("csv", ("a.csv",), 3, None, "undirected", {"l": 1}, {"l": 2}, ("a note",))
    facts = json.loads(json.dumps(report.as_dict()))
    assert facts.pop("files") == ["a.csv"]
    assert facts.pop("notes") == ["a note"]
    assert facts.pop("doubts") == []
    assert facts == {
        "format": "csv",
        "rows": 3,
        "id_base": None,
        "direction": "undirected",
        "self_loops_dropped": {"l": 1},
        "duplicates_merged": {"l": 2},
    }


def test_names_become_numbers_in_the_final_order(tmp_path):
    rows = RowCollector(tmp_path / "f")
    rows.add("b", "10", "9", None, 1)
    rows.add("a", "9", "11", None, 4)
    found = rows.finish()
    assert (found.layers, found.nodes) == (["b", "a"], ["9", "10", "11"])
    assert (found.layer.tolist(), found.source.tolist()) == ([0, 1], [1, 0])
    assert found.target.tolist() == [0, 2]
    assert found.weight is None
    assert (len(found), found.line_of(1)) == (2, 4)


def test_one_weight_makes_the_others_missing(tmp_path):
    rows = RowCollector(tmp_path / "f")
    rows.add("a", "x", "y", None, None)
    rows.add("a", "x", "z", "2.5", 2)
    found = rows.finish()
    assert np.isnan(found.weight[0])
    assert found.weight[1] == 2.5
    assert found.line_of(0) is None


def test_a_weight_that_is_none_names_file_and_line(tmp_path):
    with pytest.raises(FileFormatError, match=r"f, line 3: the weight is '-1'"):
        RowCollector(tmp_path / "f").add("a", "x", "y", "-1", 3)
