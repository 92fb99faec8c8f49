"""Tables and rank figures from the runs of the results table."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from gramme.errors import DataError
from gramme.evaluation import rank_methods, summarise
from gramme.methods import names as method_names
from gramme.report.benchmark_tables import write_critical_difference

BASELINES = ("deepwalk", "node2vec", "line", "pmne-r", "mne")
# With the paper's settings; and gramme's defaults of 2026 from random features alone, where a file has these rows.
ATTENTION = ("gramme-sg-paper", "gramme-fusion-paper", "gramme-sg-random", "gramme-fusion-random")
PAPER = (*BASELINES, *ATTENTION)
OURS = (
    "gramme-sg-authors",
    "gramme-fusion-authors",
    "gramme-sg",
    "gramme-fusion",
    "gramme-auto",
    "label-propagation",
    "one-hot-logistic",
    "majority",
)
ORDER = [*PAPER, *OURS, *(name for name in method_names() if name not in PAPER + OURS)]
DATASETS = [
    "vickers_chan",
    "congress_votes",
    "leskovec_ng",
    "reinnovation",
    "mammography",
    "ckm_social",
    "balance_scale",
]
PERCENTS = (10.0, 20.0, 30.0)


def write_all(runs: pd.DataFrame, out: Path) -> None:
    """Write results.csv, results.md, ranks.csv and the rank figures."""
    table = summary(runs)
    table.to_csv(out / "results.csv", index=False, float_format="%.4f")
    (out / "results.md").write_text(markdown(table), encoding="utf-8")
    ranks(runs, out)


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per dataset, method and percentage, with the difference from the paper.

    A method with fewer realisations than others
    takes no part in the paired tests: with three of them no test could find anything, and nobody would be marked as
    best.
    """
    here = runs[runs["changed"] == ""]
    place = ["dataset", "train_percent"]
    count = here[here["status"] == "done"].groupby([*place, "method"]).size()
    most = count.groupby(level=place).transform("max")
    short = set(count[count < most].index)
    keys = zip(*(here[name] for name in (*place, "method")), strict=True)
    is_short = pd.Series([key in short for key in keys], index=here.index, dtype=bool)
    parts = [summarise(here[~is_short])]
    if is_short.any():
        parts.append(summarise(here[is_short]).assign(best=False, level_with_best=False))
    table = pd.concat(parts, ignore_index=True).drop(columns="settings")
    table["minus_paper"] = table["accuracy_mean"] - table["paper_accuracy"]
    known = DATASETS + sorted(set(table["dataset"]) - set(DATASETS))
    order = table.assign(place=table["dataset"].map(known.index), rank=table["method"].map(ORDER.index)).sort_values(
        ["place", "train_percent", "rank"]
    )
    return table.loc[order.index].reset_index(drop=True)


def markdown(table: pd.DataFrame) -> str:
    """All datasets, one after the other."""
    made = blocks(table)
    lines = [
        "# The results table",
        "",
        "Written by `python benchmarks/paper/table.py`; all columns are in results.csv.",
        "",
        LEGEND,
    ]
    for name, block in made.items():
        lines += ["", f"## {name}", "", block]
    return "\n".join(lines) + "\n"


LEGEND = (
    "Accuracy in percent: mean ± standard deviation over the realisations; for methods with epochs the optimistic peak "
    "after a slash; in brackets the paper's figure. **Bold**: better than every other method by the paired "
    "t-test, Holm-corrected, p < 0.05. CPU s: one fit at the smallest percentage on one thread, with its embedding."
)


def blocks(table: pd.DataFrame) -> dict[str, str]:
    """A Markdown table for each dataset."""
    return {str(name): _block(part) for name, part in table.groupby("dataset", sort=False) if len(part)}


def _block(part: pd.DataFrame) -> str:
    percents = sorted(set(part["train_percent"]))
    head = ["method", *(f"{percent:g} %" for percent in percents), "realisations", "CPU s"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for method in dict.fromkeys(part["method"]):
        mine = part[part["method"] == method].set_index("train_percent")
        cells = [_cell(mine.loc[one]) if one in mine.index else "" for one in percents]
        counts = sorted(set(mine["repeats"]))
        shown = "–".join(str(one) for one in dict.fromkeys((counts[0], counts[-1])))
        cost = mine["cpu_seconds_mean"].iloc[0]
        lines.append("| " + " | ".join([method, *cells, shown, f"{cost:.1f}"]) + " |")
    return "\n".join(lines)


def _cell(row: pd.Series) -> str:
    if not row["repeats"]:
        return "failed"
    mean = f"{row['accuracy_mean']:.1f}"
    spread = "" if math.isnan(row["accuracy_std"]) else f" ± {row['accuracy_std']:.1f}"
    peak = "" if math.isnan(row["peak_mean"]) else f" / {row['peak_mean']:.1f}"
    paper = "" if math.isnan(row["paper_accuracy"]) else f" ({row['paper_accuracy']:.1f})"
    return (f"**{mean}**" if row["best"] else mean) + spread + peak + paper


def ranks(runs: pd.DataFrame, out: Path) -> None:
    """Average ranks at each percentage, of the methods that were run on every dataset, and a figure for each."""
    done = runs[(runs["status"] == "done") & (runs["changed"] == "")]
    rows = []
    for percent in sorted(set(done["train_percent"])):
        here = done[done["train_percent"] == percent]
        everywhere = here.groupby("method")["dataset"].nunique() == here["dataset"].nunique()
        wanted = [name for name in ORDER if everywhere.get(name, False)]
        try:
            ranking = rank_methods(here[here["method"].isin(wanted)], percent)
        except DataError:
            continue  # one dataset or one method so far
        write_critical_difference(
            ranking,
            out / f"ranks_{percent:g}.png",
            f"Average rank of the methods with {percent:g} % of the labels (1 is best)",
        )
        rows += [
            {
                "train_percent": percent,
                "method": method,
                "average_rank": rank,
                "datasets": ranking.datasets,
                "critical_difference": ranking.critical_difference,
                "friedman_p": ranking.p_value,
            }
            for method, rank in zip(ranking.methods, ranking.ranks, strict=True)
        ]
    pd.DataFrame(rows).to_csv(out / "ranks.csv", index=False, float_format="%.4g")
