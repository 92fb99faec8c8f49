"""Accuracy and CPU time of methods on datasets, over uniform random splits.

    python benchmarks/evaluate_methods.py --datasets wine,balance_scale --methods gramme-sg,majority
        [--train 10,30] [--repeats 20] [--set epochs=100] [--set gramme-sg.heads=4]

Realisation r trains on ``default_rng(r).permutation(n)[: max(1, round(n * percent / 100))]`` of the n labelled nodes
and is scored on all others. Where the training set shows a single class, that class is predicted for everybody. A
method is seeded with r. Prints a line per dataset, method and percentage: mean and standard deviation of the accuracy,
and the mean CPU seconds of a fit.
"""

import argparse
import ast
import time
from typing import Any

import numpy as np

from gramme import datasets
from gramme.errors import GrammeError
from gramme.graph import MultilayerGraph
from gramme.methods import method, names


def split(nodes: np.ndarray, percent: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test nodes of a realisation."""
    order = np.random.default_rng(seed).permutation(nodes.size)
    size = max(1, round(nodes.size * percent / 100))
    return nodes[order[:size]], nodes[order[size:]]


def run(
    graph: MultilayerGraph, name: str, settings: dict[str, Any], percent: float, seed: int
) -> tuple[float, float]:
    """Test accuracy and CPU seconds of one realisation."""
    assert graph.labels is not None
    labels = graph.labels
    known = np.flatnonzero([label is not None for label in labels])
    train, test = split(known, percent, seed)
    y = np.full(graph.num_nodes, None, dtype=object)
    y[train] = labels[train]
    if len(set(y[train])) == 1:
        return float(np.mean([label == y[train[0]] for label in labels[test]])), 0.0
    estimator = method(name).estimator
    if "random_state" in estimator().get_params():
        settings = {"random_state": seed} | settings
    start = time.process_time()
    predicted = estimator(**settings).fit(graph.replace(labels=None), y).predict()
    seconds = time.process_time() - start
    pairs = zip(predicted[test].tolist(), labels[test], strict=True)
    return float(np.mean([one == other for one, other in pairs])), seconds


def value_of(text: str) -> Any:
    """A setting's value: a Python literal, or the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="balance_scale,wine")
    parser.add_argument("--methods", default=",".join(names()))
    parser.add_argument("--train", default="10,30", help="percentages of training nodes")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="for all, or METHOD.KEY=VALUE",
    )
    options = parser.parse_args()
    chosen = options.methods.split(",")
    settings: dict[str, dict[str, Any]] = {name: {} for name in chosen}
    for text in options.set:
        key, _, value = text.partition("=")
        owner, _, parameter = key.rpartition(".")
        for name in [owner] if owner else chosen:
            settings[name][parameter] = value_of(value)
    print(f"{'dataset':15s} {'method':18s} {'train %':>7s} {'mean':>7s} {'std':>6s} {'CPU s':>8s}")
    for dataset in options.datasets.split(","):
        graph = datasets.load(dataset)
        for name in chosen:
            for percent in (float(text) for text in options.train.split(",")):
                try:
                    runs = [
                        run(graph, name, settings[name], percent, seed)
                        for seed in range(options.repeats)
                    ]
                except GrammeError as error:
                    print(f"{dataset:15s} {name:18s} {percent:7g} {error}", flush=True)
                    continue
                accuracy, seconds = np.array(runs).T
                print(
                    f"{dataset:15s} {name:18s} {percent:7g} {100 * accuracy.mean():7.2f} "
                    f"{100 * accuracy.std():6.2f} {seconds.mean():8.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
