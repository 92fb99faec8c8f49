"""The folder of a graph that no process holds: predictions in parts, in the names of all nodes."""

import json

import pandas as pd
import pytest
from tests.distributed.graphs import NODES, graph, parts_of
from tests.distributed.processes import together

from gramme.distributed import Communicator, read_part
from gramme.methods import LabelPropagation
from gramme.report.result_folders import fill_huge_folder

pytestmark = pytest.mark.distributed

# Told how to spread: what it would choose by itself is compared in tests/methods/test_gather.py.
TOLD = {"alpha": 0.6, "sharpness": 2.0, "layer_weights": "equal", "random_state": 0}


def filled(communicator: Communicator, folder, target) -> list[str]:
    part = read_part(folder, communicator)
    model = LabelPropagation(**TOLD).fit(part)
    return fill_huge_folder(target if communicator.first else None, model, part, {"method": "lp"})


def test_every_node_is_predicted_once(tmp_path):
    whole = graph("edges")
    target = tmp_path / "out"
    target.mkdir()
    files = together(3, filled, parts_of(whole, tmp_path, 3), target)
    assert files[1:] == [[], []]
    assert files[0] == ["config.json", "layers.csv", "predictions"]
    parts = sorted((target / "predictions").iterdir())
    assert [path.name for path in parts] == [f"part-{rank:04d}.csv" for rank in range(3)]
    table = pd.concat([pd.read_csv(path) for path in parts]).set_index("node")
    assert len(table) == NODES
    alone = LabelPropagation(**TOLD).fit(whole)
    expected = pd.DataFrame(alone.probabilities_, index=whole.nodes, columns=alone.classes_)
    for label in alone.classes_:
        assert table.loc[whole.nodes, label].to_numpy() == pytest.approx(expected[label].to_numpy(), abs=1e-4)
    assert "too large for one process" in json.loads((target / "config.json").read_text())["note"]
