"""Digits in six views: gramme-auto against models of the views side by side, with 1, 2 and 5 % of the labels.

    GRAMME_DATA=... python benchmarks/multiple_features.py [--splits 20] [--percent 1,2,5] [--out views.sqlite]

Runs by the harness (``gramme.evaluation.benchmark``): uniform random splits, seed r for split r, the same for all
methods, scored once on all other nodes, each run written to a ledger, so that a run that was killed goes on. The others
are scikit-learn's logistic regression, nearest neighbours (k of 1, 3 or 5 by cross-validation on the training labels
where there are enough) and gradient boosting, on the concatenated, standardised views. Prints a row per percentage and
method: splits, mean accuracy, its standard deviation, CPU seconds per fit, and in how many splits gramme-auto is ahead.
"""

from __future__ import annotations

import argparse
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from gramme.evaluation import Ledger, benchmark
from gramme.graph import MultilayerGraph
from gramme.methods import Method, NodeClassifier
from gramme.methods.labels import KnownLabels
from gramme.methods.params import Rule

OURS = "gramme-auto"


class ViewsSideBySide(NodeClassifier):
    """A scikit-learn model of the concatenated, standardised views."""

    parameter_rules: ClassVar[Mapping[str, Rule]] = {}

    @abstractmethod
    def model(self, labels: NDArray[Any]) -> Any:
        """The model for such training labels."""

    def _fit(self, graph: MultilayerGraph, known: KnownLabels, seed: int) -> NDArray[Any]:
        views = np.hstack(list(graph.layer_features.values())).astype(np.float64)
        views = (views - views.mean(axis=0)) / views.std(axis=0)
        model = self.model(known.codes).fit(views[known.nodes], known.codes)
        found = np.zeros((graph.num_nodes, len(known.classes)), dtype=np.float32)
        found[:, model.classes_] = model.predict_proba(views)
        return found


class Logistic(ViewsSideBySide):
    """Logistic regression with scikit-learn's default penalty."""

    def model(self, labels: NDArray[Any]) -> Any:
        return LogisticRegression(max_iter=2000)


class Nearest(ViewsSideBySide):
    """Nearest neighbours with a number that fits the labels there are."""

    def model(self, labels: NDArray[Any]) -> Any:
        if np.unique(labels, return_counts=True)[1].min() < 3:
            return KNeighborsClassifier(1)
        return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}, cv=3)


class Boosting(ViewsSideBySide):
    """Gradient boosting with scikit-learn's defaults."""

    def model(self, labels: NDArray[Any]) -> Any:
        return HistGradientBoostingClassifier(random_state=0)


OTHERS = {
    "logistic-regression": Method(
        "logistic-regression", Logistic, "logistic regression on all views"
    ),
    "nearest-neighbours": Method("nearest-neighbours", Nearest, "nearest neighbours in all views"),
    "gradient-boosting": Method("gradient-boosting", Boosting, "gradient boosting on all views"),
}


def table(runs: pd.DataFrame) -> pd.DataFrame:
    """A row per percentage and method."""
    done = runs[runs["status"] == "done"]
    wide = done.pivot(index=["train_percent", "realisation"], columns="method", values="accuracy")
    rows = []
    for (percent, name), mine in done.groupby(["train_percent", "method"]):
        pairs = wide.loc[percent, [OURS, name]].dropna() if OURS in wide and name != OURS else None
        rows.append(
            {
                "percent": percent,
                "method": name,
                "splits": len(mine),
                "accuracy_mean": round(mine["accuracy"].mean(), 4),
                "accuracy_std": round(mine["accuracy"].std(), 4),
                "cpu_seconds": round(mine["cpu_seconds"].mean(), 2),
                "gramme_auto_ahead": ""
                if pairs is None
                else f"{int((pairs[OURS] > pairs[name]).sum())} of {len(pairs)}",
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--percent", default="1,2,5")
    parser.add_argument("--methods", default=",".join([*OTHERS, OURS]))
    parser.add_argument("--out", default="views.sqlite")
    options = parser.parse_args()
    benchmark(
        ["multiple_features"],
        [OTHERS.get(name, name) for name in options.methods.split(",")],
        out=options.out,
        train=[float(one) for one in options.percent.split(",")],
        repeats=options.splits,
        jobs=1,
    )
    with Ledger(options.out, create=False) as ledger:
        print(table(ledger.runs()).to_csv(index=False), end="")


if __name__ == "__main__":
    main()
