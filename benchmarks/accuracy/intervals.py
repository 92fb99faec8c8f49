r"""Do the numbers that a fit states about itself hold: intervals, prediction sets, probabilities against hidden labels.

    GRAMME_DATA=... python benchmarks/accuracy/intervals.py --repeats 8 --runs build/intervals.csv \
        --methods label-propagation,one-hot-logistic,gramme-auto --out docs/results/intervals.csv

A method is fitted on a share of a dataset's labels. gramme-auto estimates its accuracy from that one fit, other
methods are cross-validated; the estimate with its 95 % interval, prediction sets of coverage 90 % (gramme-auto) and
probabilities are compared with the hidden labels, which serve for nothing else. With ``--nested N`` the first N splits
of a cell also get five-fold cross-validation of the whole. Realisations begin at ``--first``; splits whose labels miss
a class are passed over, since no estimate knows of a class that it has never seen. Every split is added to ``--runs``
as it is done; a second call goes on from there.

``--half choosing`` and ``--half testing`` name the datasets on which widths may be chosen and those that no choice
saw.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import gramme
from gramme.evaluation import cross_validate, fitted_estimate, random_split
from gramme.evaluation.estimate import CROSS_TESTED_VARIANCE
from gramme.evaluation.metrics import accuracy_interval, score
from gramme.evaluation.splits import Split
from gramme.methods import METHODS

HALVES = {
    "choosing": ("balance_scale", "ckm_social", "leskovec_ng", "wine", "digits"),
    "testing": ("congress_votes", "mammography", "vickers_chan", "acm_heco", "freebase_heco"),
}
COVERAGE = 0.9
RUN = [
    "dataset",
    "method",
    "train_percent",
    "seed",
    "labels",
    "to_predict",
    "tested",
    "truth",
    "estimate",
    "low",
    "high",
    "expected_coverage",
    "coverage",
    "set_size",
    "calibration_error",
    "nested",
    "nested_low",
    "nested_high",
]


def whole_splits(labels: np.ndarray, percent: float, count: int, first: int) -> Iterator[tuple[int, Split]]:
    """Splits whose training labels show every class, with their seeds."""
    splits = ((seed, random_split(labels, percent, seed)) for seed in range(first, first + 50 * count))
    return itertools.islice(((seed, split) for seed, split in splits if not split.missed), count)


def measured(graph: gramme.MultilayerGraph, method: str, split: Split, seed: int, nested: bool) -> dict[str, Any]:
    """One fit, and what it said about itself beside the truth."""
    assert graph.labels is not None
    new = METHODS[method].create(random_state=seed)
    if "progress" in new.get_params():
        new.set_params(progress=False)
    model = new.fit(graph, split.y)
    truth = graph.labels[split.test]
    probabilities = model.predict_proba()[split.test]
    own = model.has_out_of_fold
    estimate = fitted_estimate(model, split.y) if own else cross_validate(new, graph, split.y, random_state=seed)
    row: dict[str, Any] = {
        "labels": split.train.size,
        "to_predict": estimate.to_predict,
        "tested": len(estimate.labels),
        "truth": float((model.predict()[split.test] == truth).mean()),
        "calibration_error": score(truth, probabilities, model.classes_.tolist()).calibration_error,
    }
    if own:
        sets = model.predict_set(coverage=COVERAGE)[split.test]
        column = pd.Index(model.classes_).get_indexer(truth)
        row |= {
            "expected_coverage": model.expected_coverage(COVERAGE),
            "coverage": float(sets[np.arange(truth.size), column].mean()),
            "set_size": float(sets.sum(axis=1).mean()),
        }
    if estimate.accuracy is not None:
        row |= dict(zip(("estimate", "low", "high"), (estimate.accuracy, *estimate.interval), strict=True))
    if nested:
        whole = cross_validate(model, graph, split.y, random_state=seed)
        if whole.accuracy is not None:
            row |= dict(zip(("nested", "nested_low", "nested_high"), (whole.accuracy, *whole.interval), strict=True))
    return row


def with_wilson(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with Wilson's interval of as many tests, each counted by its worth: what was stated before."""
    rows = []
    row: Any
    for row in runs.itertuples():
        worth = 1 / (CROSS_TESTED_VARIANCE + min(row.tested / row.to_predict, 1.0))
        rows.append(accuracy_interval(worth * round(row.estimate * row.tested), worth * row.tested))
    return runs.assign(wilson_low=[low for low, _ in rows], wilson_high=[high for _, high in rows])


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """A row per dataset, per half, per method and for all, in percent."""
    halves = {name: half for half, names in HALVES.items() for name in names}
    groups = [(name, part) for name, part in runs.groupby("dataset", sort=False)]
    groups += [(f"all by {name}", part) for name, part in runs.groupby("method", sort=False)]
    groups += [(f"all {half}", part) for half, part in runs.groupby(runs["dataset"].map(halves).fillna("other"))]
    rows = []
    for name, part in [*groups, ("all", runs)]:
        told = with_wilson(part[part["estimate"].notna()])
        holds = told["truth"].between(told["low"], told["high"])
        wilson = told["truth"].between(told["wilson_low"], told["wilson_high"])
        rows.append(
            {
                "dataset": name,
                "splits": len(told),
                "accuracy": 100 * told["truth"].mean(),
                "estimate_minus_accuracy": 100 * (told["estimate"] - told["truth"]).mean(),
                "interval_holds": 100 * holds.mean(),
                "interval_width": 100 * (told["high"] - told["low"]).mean(),
                "wilson_holds": 100 * wilson.mean(),
                "wilson_width": 100 * (told["wilson_high"] - told["wilson_low"]).mean(),
                "coverage_promised": 100 * told["expected_coverage"].mean(),
                "coverage": 100 * told["coverage"].mean(),
                "set_size": told["set_size"].mean(),
                "calibration_error": 100 * told["calibration_error"].mean(),
                "estimate_minus_nested": 100 * (told["estimate"] - told["nested"]).mean(),
            }
        )
    return pd.DataFrame(rows).round(2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=[*HALVES, "both"], default="both")
    parser.add_argument("--datasets", help="others than those of the halves")
    parser.add_argument("--methods", default="gramme-auto", help="with commas between them")
    parser.add_argument("--train", default="10,20,30", help="percent of the labels")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--first", type=int, default=100, help="the first realisation")
    parser.add_argument("--nested", type=int, default=0)
    parser.add_argument("--runs", type=Path, required=True, help="a CSV file, a line per split")
    parser.add_argument("--out", type=Path, help="where the summary goes as CSV")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    halves = HALVES.values() if chosen.half == "both" else [HALVES[chosen.half]]
    names = chosen.datasets.split(",") if chosen.datasets else [name for half in halves for name in half]
    if not chosen.runs.exists():
        chosen.runs.parent.mkdir(parents=True, exist_ok=True)
        chosen.runs.write_text(",".join(RUN) + "\n")
    done = {tuple(row) for row in pd.read_csv(chosen.runs)[RUN[:4]].to_numpy().tolist()}
    for name in names:
        graph = gramme.datasets.load(name)
        labels = np.asarray(graph.labels, dtype=object)
        for percent in map(int, chosen.train.split(",")):
            for number, (seed, split) in enumerate(whole_splits(labels, percent, chosen.repeats, chosen.first)):
                for method in chosen.methods.split(","):
                    if (name, method, percent, seed) in done:
                        continue
                    row = dict(zip(RUN, (name, method, percent, seed), strict=False))
                    row |= measured(graph, method, split, seed, number < chosen.nested)
                    with chosen.runs.open("a", newline="") as file:
                        csv.DictWriter(file, RUN).writerow(row)
    table = summary(pd.read_csv(chosen.runs))
    print(table.to_string(index=False))
    if chosen.out:
        table.to_csv(chosen.out, index=False)


if __name__ == "__main__":
    main()
