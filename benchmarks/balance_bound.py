"""How far an additive model of the groups can get on balance_scale with 10 % of the labels, penalty by peeking.

On a table whose rows have one group per layer, GrAMME-Fusion fused at every hop adds up a score per group, as logistic
regression on the groups does. This prints the latter's accuracy on the 20 splits of the experiments for a range of
penalties; the best of them uses the test labels and is not a result, only a bound on what such a model can reach there.

    python benchmarks/balance_bound.py
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import gramme
from gramme.evaluation import random_split

PENALTIES = (0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 10.0)
REPEATS = 20


def main() -> None:
    graph = gramme.datasets.load("balance_scale")
    assert graph.labels is not None
    table = sp.hstack([layer.incidence() for layer in graph.layers.values()]).toarray()
    labels = graph.labels.astype(str)
    found = np.zeros((REPEATS, len(PENALTIES)))
    for realisation in range(REPEATS):
        split = random_split(graph.labels, 10, realisation)
        for place, strength in enumerate(PENALTIES):
            model = LogisticRegression(C=strength, max_iter=1000)
            model.fit(table[split.train], labels[split.train])
            found[realisation, place] = model.score(table[split.test], labels[split.test])
    for strength, column in zip(PENALTIES, 100 * found.T, strict=True):
        error = column.std(ddof=1) / REPEATS**0.5
        print(f"C = {strength:<4} accuracy {column.mean():.2f}, standard error {error:.2f}")
    best = 100 * found.max(axis=1)
    print(f"best C of each split, by peeking: {best.mean():.2f}")


if __name__ == "__main__":
    main()
