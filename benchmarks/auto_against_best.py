"""GrammeAuto beside the best other method in every cell of a ledger, over the realisations both have.

Prints one line per dataset and percentage.

python benchmarks/auto_against_best.py build/paper/results.sqlite
"""

from __future__ import annotations

import argparse

import pandas as pd

from gramme.evaluation import Ledger


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ledger")
    with Ledger(parser.parse_args().ledger, create=False) as ledger:
        runs = ledger.runs()
    runs = runs[runs["status"] == "done"]
    rows = []
    for (dataset, percent), mine in runs[runs["method"] == "gramme-auto"].groupby(
        ["dataset", "train_percent"]
    ):
        others = runs[
            (runs["dataset"] == dataset)
            & (runs["train_percent"] == percent)
            & (runs["method"] != "gramme-auto")
            & runs["realisation"].isin(mine["realisation"])
        ]
        counts = others.groupby("method")["accuracy"].count()
        means = others.groupby("method")["accuracy"].mean()[counts == len(mine)]
        best = means.idxmax()
        own = 100 * mine["accuracy"].mean()
        rows.append(
            {
                "dataset": dataset,
                "%": f"{percent:g}",
                "realisations": len(mine),
                "gramme-auto": own,
                "best other": best,
                "its accuracy": 100 * means[best],
                "difference": own - 100 * means[best],
                "calibration error": 100 * mine["calibration_error"].mean(),
            }
        )
    table = pd.DataFrame(rows).round(2)
    print("| " + " | ".join(table) + " |")
    print("|---" * table.shape[1] + "|")
    for row in table.itertuples(index=False):
        print("| " + " | ".join(map(str, row)) + " |")
    print(f"\nmean calibration error: {table['calibration error'].mean():.1f} %")


if __name__ == "__main__":
    main()
