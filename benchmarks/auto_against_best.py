"""GrammeAuto beside the best other method in every cell of a ledger, over the realisations both have.

Prints one line per dataset and percentage. The best of many methods on some splits owes a part of its lead to those
splits. The column *chosen elsewhere* has the difference without that part: the best other method is chosen on every
second realisation and compared with on the rest, both ways round. The standard error is that of the difference, paired
by realisation.

python benchmarks/auto_against_best.py build/paper/results.sqlite
"""

from __future__ import annotations

import argparse

import pandas as pd

from gramme.evaluation import Ledger


def chosen_elsewhere(accuracies: pd.DataFrame, ahead: pd.DataFrame) -> float:
    """How far ahead of the method that is best on the even realisations on the odd ones, and the other way round.

    NaN if there is one realisation only.
    """
    if len(accuracies) < 2:
        return float("nan")
    halves = [accuracies.index[start::2] for start in (0, 1)]
    found = [
        ahead.loc[there, accuracies.loc[here].mean().idxmax()].mean()
        for here, there in (halves, halves[::-1])
    ]
    return float(sum(found)) / 2


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
        wide = 100 * others.pivot_table(index="realisation", columns="method", values="accuracy")
        wide = wide.dropna(axis=1)
        means = wide.mean()
        best = means.idxmax()
        mine = mine.set_index("realisation").loc[wide.index]
        ahead = wide.rsub(100 * mine["accuracy"], axis=0)  # how far ahead of each method
        own = 100 * mine["accuracy"].mean()
        rows.append(
            {
                "dataset": dataset,
                "%": f"{percent:g}",
                "realisations": len(mine),
                "gramme-auto": own,
                "best other": best,
                "its accuracy": means[best],
                "difference": own - means[best],
                "standard error": ahead[best].std() / len(mine) ** 0.5,
                "chosen elsewhere": chosen_elsewhere(wide, ahead),
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
