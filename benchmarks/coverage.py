"""How often prediction sets hold the true class: the promise of ``predict_set`` beside what is measured.

One row per dataset, method and percentage, the mean over random splits of all nodes outside the training labels.
``promised`` is what ``expected_coverage`` says before any of these labels is seen: 90 %, or more where the most
probable class alone is right more often than that. ``sets`` is the share of nodes whose set holds the true class,
``off`` its distance from the promise and ``error`` the standard error of that distance over the splits. ``size`` is the
mean number of classes in a set, ``no_promise`` the share of splits with too few labels to promise anything; their sets
hold all classes and count in no other column. With ``--ledger`` every split is kept in a file, and what is there is not
run again.

    python benchmarks/coverage.py --methods label-propagation,one-hot-logistic --repeats 20
    python benchmarks/coverage.py --methods gramme-auto --repeats 40 --ledger coverage.csv
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

import gramme
from gramme.evaluation import random_split
from gramme.methods import method
from gramme.methods.conformal import fewest_labels

DATASETS = "ckm_social,leskovec_ng,vickers_chan,balance_scale,congress_votes,mammography"
COLUMNS = "dataset,method,train_percent,splits,promised,sets,off,error,accuracy,size,no_promise"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default=DATASETS)
    parser.add_argument("--methods", default="label-propagation,one-hot-logistic")
    parser.add_argument("--train", default="10,20,30")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--coverage", type=float, default=0.9)
    parser.add_argument("--by-class", action="store_true")
    parser.add_argument("--ledger", type=Path)
    chosen = parser.parse_args()
    graphs = {name: gramme.datasets.load(name) for name in chosen.datasets.split(",")}
    cells = [
        (dataset, name, float(percent))
        for dataset in graphs
        for name in chosen.methods.split(",")
        for percent in chosen.train.split(",")
    ]
    asked = chosen.coverage, chosen.by_class
    done = Ledger(chosen.ledger)
    for number in range(chosen.repeats):  # all cells of a split before the next: each is a sample
        for cell in cells:
            key = done.key(*cell, number, *asked)
            if key not in done.rows:
                done.add(key, measured(graphs[cell[0]], *cell[1:], number, *asked))
    print(COLUMNS)
    for cell in cells:
        keys = [done.key(*cell, number, *asked) for number in range(chosen.repeats)]
        print(row(*cell, [done.rows[key] for key in keys]))


class Ledger:
    """What was measured, a line per split in a file if one is named."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: dict[str, tuple[float, ...] | None] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                key, _, values = line.partition(": ")
                self.rows[key] = tuple(map(float, values.split())) or None

    def key(self, *facts: object) -> str:
        return ",".join(map(str, facts))

    def add(self, key: str, found: tuple[float, ...] | None) -> None:
        self.rows[key] = found
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(f"{key}: {' '.join(map(repr, found or ()))}\n")


def measured(
    graph: gramme.MultilayerGraph,
    name: str,
    percent: float,
    number: int,
    coverage: float,
    by_class: bool,
) -> tuple[float, ...] | None:
    """The coverage promised and that of the sets, accuracy and mean size on one split; None without a promise."""
    split = random_split(graph.labels, percent, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = method(name).estimator(random_state=number).fit(graph, split.y)
        except gramme.DataError:  # a single class among the training labels
            return None
        if model.out_of_fold().nodes.size < fewest_labels(coverage):
            return None
        sets = model.predict_set(coverage=coverage, by_class=by_class)[split.test]
        promised = model.expected_coverage(coverage, by_class=by_class)
    place = {label: number for number, label in enumerate(model.classes_.tolist())}
    codes = np.array([place.get(label, -1) for label in graph.labels[split.test]])
    known, rows = (
        codes >= 0,
        np.arange(codes.size),
    )  # a class without any training label is in no set
    return (
        promised,
        float((sets[rows, codes] & known).mean()),
        float((model.predict()[split.test] == graph.labels[split.test]).mean()),
        float(sets.sum(axis=1).mean()),
    )


def row(dataset: str, name: str, percent: float, cell: list[tuple[float, ...] | None]) -> str:
    found = np.array([one for one in cell if one is not None])
    empty = 1 - len(found) / len(cell)
    if not len(found):
        return f"{dataset},{name},{percent:g},0,,,,,,,{empty:.2f}"
    promised, sets, accuracy, size = found.mean(axis=0)
    off = found[:, 1] - found[:, 0]
    error = off.std(ddof=1) / len(found) ** 0.5 if len(found) > 1 else float("nan")
    return (
        f"{dataset},{name},{percent:g},{len(found)},{100 * promised:.1f},{100 * sets:.1f},{100 * off.mean():+.1f},"
        f"{100 * error:.1f},{100 * accuracy:.1f},{size:.2f},{empty:.2f}"
    )


if __name__ == "__main__":
    main()
