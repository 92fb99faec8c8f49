"""The tables of README and docs/evidence/reproduction.md, each made from a CSV file of docs/reproduction.

``benchmarks/numbers_of_pages.py`` puts them between the marks of the pages; every script of this folder calls
:func:`refresh` when it has written its files.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
from shared import RESULTS
from write_table import ATTENTION, BASELINES, DATASETS, PAPER, blocks

sys.path.append(str(Path(__file__).resolve().parents[1]))
import numbers_of_pages


def refresh(out: Path, *written: str) -> None:
    """Say how the files were made and renew the pages, where the files are those that they show."""
    if out == RESULTS:
        for name in written:
            numbers_of_pages.note(
                out / name, shlex.join(["python", "benchmarks/paper/" + Path(sys.argv[0]).name, *sys.argv[1:]])
            )
        numbers_of_pages.render_all()


def tables(folder: Path) -> dict[str, str]:
    """Every table that the files of a folder allow, by name."""
    made: dict[str, str] = {}
    if (folder / "results.csv").is_file():
        made |= blocks(pd.read_csv(folder / "results.csv"))
    for name, (file, make) in MADE.items():
        if (folder / f"{file}.csv").is_file():
            made[name] = make(pd.read_csv(folder / f"{file}.csv"))
    return made


def grid(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; all but its first column to the right."""
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def differences(table: pd.DataFrame) -> str:
    """Ours minus the paper's, in points, at each percentage."""
    known = table.dropna(subset=["minus_paper"])
    methods = [name for name in PAPER if name in set(known["method"])]
    rows = []
    for dataset, part in known.groupby("dataset", sort=False):
        cells = part.sort_values("train_percent").groupby("method")["minus_paper"]
        shown = cells.agg(lambda values: ", ".join(f"{one:+.1f}" for one in values))
        rows.append([str(dataset), *(shown.get(method, "–") for method in methods)])
    return grid(["dataset", *methods], rows)


def lead(table: pd.DataFrame) -> str:
    """The better attention model minus the best of the paper's five baselines: ours, and in brackets the paper's."""
    rows = []
    for dataset, part in table.groupby("dataset", sort=False):
        cells = [str(dataset)]
        for _, here in part.groupby("train_percent"):
            mine = here.set_index("method")
            ours = [name for name in ATTENTION if name in mine.index]
            if not ours or not set(BASELINES) <= set(mine.index):
                cells.append("–")
                continue
            gaps = [
                mine[column].reindex(ours).max() - mine[column].reindex(list(BASELINES)).max()
                for column in ("accuracy_mean", "paper_accuracy")
            ]
            cells.append("{:+.1f} ({:+.1f})".format(*gaps))
        rows.append(cells)
    percents = sorted(set(table["train_percent"]))
    return grid(["dataset", *(f"{one:g} %" for one in percents)], rows)


def cora(table: pd.DataFrame) -> str:
    """Both methods beside the paper's figures."""
    rows = [
        [
            row["method"],
            f"{row['test_accuracy_mean']:.2f} ± {row['test_accuracy_std']:.2f}",
            f"{row['paper_accuracy']:.1f}",
            str(row["seeds"]),
            f"{row['cpu_seconds_mean']:.0f}",
        ]
        for row in table.to_dict("records")
    ]
    return grid(["", "test accuracy (%)", "paper", "seeds", "CPU s a run"], rows)


def convergence(table: pd.DataFrame) -> str:
    """The last epoch, and the mean of each realisation's best epoch."""
    rows = []
    for percent, part in table.groupby("train_percent"):
        last = part.sort_values("epoch").iloc[-1]
        rows.append(
            [
                f"{percent:g} %",
                f"{last['loss_mean']:.3f}",
                f"{100 * last['accuracy_mean']:.1f}",
                f"{100 * last['monitor_accuracy_mean']:.1f}",
                f"{100 * last['peak_mean']:.1f}",
            ]
        )
    head = ["labels", "loss at the end", "training (%)", "test (%)", "test, peak (%)"]
    return grid(head, rows)


def agreement(table: pd.DataFrame) -> str:
    """How many of the nearest nodes have a node's class."""
    rows = [[row["dataset"], row["when"], f"{100 * row['agreement']:.1f}"] for row in table.to_dict("records")]
    return grid(["dataset", "columns", "nearest nodes of the same class (%)"], rows)


def by_dataset(*names: str, peak: bool = False) -> Callable[[pd.DataFrame], str]:
    """A row for each variant, a column for each dataset: mean ± half the width of the 95 % interval."""

    def made(table: pd.DataFrame) -> str:
        datasets = list(dict.fromkeys(table["dataset"]))
        rows = []
        for key, part in table.groupby(list(names), sort=False):
            mine = part.set_index("dataset").loc[datasets]
            more = [f" / {one:.1f}" if peak else "" for one in mine["peak_mean"]]
            cells = [
                f"{mean:.1f} ± {reach:.1f}{top}"
                for mean, reach, top in zip(mine["accuracy_mean"], mine["accuracy_ci95"], more, strict=True)
            ]
            rows.append([", ".join(str(one) for one in key), *cells])
        return grid([", ".join(names).replace("_", " "), *datasets], rows)

    return made


def noise(table: pd.DataFrame) -> str:
    """A row for each number of noise layers."""
    methods = list(dict.fromkeys(table["method"]))
    rows = []
    for count, part in table.groupby("noise_layers"):
        mine = part.set_index("method")
        cells = [f"{mine.loc[one, 'accuracy_mean']:.1f} ± {mine.loc[one, 'accuracy_ci95']:.1f}" for one in methods]
        rows.append([str(count), *cells])
    return grid(["noise layers", *methods], rows)


def growth(table: pd.DataFrame) -> str:
    """By how much time and memory grow when the size grows from the middle of a sweep to its end."""
    rows = []
    for (swept, method), part in table.groupby(["swept", "method"], sort=False):
        x = "edges" if swept == "degree" else str(swept)
        part = part.sort_values(x)
        start, end = part.iloc[len(part) // 2], part.iloc[-1]
        rows.append(
            [
                f"{x}, {method}",
                f"{start[x]:,.0f} to {end[x]:,.0f}",
                *(f"{end[one] / start[one]:.1f}" for one in ("cpu_seconds", "formula", "memory")),
            ]
        )
    return grid(["", "from, to", "CPU time ×", "paper's formula ×", "memory ×"], rows)


def readme(table: pd.DataFrame) -> str:
    """Accuracy at the smallest and the largest percentage, a column for each method of README."""
    methods = [name for name in README_METHODS if name in set(table["method"])]
    percents = table["train_percent"].min(), table["train_percent"].max()
    rows = []
    for dataset in [name for name in DATASETS if name in set(table["dataset"])]:
        mine = table[table["dataset"] == dataset].set_index(["method", "train_percent"])["accuracy_mean"]
        cells = [
            " / ".join("–" if pd.isna(mine.get((method, one))) else f"{mine[method, one]:.1f}" for one in percents)
            for method in methods
        ]
        rows.append([dataset, *cells])
    return grid(["dataset", *methods], rows)


def untouched(table: pd.DataFrame) -> str:
    """Realisations from 100 on, at the smallest percentage: mean ± half of its 95 % interval, and how many."""
    table = table[table["train_percent"] == table["train_percent"].min()]
    methods = list(dict.fromkeys(table["method"]))
    rows = []
    for dataset, part in table.groupby("dataset", sort=False):
        mine = part.set_index("method")
        cells = [
            f"{row['accuracy_mean']:.1f} ± {row['accuracy_ci95']:.1f} ({row['repeats']:.0f})" if row else "–"
            for method in methods
            for row in [mine.to_dict("index").get(method, {})]
        ]
        rows.append([str(dataset), *(cell.replace("± nan ", "") for cell in cells)])
    return grid(["dataset", *methods], rows)


README_METHODS = ("gramme-auto", "gramme-fusion", "label-propagation", "one-hot-logistic", "line", "deepwalk")
MADE: dict[str, tuple[str, Callable[[pd.DataFrame], str]]] = {
    "readme": ("untouched", readme),
    "untouched": ("untouched", untouched),
    "differences": ("results", differences),
    "lead": ("results", lead),
    "cora": ("cora", cora),
    "convergence": ("convergence", convergence),
    "agreement": ("tsne_agreement", agreement),
    "features": ("ablation_features", by_dataset("features")),
    "heads": ("ablation_heads", by_dataset("combined", "heads")),
    "architecture": ("ablation_architecture", by_dataset("method", "architecture", peak=True)),
    "score": ("ablation_score", by_dataset("score")),
    "leak": ("ablation_leak", by_dataset("method")),
    "noise": ("ablation_noise", noise),
    "growth": ("scaling", growth),
}
