"""How features are given to a model, compared on labels that no official test contains.

    GRAMME_DATA=... python benchmarks/choose_features.py [--datasets cora,acm_heco,dblp_heco] [--repeats 3]

A split draws 20 labels of each class from the nodes outside all official test sets (of cora and acm3025: from the
training and validation nodes) and predicts the others of them; of multiple_features it learns from 40 of 400 random
nodes and predicts the other 360. Datasets that are made up (see SYNTHETIC) have 600 nodes, three classes, two layers
and 10 labels a class: noise in the attributes of a telling network, telling attributes in a network of noise, or a bit
in both. Prints CSV: dataset, setting, Macro-F1 in percent, log loss, CPU seconds of a fit. Settings: GrammeFusion with
4 members (or --members) from 64 directions of the words, and from the sparse words with entries that sum to 51, 19 and
6; with dropout, and with class scores from its last hop; from given features with walks beside them, whose size is
fixed or chosen by the training labels (--only walks); the model of surroundings with and without smoothed predictions.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import f1_score

import gramme
from gramme import datasets
from gramme.methods.attention import features as feature_sources
from gramme.methods.attention import given_features
from gramme.methods.linear.neighbourhood_logistic import NeighbourhoodLogistic

PER_CLASS = 20
SPARSE = given_features.GivenFeatures.of
BY_LABELS = feature_sources.chosen_walk_size
Nodes = NDArray[np.int64]
Case = tuple[gramme.MultilayerGraph, Nodes, Nodes]
"""A graph with its labels, nodes to learn from, nodes to predict."""


def noise(columns: int, filled: float = 1.0) -> Callable[..., Any]:
    """Attributes that tell nothing: measurements, or words."""

    def made(label: Nodes, random: np.random.Generator) -> Any:
        if filled == 1.0:
            return random.normal(size=(label.size, columns)) * 10
        return sp.csr_array((random.random((label.size, columns)) < filled) * 1.0)

    return made


def words(more: float) -> Callable[..., Any]:
    """300 words that a node has with probability 0.05; of each class 20 with a larger one."""

    def made(label: Nodes, random: np.random.Generator) -> Any:
        chance = np.full((3, 300), 0.05)
        for one in range(3):
            chance[one, 40 * one : 40 * one + 20] = more
        return sp.csr_array((random.random((label.size, 300)) < chance[label]) * 1.0)

    return made


SYNTHETIC: dict[str, tuple[float, Callable[..., Any]]] = {
    "2 columns of noise": (1.0, noise(2)),
    "200 columns of noise": (1.0, noise(200)),
    "200 words of noise": (1.0, noise(200, 0.05)),
    "2000 words of noise": (1.0, noise(2000, 0.01)),
    "words and edges": (2.0, words(0.10)),
    "words and edges of noise": (4.0, words(0.15)),
}
"""For each how many edges lead to another class for four within (of each other class), and the attributes."""


def synthetic(name: str, repeats: int) -> Iterator[Case]:
    """Graphs that are made up."""
    across, attributes = SYNTHETIC[name]
    nodes, label = 600, np.arange(600) % 3
    for repeat in range(repeats):
        random = np.random.default_rng(100 + repeat)
        layers = {}
        for layer in "ab":
            drawn = int(nodes * (4 + across) / 2) * 3
            source, target = random.integers(nodes, size=(2, drawn))
            kept = (label[source] == label[target]) | (random.random(drawn) < across / 4)
            kept &= source != target
            layers[layer] = gramme.EdgeLayer(nodes, source[kept], target[kept])
        graph = gramme.MultilayerGraph(
            layers, labels=label.astype(object), features=attributes(label, random)
        )
        order = np.random.default_rng(repeat).permutation(nodes)
        learn = np.concatenate([order[label[order] == one][:10] for one in range(3)])
        yield graph, learn, np.setdiff1d(order, learn)


def cases(name: str, repeats: int, per_class: int) -> Iterator[Case]:
    """The splits of a dataset."""
    if name in SYNTHETIC:
        yield from synthetic(name, repeats)
        return
    options = {"view": "relations"} if name.endswith("_heco") else {}
    graph = datasets.load(name, **options)
    if name == "multiple_features":
        for repeat in range(repeats):
            order = np.random.default_rng(repeat).permutation(graph.num_nodes)[:400]
            yield graph, order[:40], order[40:]
        return
    for learn, predict in splits(graph.labels, outside(name, graph), repeats, per_class):
        yield graph, learn, predict


def outside(name: str, graph: gramme.MultilayerGraph) -> Nodes:
    """The nodes in no official test set."""
    if name in ("cora", "acm3025"):
        split = datasets.official_split(name)
        return graph.positions(np.concatenate([split["train"], split["validation"]]))
    nodes = graph.num_nodes
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
    dense: bool = False, walks: float | None = None, **settings: Any
) -> Callable[[int, int], gramme.methods.NodeClassifier]:
    """Attention on sparse words, or on directions of them; walks beside them may have a fixed size."""

    def make(seed: int, members: int) -> gramme.GrammeFusion:
        feature_sources.chosen_walk_size = BY_LABELS if walks is None else lambda *_: walks
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
    "walks, none": fusion(features="given"),
    "walks, size 0.1": fusion(features="given+walks", walks=0.1),
    "walks, size 0.25": fusion(features="given+walks", walks=0.25),
    "walks, size 0.5": fusion(features="given+walks", walks=0.5),
    "walks, size 1": fusion(features="given+walks", walks=1.0),
    "walks, size by labels": fusion(),
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
        for setting, make in SETTINGS.items():
            if not setting.startswith(chosen.only):
                continue
            found = []
            drawn = cases(name, chosen.repeats, chosen.per_class)
            for seed, (graph, learn, predict) in enumerate(drawn):
                labels = graph.labels
                codes = np.unique(labels.astype(str), return_inverse=True)[1]
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
