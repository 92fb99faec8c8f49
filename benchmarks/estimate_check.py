"""How far the accuracy that a fit tells of itself is from nested cross-validation, and from the truth.

GrammeAuto is fitted on some labels of a dataset. Its cross-fitted estimate (no further fit), five-fold cross-validation
of the whole (five further fits) and the accuracy on all nodes whose labels were hidden are compared. Printed per cell
and over all: means in percent, how often the estimates' 95 % intervals hold the truth, and the variance of the
difference to the truth in units of that of as many independent tests. The hidden labels are used for nothing else.
Splits whose labels miss a class are passed over: no estimate knows of a class that it has never seen.

    python benchmarks/estimate_check.py --repeats 2 --nested 1 --runs runs.csv

Each split is added to the file of runs as it is done; a second call goes on where the first ended, and ``--datasets``
and ``--train`` do a part at a time.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme import GrammeAuto, datasets
from gramme.evaluation import cross_validate, fitted_estimate, random_split
from gramme.evaluation.splits import Split
from gramme.methods.labels import aligned_labels

PAPER = "vickers_chan,leskovec_ng,ckm_social,balance_scale,congress_votes,mammography"
RUN = [
    "dataset",
    "train_percent",
    "seed",
    "truth",
    "fitted",
    "fitted_covers",
    "tests",
    "nested",
    "nested_covers",
]


QUICK = ("label-propagation", "one-hot-logistic", "spectral-logistic")


def whole_splits(
    graph: Any, percent: int, count: int, first: int = 0
) -> Iterator[tuple[int, Split]]:
    """The first splits whose training labels show every class, with their seeds."""
    labels = aligned_labels(graph)
    classes = {label for label in labels if label is not None}
    found = 0
    for seed in itertools.count(first):
        split = random_split(labels, percent, seed)
        shown = {label for label in split.y if label is not None}
        if found < count and shown == classes:
            found += 1
            yield seed, split
        elif found == count:
            return


def one_split(
    graph: Any, split: Split, seed: int, *, nested: bool, quick: bool
) -> dict[str, float]:
    """Truth, estimates and whether their intervals hold the truth, on one random split."""
    train = split.y
    ingredients = QUICK if quick else None
    model = GrammeAuto(random_state=seed, progress=False, ingredients=ingredients)
    model.fit(graph, train)
    right = model.predict()[split.test] == graph.labels[split.test]
    found = {"truth": float(right.mean())}
    estimates = {"fitted": fitted_estimate(model, train)}
    if nested:
        estimates["nested"] = cross_validate(model, graph, train, random_state=seed)
    for name, estimate in estimates.items():
        if estimate.accuracy is not None:
            low, high = estimate.interval
            found[name] = estimate.accuracy
            found[f"{name}_covers"] = float(low <= found["truth"] <= high)
            found["tests"] = len(estimate.labels)
    return found


def main() -> None:
    """Run what is missing, then print a line per cell and one for all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--datasets", default=PAPER)
    parser.add_argument("--train", default="10,20,30", help="percent of the labels")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument(
        "--nested", type=int, default=1, help="repeats with nested cross-validation"
    )
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="without attention")
    parser.add_argument("--runs", type=Path, required=True, help="a CSV file, a line per split")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if not asked.runs.exists():
        asked.runs.write_text(",".join(RUN) + "\n")
    for name in filter(None, asked.datasets.split(",")):
        graph = datasets.load(name)
        for percent in map(int, asked.train.split(",")):
            splits = whole_splits(graph, percent, asked.repeats, asked.first_seed)
            for number, (seed, split) in enumerate(splits):
                key = {"dataset": name, "train_percent": percent, "seed": seed}
                done = pd.read_csv(asked.runs)
                if (done[list(key)] == list(key.values())).all(axis=1).any():
                    continue
                run = one_split(graph, split, seed, nested=number < asked.nested, quick=asked.quick)
                with asked.runs.open("a", newline="") as file:
                    csv.DictWriter(file, RUN).writerow(key | run)
    summary(pd.read_csv(asked.runs)).to_csv(sys.stdout, index=False, float_format="%.1f")


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """A row per cell and one for all, in percent."""
    cells = [
        (name, str(percent), mine)
        for (name, percent), mine in runs.groupby(["dataset", "train_percent"], sort=False)
    ]
    return pd.DataFrame([row(*cell) for cell in [*cells, ("all", "", runs)]])


def row(name: str, percent: str, runs: pd.DataFrame) -> dict[str, Any]:
    """The means of some runs, in percent."""
    tested = runs[runs["nested"].notna() & runs["fitted"].notna()]
    known = runs[runs["fitted"].notna()]

    def mean(values: Any) -> float:
        return 100 * float(np.mean(values)) if len(values) else np.nan

    return {
        "dataset": name,
        "train_percent": percent,
        "repeats": len(known),
        "truth": mean(known["truth"]),
        "fitted": mean(known["fitted"]),
        "fitted_minus_truth": mean(known["fitted"] - known["truth"]),
        "fitted_covers": mean(known["fitted_covers"]),
        "variance": float(np.mean((known["fitted"] - known["truth"]) ** 2 / _alone(known))),
        "nested_repeats": len(tested),
        "nested": mean(tested["nested"]),
        "fitted_minus_nested": mean(tested["fitted"] - tested["nested"]),
        "nested_covers": mean(tested["nested_covers"]),
    }


def _alone(runs: pd.DataFrame) -> pd.Series:
    """The variance of an accuracy from independent tests, of one more at least: it is never 0."""
    truth = runs["truth"].clip(upper=1 - 1 / (runs["tests"] + 1))
    variance: pd.Series = truth * (1 - truth) / runs["tests"]
    return variance


if __name__ == "__main__":
    main()
