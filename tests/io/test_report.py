import json

from gramme.io.report import ReadReport


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
