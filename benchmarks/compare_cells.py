"""A ledger's methods beside an earlier summary, cell by cell, to see whether new defaults cost accuracy anywhere.

The summary is what `gramme results LEDGER --format csv` prints. A method is compared with the one of the same name
there, or with another: `gramme-fusion=gramme-fusion-paper`. Both are means over the same splits, realisation r with
seed r. The last columns have the best other method of both, and the rank among all.

gramme benchmark --datasets vickers_chan,leskovec_ng,ckm_social,balance_scale,congress_votes,mammography \
    --methods gramme-auto,gramme-fusion --train 10,20,30 --repeats 20 --out cells.sqlite
python benchmarks/compare_cells.py cells.sqlite docs/reproduction/results.csv \
    --methods gramme-auto,gramme-fusion=gramme-fusion-paper
"""

from __future__ import annotations

import argparse

import pandas as pd

from gramme.evaluation import Ledger

CELL = ["dataset", "train_percent"]


def cells(runs: pd.DataFrame, method: str) -> pd.DataFrame:
    """Mean accuracy, calibration error and CPU seconds of a method in each cell of a ledger."""
    grouped = runs[(runs["method"] == method) & (runs["status"] == "done")].groupby(CELL)
    return pd.DataFrame(
        {
            "realisations": grouped.size(),
            "now": 100 * grouped["accuracy"].mean(),
            "calibration error": 100 * grouped["calibration_error"].mean(),
            "CPU s": grouped["cpu_seconds"].mean(),
        }
    )


def compared(runs: pd.DataFrame, summary: pd.DataFrame, method: str, earlier: str) -> pd.DataFrame:
    """A row per cell: the method now, what it had, the best other method, and the rank among all."""
    table = cells(runs, method)
    before = summary[summary["method"] == earlier].set_index(CELL)["accuracy_mean"]
    table.insert(2, "before", before.reindex(table.index))
    table.insert(3, "difference", table["now"] - table["before"])
    others = {name: cells(runs, name)["now"] for name in runs["method"].unique() if name != method}
    for name, rows in summary[summary["method"] != method].groupby("method"):
        others.setdefault(name, rows.set_index(CELL)["accuracy_mean"])
    wide = pd.DataFrame(others).reindex(table.index)
    table["best other"] = wide.idxmax(axis=1)
    table["its accuracy"] = wide.max(axis=1)
    ranks = wide.assign(**{method: table["now"]}).round(6).rank(axis=1, ascending=False)
    table["rank"] = ranks[method]
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ledger")
    parser.add_argument("summary")
    parser.add_argument("--methods", default="gramme-auto")
    arguments = parser.parse_args()
    with Ledger(arguments.ledger, create=False) as ledger:
        runs = ledger.runs()
    summary = pd.read_csv(arguments.summary)
    for pair in arguments.methods.split(","):
        method, _, earlier = pair.partition("=")
        table = compared(runs, summary, method, earlier or method)
        print(f"\n{method}, before: {earlier or method}\n")
        print("| dataset | % | " + " | ".join(table) + " |")
        print("|---" * (table.shape[1] + 2) + "|")
        for (dataset, percent), row in table.round(2).iterrows():
            print(f"| {dataset} | {percent:g} | " + " | ".join(map(str, row)) + " |")
        print(
            f"\nmean over {len(table)} cells: {table['now'].mean():.2f}, before "
            f"{table['before'].mean():.2f}; lowest difference {table['difference'].min():.2f}; "
            f"mean calibration error {table['calibration error'].mean():.1f} %"
        )
        by_percent = table.groupby(level="train_percent")["rank"].mean().round(1)
        print("mean rank by percentage: " + " / ".join(map(str, by_percent)))


if __name__ == "__main__":
    main()
