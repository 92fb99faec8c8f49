import json

from gramme.datasets import DataFile, DatasetInfo


def test_a_record_survives_json():
    file = DataFile("folder", "name", 3, "abc", None)
    record = DatasetInfo("n", "t", "d", 1, 2, 3, "r", "c", "l", files=(file,), options={"k": "why"})
    facts = json.loads(json.dumps(record.as_dict()))
    (kept,) = facts["files"]
    assert (kept["folder"], kept["name"], kept["size"]) == ("folder", "name", 3)
    assert (kept["sha256"], kept["address"]) == ("abc", None)
    assert facts["options"] == {"k": "why"}
    assert (facts["nodes"], facts["embedded"], facts["caveat"]) == (1, False, "")
