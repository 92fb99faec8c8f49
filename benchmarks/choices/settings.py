"""How the default settings of GrammeSG and GrammeFusion were chosen: on training labels alone.

Realisation r of a dataset draws its 30 % training nodes exactly as the experiments do; the labels of the other 70 % are
never touched. Of the training nodes a third (10 % of all) is learned from and the rest (20 %) is predicted. acm3025,
the one with features, has official training nodes: 60 of the 600 are learned from, the rest is predicted. Each line is
one setting: its accuracy on those for every dataset and the mean over the datasets, after 20, 30, 40 and 60 epochs (the
accuracy is only watched along the way, so one fit gives them all). One setting serves all datasets.

    python benchmarks/choices/settings.py                      all settings
    python benchmarks/choices/settings.py --only "fusion"      those whose name contains a word
    python benchmarks/choices/settings.py --final              after the default number of epochs only, in less time
    python benchmarks/choices/settings.py --datasets acm3025 --most 2
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

import gramme
from gramme.methods import method

DATASETS = {
    "ckm_social": 6,
    "leskovec_ng": 6,
    "vickers_chan": 12,
    "balance_scale": 4,
    "congress_votes": 2,
    "mammography": 3,
    "acm3025": 3,
}
"""Realisations of each; acm3025 has features, and its training nodes are those of its official split."""
EPOCHS = (20, 30, 40, 60)
PAPER = {"features": "random", "weight_decay": 0.0, "score_bound": None}
FUSION: dict[str, object] = {"fuse": "every hop", "activation": "relu", "ensemble": 8}
SG: dict[str, object] = {"pool": "end", "activation": "relu", "ensemble": 8}
SETTINGS: dict[str, tuple[str, dict[str, object]]] = {
    "fusion": ("gramme-fusion", FUSION),
    "fusion as in the paper": ("gramme-fusion", FUSION | PAPER),
    "fusion random": ("gramme-fusion", FUSION | {"features": "random"}),
    "fusion walks": ("gramme-fusion", FUSION | {"features": "walks"}),
    "fusion 128 random beside walks": ("gramme-fusion", FUSION | {"feature_dim": 128}),
    "fusion given and walks": ("gramme-fusion", FUSION | {"features": "given+walks"}),
    "fusion no weight decay": ("gramme-fusion", FUSION | {"weight_decay": 0.0}),
    "fusion no bound": ("gramme-fusion", FUSION | {"score_bound": None}),
    "fusion bound 2": ("gramme-fusion", FUSION | {"score_bound": 2.0}),
    "fusion elu": ("gramme-fusion", FUSION | {"activation": "elu"}),
    "fusion fused at the end": ("gramme-fusion", FUSION | {"fuse": "end"}),
    "fusion 3 hops": ("gramme-fusion", FUSION | {"depth": 3}),
    "fusion dropout 0.3": ("gramme-fusion", FUSION | {"dropout": 0.3}),
    "fusion attention dropout 0.3": ("gramme-fusion", FUSION | {"attention_dropout": 0.3}),
    "fusion one member": ("gramme-fusion", FUSION | {"ensemble": 1}),
    "sg": ("gramme-sg", SG),
    "sg as in the paper": ("gramme-sg", SG | PAPER),
    "sg walks": ("gramme-sg", SG | {"features": "walks"}),
    "sg elu": ("gramme-sg", SG | {"activation": "elu"}),
    "sg 3 hops": ("gramme-sg", SG | {"depth": 3}),
    "sg pooled at every hop": ("gramme-sg", SG | {"pool": "every hop"}),
    "sg shared features": ("gramme-sg", SG | {"shared_features": True}),
}


def loaded(name: str) -> gramme.MultilayerGraph:
    """A dataset; layers that are nothing but cliques become groups, which says the same and is faster."""
    graph = gramme.datasets.load(name)
    layers = dict(graph.layers)
    for title, layer in graph.layers.items():
        if isinstance(layer, gramme.EdgeLayer):
            _, group = connected_components(layer.to_scipy())
            size = np.bincount(group)
            if layer.to_scipy().nnz == int((size * (size - 1)).sum()):
                layers[title] = gramme.MembershipLayer.from_codes(group)
    return graph.replace(layers=layers)


def inner_split(graph: gramme.MultilayerGraph, name: str, realisation: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes to learn from and nodes to predict, both from the training nodes of a realisation."""
    random = np.random.default_rng(realisation)
    if name == "acm3025":
        official = graph.positions(gramme.datasets.official_split(name)["train"])
        training = random.permutation(official)
        return training[:60], training[60:]
    nodes = graph.num_nodes
    training = random.permutation(nodes)[: round(0.3 * nodes)]
    third = max(2, round(len(training) / 3))
    return training[:third], training[third:]


def part(graph: gramme.MultilayerGraph, nodes: np.ndarray) -> np.ndarray:
    """The labels of some nodes, None for all others."""
    labels = np.full(graph.num_nodes, None, dtype=object)
    labels[nodes] = graph.labels[nodes]
    return labels


def accuracies(name: str, method_name: str, settings: dict[str, Any], most: int, final: bool) -> list[float]:
    """Mean accuracy after each number of epochs; a realisation with one class only predicts that class."""
    graph = loaded(name)
    if graph.features is None and "given" in str(settings.get("features")):
        return [float("nan")] * (1 if final else len(EPOCHS))
    found = []
    for realisation in range(min(most, DATASETS[name])):
        learn, predict = inner_split(graph, name, realisation)
        truth = graph.labels[predict]
        if len(set(graph.labels[learn])) == 1:
            alone = (truth == graph.labels[learn[0]]).mean()
            found.append([alone] * (1 if final else len(EPOCHS)))
            continue
        longer: dict[str, Any] = {} if final else {"epochs": max(EPOCHS)}
        model: Any = method(method_name).estimator(**settings, **longer, random_state=realisation, progress=False)
        known, watched = part(graph, learn), None if final else part(graph, predict)
        model.fit(graph.replace(labels=None), known, monitor=watched)
        if final:
            found.append([(model.predict()[predict] == truth).mean()])
        else:
            curve = model.history_.set_index("epoch")["monitor_accuracy"]
            found.append([curve[epoch] for epoch in EPOCHS])
    means: list[float] = (100 * np.mean(found, axis=0)).tolist()
    return means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--exactly", action="append", help="this setting; may be repeated")
    parser.add_argument("--datasets", default=",".join(DATASETS), help="some of them")
    parser.add_argument("--most", type=int, default=100, help="realisations at most")
    parser.add_argument("--final", action="store_true", help="after the default epochs only")
    chosen = parser.parse_args()
    datasets = chosen.datasets.split(",")
    names = chosen.exactly or [name for name in SETTINGS if chosen.only in name]
    print(f"| setting | epochs | {' | '.join(datasets)} | mean | CPU s |")
    print("|---" * (len(datasets) + 4) + "|")
    for name in names:
        started = time.process_time()
        table = np.array([accuracies(one, *SETTINGS[name], chosen.most, chosen.final) for one in datasets])
        seconds = time.process_time() - started
        for column, epochs in enumerate(("default",) if chosen.final else EPOCHS):
            cells = " | ".join(f"{value:.1f}" for value in table[:, column])
            mean = np.nanmean(table[:, column])
            print(f"| {name} | {epochs} | {cells} | {mean:.2f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
