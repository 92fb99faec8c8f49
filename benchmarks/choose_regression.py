"""Choose the learning rate and epochs of the regressor's attention on inner folds of training labels alone.

    python benchmarks/choose_regression.py --repeats 2

On two tables that scikit-learn ships and on a network with a number that changes smoothly over it, some labels are
drawn; the others are never looked at. Printed for each setting: the R2 of attention's predictions for the drawn labels
it had not seen (five folds), its mean over all cases, and its CPU time. The seeds are none of those that
``regression_tables.py`` tests on.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from regression_tables import groups, tables

from gramme import MultilayerGraph
from gramme.graph import EdgeLayer
from gramme.methods.regression.attention import AttentionRegressor
from gramme.methods.regression.base import explained, known_numbers

SETTINGS = ((0.003, 40), (0.003, 60), (0.003, 80), (0.01, 20), (0.01, 30), (0.01, 60))
"""Learning rates and epochs that are tried."""
FIRST_SEED = 2000
NODES, NEAREST = 300, 6


def cases() -> dict[str, tuple[MultilayerGraph, np.ndarray]]:
    """Graphs and the numbers of their nodes."""
    found = {"network": network()}
    for name, (columns, target) in tables().items():
        frame = pd.DataFrame({column: groups(columns[column]) for column in columns})
        found[name] = MultilayerGraph.from_table(frame), target
    return found


def network() -> tuple[MultilayerGraph, np.ndarray]:
    """Nodes in a square, joined to the nearest along one side in each of two layers; the number is a wave over it."""
    random = np.random.default_rng(7)
    place = random.random((NODES, 2))
    layers: dict[str, Any] = {}
    for side, name in enumerate(("east", "north")):
        apart = np.abs(place[:, None, side] - place[None, :, side])
        near = np.argsort(apart + random.random(apart.shape) * 0.1, axis=1)[:, 1 : NEAREST + 1]
        layers[name] = EdgeLayer(NODES, np.repeat(np.arange(NODES), NEAREST), near.ravel())
    wave = np.sin(3 * place[:, 0]) + place[:, 1] ** 2
    return MultilayerGraph(layers), wave + 0.1 * random.normal(size=NODES)


def main() -> None:
    """Print a row per setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--percent", default="10,30")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    seen = cases()
    trials = list(
        product(
            seen, map(int, asked.percent.split(",")), range(FIRST_SEED, FIRST_SEED + asked.repeats)
        )
    )
    names = [f"{name} {percent} %" for name, percent in dict.fromkeys((n, p) for n, p, _ in trials)]
    print(",".join(["learning_rate", "epochs", *names, "mean", "cpu_seconds"]))
    for rate, epochs in SETTINGS:
        found: dict[str, list[float]] = {name: [] for name in names}
        began = time.process_time()
        for name, percent, seed in trials:
            graph, target = seen[name]
            drawn = np.random.default_rng(seed).permutation(target.size)
            drawn = drawn[: round(target.size * percent / 100)]
            numbers = np.full(target.size, np.nan)
            numbers[drawn] = target[drawn]
            known = known_numbers(graph, numbers)
            model = AttentionRegressor(
                ensemble=1, learning_rate=rate, epochs=epochs, random_state=seed, progress=False
            )
            fold = np.random.default_rng(seed).permutation(known.values.size) % 5
            unseen = model.fit_with_folds(graph, known, fold)
            found[f"{name} {percent} %"].append(explained(known.values, unseen))
        means = [float(np.mean(values)) for values in found.values()]
        row = [f"{value:.3f}" for value in [*means, float(np.mean(means))]]
        print(
            ",".join([f"{rate}", f"{epochs}", *row, f"{time.process_time() - began:.0f}"]),
            flush=True,
        )


if __name__ == "__main__":
    main()
