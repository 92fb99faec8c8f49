"""Why acm3025 is harder on its official split than at random: its training nodes are not like its test nodes.

    GRAMME_DATA=... python benchmarks/acm_shift.py [--repeats 5]

A plain linear model (words, and their means over the neighbours in each layer) learns from the 600 official training
nodes and from 600 others drawn at random with as many of each class, and is scored on the official test nodes among the
rest. Then: how well a linear model tells official training nodes from all others by the same columns, against a random
half of all of them (area under the curve, 0.5 where they are alike; no label is used). Last, what could be done about
it without test labels: the accuracy after correcting for the class shares that EM estimates from the model's
probabilities, and with each training node weighted by how much it is like the unlabelled ones.

At the end four ways to learn from unlabelled nodes as well, each on two inner splits of the training labels (the first
half of each class in the order of the file, where a shift would show, and a random half; the other half is predicted)
and on the official test nodes. Training labels would have to choose among them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import normalize

import gramme

DIRECTIONS = 128
MIXTURE_DIM = 32
UNLABELLED_WEIGHT = 0.1  # of a node without a label, in the mixture of normal distributions
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


Learner = Callable[[Nodes], NDArray[np.float64]]
"""From nodes to learn from to the probabilities of all nodes."""


def learners(
    graph: gramme.MultilayerGraph, table: NDArray[np.float64], codes: Nodes
) -> dict[str, Learner]:
    """Ways to learn; the labels of the nodes that are given are looked at and no others."""
    every = np.arange(graph.num_nodes)
    around = [layer.to_scipy() + sp.eye_array(graph.num_nodes) for layer in graph.layers.values()]
    walks = [sp.csr_array(sp.diags_array(1 / one.sum(axis=1)) @ one) for one in around]
    left, sizes, _ = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    leading = left[:, :MIXTURE_DIM] * sizes[:MIXTURE_DIM]

    def plain(learn: Nodes) -> NDArray[np.float64]:
        return learned(table, codes, learn, every)

    def smoothed(learn: Nodes) -> NDArray[np.float64]:
        total = heard = plain(learn)
        for _ in range(10):
            heard = 0.6 * sum(walk @ heard for walk in walks) / len(walks)
            total = total + heard
        return total

    def taught_by_itself(learn: Nodes) -> NDArray[np.float64]:
        found, rest = plain(learn), np.setdiff1d(every, learn)
        for _ in range(3):
            guess = found.argmax(axis=1)
            known = guess.copy()
            known[learn] = codes[learn]
            sure = [rest[guess[rest] == one] for one in np.unique(codes)]
            sure = [mine[np.argsort(-found[mine].max(axis=1))][: mine.size // 2] for mine in sure]
            found = learned(table, known, np.concatenate([learn, *sure]), every)
        return found

    def mixture(learn: Nodes) -> NDArray[np.float64]:
        classes = int(codes.max()) + 1
        fixed = np.eye(classes)[codes[learn]]
        found = np.zeros((graph.num_nodes, classes))
        for _ in range(20):
            shares = found * UNLABELLED_WEIGHT
            shares[learn] = fixed
            centre = (shares.T @ leading) / shares.sum(axis=0)[:, None]
            apart = [leading - one for one in centre]
            spread = (
                sum((one * shares[:, [place]]).T @ one for place, one in enumerate(apart))
                / shares.sum()
            )
            inverse = np.linalg.inv(
                spread + 1e-3 * np.trace(spread) / MIXTURE_DIM * np.eye(MIXTURE_DIM)
            )
            fit = np.stack([-0.5 * ((one @ inverse) * one).sum(axis=1) for one in apart], axis=1)
            found = softmax(fit + np.log(shares.sum(axis=0)), axis=1)
        return found

    return {
        "a regression": plain,
        "smoothed over the layers": smoothed,
        "taught by its own surest half, three times": taught_by_itself,
        "normal distributions by EM over all nodes": mixture,
    }


def halves(codes: Nodes, nodes: Nodes) -> tuple[Nodes, Nodes]:
    """The first half of each class in the order of the nodes, and the rest."""
    classes = [nodes[codes[nodes] == one] for one in np.unique(codes)]
    first = np.concatenate([mine[: mine.size // 2] for mine in classes])
    return first, np.setdiff1d(nodes, first)


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
    split_into = {
        "first half": halves(codes, np.sort(learn)),
        "random half": halves(codes, np.random.default_rng(0).permutation(learn)),
        "official": (learn, test),
    }
    for name, way in learners(graph, table, codes).items():
        rates = [
            f"{label} {100 * (way(seen)[rest].argmax(axis=1) == codes[rest]).mean():.1f}"
            for label, (seen, rest) in split_into.items()
        ]
        print(f"{name}: {', '.join(rates)}")


if __name__ == "__main__":
    main()
