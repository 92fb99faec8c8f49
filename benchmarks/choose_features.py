"""How features are given to a model, compared on labels that no official test contains.

    GRAMME_DATA=... python benchmarks/choose_features.py [--datasets cora,acm_heco,dblp_heco] [--repeats 3]

A split draws 20 labels of each class from the nodes outside all official test sets (of cora: from the training and
validation nodes) and predicts the others of them. Prints CSV: dataset, setting, Macro-F1 in percent, log loss, CPU
seconds of a fit. Settings: GrammeFusion with 4 members (or --members) from 64 directions of the words, and from the
sparse words with entries that sum to 51, 19 and 6; with dropout, and with class scores from its last hop; the model of
surroundings with and without smoothed predictions.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score

import gramme
from gramme import datasets
from gramme.methods.attention import given_features
from gramme.methods.linear.neighbourhood_logistic import NeighbourhoodLogistic

PER_CLASS = 20
SPARSE = given_features.GivenFeatures.of
Nodes = NDArray[np.int64]


def outside(name: str, nodes: int) -> Nodes:
    """The nodes in no official test set."""
    if name == "cora":
        split = datasets.official_split(name)
        return np.concatenate([split["train"], split["validation"]])
    tests = [datasets.official_split(name, per_class=count)["test"] for count in (20, 40, 60)]
    return np.setdiff1d(np.arange(nodes), np.concatenate(tests))


def splits(
    labels: NDArray[np.object_], pool: Nodes, repeats: int, per_class: int = PER_CLASS
) -> Iterator[tuple[Nodes, Nodes]]:
    """Nodes to learn from and nodes to predict."""
    for repeat in range(repeats):
        order = np.random.default_rng(1000 + repeat).permutation(pool)
        classes = [order[labels[order] == one][:per_class] for one in np.unique(labels)]
        learn = np.concatenate(classes)
        yield learn, np.setdiff1d(pool, learn)


def fusion(
    dense: bool = False, **settings: Any
) -> Callable[[int, int], gramme.methods.NodeClassifier]:
    """Attention on sparse words, or on directions of them."""

    def make(seed: int, members: int) -> gramme.GrammeFusion:
        given_features.GivenFeatures.of = classmethod(  # type: ignore[method-assign, assignment]
            lambda cls, *given, may_be_sparse=False, **more: SPARSE.__func__(  # type: ignore[attr-defined]
                cls, *given, may_be_sparse=may_be_sparse and not dense, **more
            )
        )
        return gramme.GrammeFusion(ensemble=members, random_state=seed, progress=False, **settings)

    return make


SETTINGS: dict[str, Callable[[int, int], gramme.methods.NodeClassifier]] = {
    "fusion, 64 directions": fusion(dense=True),
    "fusion, entries sum to 51": fusion(entry_sum=51.2),
    "fusion, entries sum to 19": fusion(entry_sum=19.2),
    "fusion, entries sum to 6": fusion(entry_sum=6.4),
    "fusion, plain": fusion(),
    "fusion, dropout 0.5": fusion(dropout=0.5),
    "fusion, dropout 0.7": fusion(dropout=0.7),
    "fusion, scores from the last hop": fusion(readout="attention"),
    "fusion, scores from the last hop, dropout 0.5": fusion(readout="attention", dropout=0.5),
    "surroundings, as they are": lambda seed, members: NeighbourhoodLogistic(
        smooth=False, random_state=seed
    ),
    "surroundings, smoothed": lambda seed, members: NeighbourhoodLogistic(random_state=seed),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--datasets", default="cora,acm_heco,dblp_heco")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--members", type=int, default=4)
    parser.add_argument("--per-class", type=int, default=PER_CLASS)
    parser.add_argument("--only", default="", help="settings whose name begins like this")
    chosen = parser.parse_args()
    print("dataset,setting,macro_f1,log_loss,cpu_seconds")
    for name in chosen.datasets.split(","):
        options = {} if name == "cora" else {"view": "relations"}
        graph = datasets.load(name, **options)
        labels = graph.labels
        codes = np.unique(labels.astype(str), return_inverse=True)[1]
        pool = outside(name, graph.num_nodes)
        for setting, make in SETTINGS.items():
            if not setting.startswith(chosen.only):
                continue
            found = []
            drawn = splits(labels, pool, chosen.repeats, chosen.per_class)
            for seed, (learn, predict) in enumerate(drawn):
                y = np.full(graph.num_nodes, None, dtype=object)
                y[learn] = labels[learn]
                started = time.process_time()
                model = make(seed, chosen.members).fit(graph.replace(labels=None), y)
                shares = model.predict_proba()[predict]
                seconds = time.process_time() - started
                own = shares[np.arange(predict.size), codes[predict]]
                macro = f1_score(codes[predict], shares.argmax(axis=1), average="macro")
                loss = -np.log(np.maximum(own, 1e-3)).mean()
                found.append((100 * macro, loss, seconds))
            macro, loss, seconds = np.mean(found, axis=0)
            print(f'{name},"{setting}",{macro:.2f},{loss:.3f},{seconds:.1f}', flush=True)


if __name__ == "__main__":
    main()
