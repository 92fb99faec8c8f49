"""How far the accuracy that a fit tells of itself is from nested cross-validation, and from the truth.

GrammeAuto is fitted on some labels of a dataset. Its cross-fitted estimate (no further fit), five-fold cross-validation
of the whole (five further fits) and the accuracy on all nodes whose labels were hidden are compared. Printed per cell:
means in percent, and how often the estimates' 95 % intervals hold the truth. The hidden labels are used for nothing
else.

    python benchmarks/estimate_check.py --datasets ckm_social,congress_votes --train 10,30 --repeats 4 --nested 2
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from typing import Any

import numpy as np

from gramme import GrammeAuto, datasets
from gramme.evaluation import cross_validate, fitted_estimate, random_split
from gramme.methods.labels import aligned_labels

PAPER = "ckm_social,leskovec_ng,vickers_chan,balance_scale,congress_votes,mammography"
COLUMNS = [
    "dataset",
    "train_percent",
    "repeats",
    "truth",
    "fitted",
    "fitted_minus_truth",
    "fitted_covers",
    "nested_repeats",
    "nested",
    "fitted_minus_nested",
    "nested_covers",
]


def one_split(graph: Any, percent: int, seed: int, nested: bool) -> dict[str, float]:
    """Truth, estimates and whether their intervals hold the truth, on one random split."""
    split = random_split(aligned_labels(graph), percent, seed)
    train = split.y
    model = GrammeAuto(random_state=seed, progress=False).fit(graph, train)
    right = model.predict()[split.test] == graph.labels[split.test]
    found = {"truth": float(right.mean())}
    estimates = {"fitted": fitted_estimate(model, train)}
    if nested:
        estimates["nested"] = cross_validate(model, graph, train, random_state=seed)
    for name, estimate in estimates.items():
        assert estimate.accuracy is not None
        found[name] = estimate.accuracy
        low, high = estimate.interval
        found[f"{name}_covers"] = float(low <= found["truth"] <= high)
    return found


def main() -> None:
    """Print a line per cell and one for all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--datasets", default=PAPER)
    parser.add_argument("--train", default="10,20,30", help="percent of the labels")
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument(
        "--nested", type=int, default=2, help="repeats with nested cross-validation"
    )
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    writer = csv.DictWriter(sys.stdout, COLUMNS)
    writer.writeheader()
    everything: list[dict[str, float]] = []
    for name in asked.datasets.split(","):
        graph = datasets.load(name)
        for percent in map(int, asked.train.split(",")):
            runs = [
                one_split(graph, percent, seed, nested=seed < asked.nested)
                for seed in range(asked.repeats)
            ]
            everything += runs
            writer.writerow(row(name, str(percent), runs))
            sys.stdout.flush()
    writer.writerow(row("all", "", everything))


def row(name: str, percent: str, runs: list[dict[str, float]]) -> dict[str, Any]:
    """The means of some runs, in percent."""
    tested = [run for run in runs if "nested" in run]

    def mean(values: list[float]) -> str:
        return f"{100 * float(np.mean(values)):.2f}" if values else ""

    return {
        "dataset": name,
        "train_percent": percent,
        "repeats": len(runs),
        "truth": mean([run["truth"] for run in runs]),
        "fitted": mean([run["fitted"] for run in runs]),
        "fitted_minus_truth": mean([run["fitted"] - run["truth"] for run in runs]),
        "fitted_covers": mean([run["fitted_covers"] for run in runs]),
        "nested_repeats": len(tested),
        "nested": mean([run["nested"] for run in tested]),
        "fitted_minus_nested": mean([run["fitted"] - run["nested"] for run in tested]),
        "nested_covers": mean([run["nested_covers"] for run in tested]),
    }


if __name__ == "__main__":
    main()
