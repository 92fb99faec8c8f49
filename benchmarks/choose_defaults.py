"""How the default settings of GrammeSG and GrammeFusion were chosen: on training labels alone.

Realisation r of a dataset draws its 30 % training nodes exactly as the experiments do; the labels of the other 70 % are
never touched. Of the training nodes a third (10 % of all) is learned from and the rest (20 %) is predicted. Each line
is one setting: its accuracy on those for every dataset and the mean over the datasets, after 20, 30, 40 and 60 epochs
(the accuracy is only watched along the way, so one fit gives them all). One setting serves all datasets.

    python benchmarks/choose_defaults.py                      all settings
    python benchmarks/choose_defaults.py --only "fusion"      those whose name contains a word
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import gramme
from gramme.methods import method

DATASETS = {
    "ckm_social": 6,
    "leskovec_ng": 6,
    "vickers_chan": 12,
    "balance_scale": 4,
    "congress_votes": 2,
    "mammography": 3,
}
EPOCHS = (20, 30, 40, 60)
BASE = {
    "feature_dim": 128,
    "activation": "relu",
    "weight_decay": 0.0,
    "learning_rate": 0.01,
    "ensemble": 8,
}
FUSION = BASE | {"fuse": "every hop"}
SG = BASE | {"pool": "end"}
SETTINGS = {
    "fusion": ("gramme-fusion", FUSION),
    "fusion elu": ("gramme-fusion", FUSION | {"activation": "elu"}),
    "fusion fused at the end": ("gramme-fusion", FUSION | {"fuse": "end"}),
    "fusion 3 hops": ("gramme-fusion", FUSION | {"depth": 3}),
    "fusion dropout 0.3": ("gramme-fusion", FUSION | {"dropout": 0.3}),
    "fusion attention dropout 0.3": ("gramme-fusion", FUSION | {"attention_dropout": 0.3}),
    "fusion 64 features": ("gramme-fusion", FUSION | {"feature_dim": 64}),
    "fusion 256 features": ("gramme-fusion", FUSION | {"feature_dim": 256}),
    "fusion weight decay 0.001": ("gramme-fusion", FUSION | {"weight_decay": 0.001}),
    "fusion one member": ("gramme-fusion", FUSION | {"ensemble": 1}),
    "sg": ("gramme-sg", SG),
    "sg elu": ("gramme-sg", SG | {"activation": "elu"}),
    "sg 3 hops": ("gramme-sg", SG | {"depth": 3}),
    "sg pooled at every hop": ("gramme-sg", SG | {"pool": "every hop"}),
    "sg shared features": ("gramme-sg", SG | {"shared_features": True}),
}


def inner_split(nodes: int, realisation: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes to learn from and nodes to predict, both from the training nodes of a realisation."""
    training = np.random.default_rng(realisation).permutation(nodes)[: round(0.3 * nodes)]
    third = max(2, round(len(training) / 3))
    return training[:third], training[third:]


def part(graph: gramme.MultilayerGraph, nodes: np.ndarray) -> np.ndarray:
    """The labels of some nodes, None for all others."""
    labels = np.full(graph.num_nodes, None, dtype=object)
    labels[nodes] = graph.labels[nodes]
    return labels


def accuracies(name: str, method_name: str, settings: dict[str, object]) -> np.ndarray:
    """Mean accuracy after each number of epochs; a realisation with one class only predicts that class."""
    graph = gramme.datasets.load(name)
    found = []
    for realisation in range(DATASETS[name]):
        learn, predict = inner_split(graph.num_nodes, realisation)
        if len(set(graph.labels[learn])) == 1:
            found.append([(graph.labels[predict] == graph.labels[learn[0]]).mean()] * len(EPOCHS))
            continue
        model = method(method_name).estimator(
            **settings, epochs=max(EPOCHS), random_state=realisation, progress=False
        )
        model.fit(graph.replace(labels=None), part(graph, learn), monitor=part(graph, predict))
        curve = model.history_.set_index("epoch")["monitor_accuracy"]
        found.append([curve[epoch] for epoch in EPOCHS])
    return 100 * np.mean(found, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--exactly", action="append", help="this setting; may be repeated")
    chosen = parser.parse_args()
    names = chosen.exactly or [name for name in SETTINGS if chosen.only in name]
    print(f"| setting | epochs | {' | '.join(DATASETS)} | mean | CPU s |")
    print("|---" * (len(DATASETS) + 4) + "|")
    for name in names:
        started = time.process_time()
        table = np.stack([accuracies(dataset, *SETTINGS[name]) for dataset in DATASETS])
        seconds = time.process_time() - started
        for column, epochs in enumerate(EPOCHS):
            cells = " | ".join(f"{value:.1f}" for value in table[:, column])
            mean = table[:, column].mean()
            print(f"| {name} | {epochs} | {cells} | {mean:.2f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
