"""Digits in six views: gramme-auto against models of the views side by side, with 1, 2 and 5 % of the labels.

    GRAMME_DATA=... python benchmarks/multiple_features.py [--splits 20] [--percent 1,2,5]

Uniform random splits, seed r for split r, the same for all; scored once on all other nodes. The others are
scikit-learn's logistic regression, nearest neighbours (k of 1, 3 or 5 by cross-validation on the training labels where
there are enough) and gradient boosting, on the concatenated, standardised views. Prints CSV: percent, method, splits,
accuracy mean and standard deviation, CPU seconds per fit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import gramme
from gramme import datasets

Labels = NDArray[np.object_]


def nearest(labels: Labels) -> KNeighborsClassifier | GridSearchCV:
    """Nearest neighbours with a number that fits the labels there are."""
    least = int(np.unique(labels, return_counts=True)[1].min())
    if least < 3:
        return KNeighborsClassifier(1)
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}, cv=3)


def side_by_side(make: Callable[[Labels], object]) -> Callable[..., Labels]:
    """A model of the concatenated, standardised views."""

    def predict(graph: gramme.MultilayerGraph, known: Labels, seed: int) -> Labels:
        views = np.hstack(list(graph.layer_features.values())).astype(np.float64)
        views = (views - views.mean(axis=0)) / views.std(axis=0)
        seen = np.array([label is not None for label in known])
        labels = known[seen].astype(int)
        model = make(labels)
        found: Labels = model.fit(views[seen], labels).predict(views)  # type: ignore[attr-defined]
        return found

    return predict


def auto(graph: gramme.MultilayerGraph, known: Labels, seed: int) -> Labels:
    """gramme-auto with its defaults."""
    found: Labels = gramme.GrammeAuto(random_state=seed, progress=False).fit(graph, known).predict()
    return found


METHODS: dict[str, Callable[..., Labels]] = {
    "gramme-auto": auto,
    "logistic-regression": side_by_side(lambda _: LogisticRegression(max_iter=2000)),
    "nearest-neighbours": side_by_side(nearest),
    "gradient-boosting": side_by_side(lambda _: HistGradientBoostingClassifier(random_state=0)),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--percent", default="1,2,5")
    parser.add_argument("--methods", default=",".join(METHODS))
    options = parser.parse_args()
    graph = datasets.load("multiple_features")
    truth = graph.labels
    assert truth is not None
    print("percent,method,splits,accuracy_mean,accuracy_std,cpu_seconds")
    for percent in map(float, options.percent.split(",")):
        for name in options.methods.split(","):
            scores, start = [], time.process_time()
            for split in range(options.splits):
                random = np.random.default_rng(split)
                count = round(graph.num_nodes * percent / 100)
                train = random.choice(graph.num_nodes, count, replace=False)
                known = np.full(graph.num_nodes, None, dtype=object)
                known[train] = truth[train]
                others = np.setdiff1d(np.arange(graph.num_nodes), train)
                right = METHODS[name](graph, known, split) == truth
                scores.append(float(np.mean(right[others])))
            spent = (time.process_time() - start) / options.splits
            row = (np.mean(scores), np.std(scores), spent)
            print(
                f"{percent:g},{name},{options.splits}," + ",".join(f"{x:.4f}" for x in row),
                flush=True,
            )


if __name__ == "__main__":
    main()
