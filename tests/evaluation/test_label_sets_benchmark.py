"""Several labels per node in the benchmark: scores, the ledger, resuming, failures, and the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score
from tests.cli.test_fit import run

from gramme.errors import DataError, GrammeWarning
from gramme.evaluation import Ledger, benchmark
from gramme.evaluation.splits import random_split
from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods import LabelPropagation, Method, MultiLabelClassifier

CODES = np.arange(60) % 4
TEXTS = ["even", "none", "even;high", "high"]
LABELS = np.array([TEXTS[code] if place < 56 else None for place, code in enumerate(CODES)], dtype=object)
GRAPH = MultilayerGraph({"club": MembershipLayer.from_codes(CODES)}, labels=LABELS)


def compare(out: Path, methods=("label-propagation", "majority"), **changes) -> pd.DataFrame:
    options = {"train": [30], "repeats": 2, "jobs": 1, "label_separator": ";"} | changes
    return benchmark({"people": GRAPH}, methods, out=out, **options)


def test_runs_have_the_scores_of_the_same_split_and_are_resumed(tmp_path: Path) -> None:
    out, started = tmp_path / "r.sqlite", []
    table = compare(out)
    assert table["metric"].tolist() == ["macro_f1"] * 2
    with Ledger(out, create=False) as ledger:
        runs = ledger.runs().set_index(["method", "realisation"])
    split = random_split(LABELS, 30, 1)
    model = MultiLabelClassifier(LabelPropagation(random_state=1)).fit(GRAPH, split.y, separator=";")
    truth = np.array([[name in LABELS[node].split(";") for name in model.classes_] for node in split.test])
    row = runs.loc[("label-propagation", 1)]
    assert row["micro_f1"] == pytest.approx(f1_score(truth, model.predict()[split.test], average="micro"))
    assert row["accuracy"] == pytest.approx((truth == model.predict()[split.test]).all(axis=1).mean())
    assert (row["classes"], row["train_nodes"], row["test_nodes"]) == (3, split.train.size, split.test.size)
    assert json.loads(row["settings"])["label_separator"] == ";"
    assert runs["log_loss"].isna().all()
    assert (runs["ranking_loss"] >= 0).all()
    again = compare(out, on_start=lambda specs, finished, _: started.append((len(specs), finished)))
    assert started == [(0, 4)]
    pd.testing.assert_frame_equal(again, table)
    plain = compare(out, label_separator=None)
    assert plain["metric"].tolist() == ["accuracy"] * 2, "whole texts as classes are another thing, never mixed with it"


def test_failed_runs_are_recorded_and_own_metrics_get_indicators(tmp_path: Path) -> None:
    def share_given(truth, predicted) -> float:
        assert truth.shape == predicted.shape == (39, 3)
        return float(predicted.mean())

    with pytest.warns(GrammeWarning, match="2 of 4 runs failed"):
        table = compare(
            tmp_path / "r.sqlite",
            [Method("broken", lambda **_: object.__new__(NotOurs), "fails"), "majority"],
            metric=share_given,
        )
    assert table.set_index("method")["failed"].to_dict() == {"broken": 2, "majority": 0}


class NotOurs:
    """What has the methods of an estimator and is none of ours."""

    def get_params(self) -> dict[str, object]:
        return {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": "log_loss"}, "log_loss is for nodes with one label"),
        ({"metric": "micro_f1", "label_separator": None}, "micro_f1 is for nodes with several labels"),
        ({"label_separator": ""}, "label_separator must be what stands between labels"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, changes: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        compare(tmp_path / "r.sqlite", **changes)
    assert not list(tmp_path.iterdir())


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = tmp_path / "people.csv", tmp_path / "r.sqlite"
    frame = {"id": [f"p{place}" for place in range(60)], "club": [f"c{code}" for code in CODES], "hobby": LABELS}
    pd.DataFrame(frame).to_csv(table, index=False)
    words = ["--datasets", table, "--table", "--id", "id", "--label", "hobby", "--jobs", "1", "--out", out]
    words += ["--methods", "majority,label-propagation", "--train", "30", "--repeats", "2"]
    assert run("benchmark", *words, "--label-separator", ";") == 0
    printed = capsys.readouterr().out
    assert "micro_f1_mean" in printed
    assert "accuracy is the share of nodes with all labels right" in printed
    assert run("results", out, "--metric", "ranking_loss", "--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["metric"] for row in rows} == {"ranking_loss"}
    assert run("report", out, "--out", tmp_path / "page.html") == 0
    assert "accuracy is the share of nodes with all labels right" in (tmp_path / "page.html").read_text()
    assert run("benchmark", "--task", "links", "--label-separator", ";", *words) == 2
