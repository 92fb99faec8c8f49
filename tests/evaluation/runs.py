"""Runs made up for the tests of ledger and tables, and what two ledgers must have in common."""

from typing import Any

import pandas as pd

from gramme.evaluation import RunResult, RunSpec
from gramme.evaluation.metrics import Scores
from gramme.evaluation.run import Cost
from gramme.methods import Majority

# The columns other programs rely on.
CONTRACT = [
    "dataset",
    "method",
    "train_percent",
    "repeats",
    "accuracy_mean",
    "accuracy_std",
    "accuracy_ci95",
    "peak_mean",
    "macro_f1_mean",
    "cpu_seconds_mean",
    "paper_accuracy",
]
# What may differ between two runs of the same thing.
CHANGING = ["cpu_seconds", "wall_seconds", "peak_memory", "recorded"]


def spec(method: str = "majority", realisation: int = 0, **changes: Any) -> RunSpec:
    values: dict[str, Any] = {
        "dataset": "wine",
        "dataset_checksum": "0" * 64,
        "method": method,
        "estimator": Majority,
        "parameters": {},
        "settings": "{}",
        "settings_hash": "abc",
        "changed": "",
        "percent": 10.0,
        "realisation": realisation,
    }
    return RunSpec(**(values | changes))


def done(one: RunSpec, accuracy: float = 0.5, peak: float | None = None) -> RunResult:
    return RunResult(
        one,
        "done",
        scores=Scores(accuracy, accuracy / 2, 0.7, 0.1),
        peak_accuracy=peak,
        train_nodes=10,
        test_nodes=90,
        classes=2,
        cost=Cost(1.5, 2.0, 1 << 28),
    )


def failed(one: RunSpec, error: str = "no luck") -> RunResult:
    return RunResult(one, "failed", error=error)


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """Two ledgers' runs are equal, bit for bit, but for times."""
    pd.testing.assert_frame_equal(one.drop(columns=CHANGING), other.drop(columns=CHANGING), check_exact=True)
