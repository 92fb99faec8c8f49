"""Whom to label: gramme.ask against random choice, centrality, uncertainty and experimental design.

The command of docs/results/ask.csv is in docs/results/sources.csv; all strategies, predictors and graphs take about 15
minutes on one core:

    GRAMME_DATA=/folder/with/datasets python benchmarks/accuracy/ask.py --out docs/results/ask.csv

One half of the nodes can be asked, the other half is the test, for every strategy the same. Writes the summary per
graph, and beside it a table of means and ranks over the graphs (ask_ranks.csv).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from multilayer_sets import named

from gramme.evaluation.ask_benchmark import DEFAULT_PREDICTORS, ask_benchmark, strategy_ranks
from gramme.evaluation.ask_strategies import ASK_STRATEGIES

GRAPHS = "3sources,bbc,wikipedia,dkpol,bbc+2,ckm_social,leskovec_ng,congress_votes,mammography,wine"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="CSV to write")
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--strategies", default=",".join(ASK_STRATEGIES))
    parser.add_argument("--predictors", default=",".join(DEFAULT_PREDICTORS))
    parser.add_argument("--per-class", default="1,2")
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--ledger", type=Path, help="sqlite file to resume from")
    arguments = parser.parse_args()
    graphs = {name: named(name) for name in arguments.graphs.split(",")}
    with tempfile.TemporaryDirectory() as folder:
        table = ask_benchmark(
            graphs,
            arguments.strategies.split(","),
            out=arguments.ledger or Path(folder) / "ask.sqlite",
            predictors=arguments.predictors.split(","),
            per_class=[int(one) for one in arguments.per_class.split(",")],
            repeats=arguments.repeats,
            jobs=arguments.jobs,
            tell=lambda done, total: print(f"{done} of {total}", end="\r", flush=True),
        )
    table.to_csv(arguments.out, index=False, float_format="%.4g")
    ranks = strategy_ranks(table)
    ranks.to_csv(arguments.out.with_name(f"{arguments.out.stem}_ranks.csv"), index=False, float_format="%.4g")
    print(ranks.round(2).to_string(index=False))


if __name__ == "__main__":
    main()
