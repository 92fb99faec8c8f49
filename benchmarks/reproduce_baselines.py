"""The paper's baselines on three of its datasets, beside the paper's figures.

    python benchmarks/reproduce_baselines.py [--datasets a,b] [--methods x,y] [--repeats 20] [--set C=10]

For each dataset, method and training percentage: the mean accuracy over uniformly random splits, realisation r with
seed r, the paper's accuracy and the difference. The embedding has the seed 0 and comes from the cache for all
realisations. A training set of a single class predicts that class. Needs the data in $GRAMME_DATA or a network.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np

from gramme import datasets
from gramme.methods import method

PAPER_NAMES = {
    "deepwalk": "DeepWalk",
    "node2vec": "Node2Vec",
    "line": "LINE",
    "pmne-n": None,
    "pmne-r": "PMNE(r)",
    "pmne-c": None,
    "mne": "MNE",
}
PERCENTAGES = (10, 20, 30)


def paper_results(path: Path) -> dict[tuple[str, int, str], float]:
    if not path.is_file():
        return {}
    with path.open(newline="") as file:
        return {
            (row["dataset"], int(row["train_percent"]), row["method"]): float(row["accuracy"])
            for row in csv.DictReader(file)
        }


def accuracies(
    graph: Any, name: str, percent: int, repeats: int, settings: dict[str, Any]
) -> list[float]:
    truth = graph.labels
    found = []
    for realisation in range(repeats):
        order = np.random.default_rng(realisation).permutation(graph.num_nodes)
        known = order[: max(1, round(graph.num_nodes * percent / 100))]
        rest = np.setdiff1d(order, known)
        y = np.full(graph.num_nodes, None, dtype=object)
        y[known] = truth[known]
        classes = set(truth[known].tolist())
        if len(classes) == 1:
            guess = np.full(graph.num_nodes, classes.pop(), dtype=object)
        else:
            guess = method(name).estimator(random_state=0, **settings).fit(graph, y).predict()
        found.append(float(np.mean([guess[i] == truth[i] for i in rest])))
    return found


def value(text: str) -> Any:
    if text in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[text]
    return float(text) if "." in text else int(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="ckm_social,leskovec_ng,mammography")
    parser.add_argument("--methods", default=",".join(PAPER_NAMES))
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--paper", type=Path, default=Path("../shared/paper/results.csv"))
    parser.add_argument(
        "--set", action="append", default=[], help="a parameter, as C=10", metavar="NAME=VALUE"
    )
    options = parser.parse_args()
    settings = {name: value(text) for name, _, text in (one.partition("=") for one in options.set)}
    paper = paper_results(options.paper)
    print("| dataset | method | train % | accuracy | std | paper | difference | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for dataset in options.datasets.split(","):
        graph = datasets.load(dataset)
        for name in options.methods.split(","):
            for percent in PERCENTAGES:
                start = time.process_time()
                scores = 100 * np.array(accuracies(graph, name, percent, options.repeats, settings))
                spent = time.process_time() - start
                theirs = paper.get((dataset, percent, PAPER_NAMES.get(name) or ""))
                beside = (
                    "– | –" if theirs is None else f"{theirs:.2f} | {scores.mean() - theirs:+.2f}"
                )
                print(
                    f"| {dataset} | {name} | {percent} | {scores.mean():.2f} | {scores.std():.2f} | {beside} "
                    f"| {spent:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
