"""Why acm3025 is harder on its official split than at random: its training nodes are not like its test nodes.

    GRAMME_DATA=... python benchmarks/acm_shift.py [--repeats 5]

A plain linear model (words, and their means over the neighbours in each layer) learns from the 600 official training
nodes and from 600 others drawn at random with as many of each class, and is scored on the official test nodes among the
rest. Then: how well a linear model tells official training nodes from all others by the same columns, against a random
half of all of them (area under the curve, 0.5 where they are alike; no label is used). Last, what could be done about
it without test labels: the accuracy after correcting for the class shares that EM estimates from the model's
probabilities, and with each training node weighted by how much it is like the unlabelled ones.
"""

from __future__ import annotations

import argparse

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import normalize

import gramme

DIRECTIONS = 128
Nodes = NDArray[np.int64]


def columns(graph: gramme.MultilayerGraph) -> NDArray[np.float64]:
    """Leading directions of the words, and their means over each layer's neighbourhoods, each block of length 1."""
    words = normalize(sp.csr_array(graph.features).astype(np.float64))
    _, _, axes = sp.linalg.svds(words, DIRECTIONS, rng=0)
    own = words @ axes.T
    blocks = [own]
    for layer in graph.layers.values():
        around = layer.to_scipy() + sp.eye_array(graph.num_nodes)
        blocks.append((around @ own) / np.asarray(around.sum(axis=1)).reshape(-1, 1))
    return np.hstack([normalize(block) for block in blocks])


def learned(
    table: NDArray[np.float64],
    codes: Nodes,
    learn: Nodes,
    predict: Nodes,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Probabilities of some nodes, from the labels of others."""
    model = LogisticRegression(C=10, max_iter=500).fit(table[learn], codes[learn], weights)
    found: NDArray[np.float64] = model.predict_proba(table[predict])
    return found


def told_apart(
    table: NDArray[np.float64], first: Nodes, second: Nodes
) -> tuple[float, NDArray[np.float64]]:
    """How well two sets of nodes can be told apart, out of fold, and the odds of the second for each of the first."""
    rows = np.concatenate([first, second])
    which = np.repeat([0, 1], [first.size, second.size])
    order = np.random.default_rng(0).permutation(rows.size)
    model = LogisticRegression(C=1, max_iter=500, class_weight="balanced")
    guess = cross_val_predict(model, table[rows[order]], which[order], cv=5, method="predict_proba")
    odds = np.empty(rows.size)
    odds[order] = guess[:, 1] / guess[:, 0]
    return float(roc_auc_score(which[order], guess[:, 1])), odds[: first.size]


def class_shares(
    probabilities: NDArray[np.float64], prior: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Class shares by EM (Saerens et al. 2002), and the probabilities under them."""
    shares, corrected = prior.copy(), probabilities
    for _ in range(200):
        corrected = probabilities * (shares / prior)
        corrected /= corrected.sum(axis=1, keepdims=True)
        shares = corrected.mean(axis=0)
    return shares, corrected


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    graph = gramme.datasets.load("acm3025")
    split = gramme.datasets.official_split("acm3025")
    learn, test = graph.positions(split["train"]), graph.positions(split["test"])
    codes = np.unique(graph.labels.astype(str), return_inverse=True)[1]
    table = columns(graph)
    probabilities = learned(table, codes, learn, test)
    right = 100 * (probabilities.argmax(axis=1) == codes[test]).mean()
    print(f"from the {learn.size} official training nodes: {right:.1f}")
    sizes = np.bincount(codes[learn])
    found, alike = [], []
    for seed in range(repeats):
        order = np.random.default_rng(seed).permutation(graph.num_nodes)
        drawn = np.concatenate(
            [order[codes[order] == one][:size] for one, size in enumerate(sizes)]
        )
        rest = np.setdiff1d(test, drawn)
        guess = learned(table, codes, drawn, rest).argmax(axis=1)
        found.append(100 * (guess == codes[rest]).mean())
        alike.append(told_apart(table, drawn, np.setdiff1d(order, drawn))[0])
    print(f"from as many random ones, {repeats} draws: {np.mean(found):.1f} ± {np.std(found):.1f}")
    apart, odds = told_apart(table, learn, np.setdiff1d(np.arange(graph.num_nodes), learn))
    print(f"training nodes and the rest told apart: AUC {apart:.2f}")
    print(f"random ones and the rest told apart: AUC {np.mean(alike):.2f}")
    shares, corrected = class_shares(probabilities, sizes / sizes.sum())
    right = 100 * (corrected.argmax(axis=1) == codes[test]).mean()
    true = np.bincount(codes[test]) / test.size
    print(f"class shares by EM {shares.round(3)}, true {true.round(3)}; corrected for: {right:.1f}")
    weighted = learned(table, codes, learn, test, odds / odds.mean()).argmax(axis=1)
    print(f"training nodes weighted by likeness: {100 * (weighted == codes[test]).mean():.1f}")


if __name__ == "__main__":
    main()
