"""How the settings of LINE and label propagation were checked: on training labels alone.

The protocol of choose_defaults.py: of a realisation's 30 % training nodes a third is learned from and the rest
predicted; labels of the other 70 % of the nodes are never touched. One line per setting, mean accuracies.

    python benchmarks/choose_baselines.py
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from choose_defaults import inner_split, part

import gramme
from gramme.methods import method

DATASETS = {
    "ckm_social": 20,
    "leskovec_ng": 20,
    "vickers_chan": 20,
    "balance_scale": 20,
    "congress_votes": 10,
    "mammography": 10,
}
SETTINGS = {
    "line, 100 samples per node": ("line", {"per_node": 100}),
    "line, 500 samples per node": ("line", {"per_node": 500}),
    "line, 2000 samples per node": ("line", {"per_node": 2000}),
    "label propagation": ("label-propagation", {}),
    "label propagation, equal layers": ("label-propagation", {"layer_weights": "equal"}),
    "label propagation, as sharp as heard": ("label-propagation", {"sharpness": 1.0}),
    "label propagation, class mass": ("label-propagation", {"class_mass": True}),
    "label propagation, alpha 0.9": ("label-propagation", {"alpha": 0.9}),
    "label propagation, alpha 0.3": ("label-propagation", {"alpha": 0.3}),
    "label propagation, alpha 0.99, equal layers, plain": (
        "label-propagation",
        {"alpha": 0.99, "layer_weights": "equal", "sharpness": 1.0},
    ),
}


def accuracy(name: str, method_name: str, settings: dict[str, Any]) -> float:
    """Mean accuracy; a realisation with one class only predicts that class. All splits share seed 0."""
    graph = gramme.datasets.load(name)
    found = []
    for realisation in range(DATASETS[name]):
        learn, predict = inner_split(graph.num_nodes, realisation)
        if len(set(graph.labels[learn])) == 1:
            found.append((graph.labels[predict] == graph.labels[learn[0]]).mean())
            continue
        used = settings
        if "per_node" in settings:
            used = {"samples": settings["per_node"] * graph.num_nodes}
        model = method(method_name).estimator(**used, random_state=0)
        model.fit(graph.replace(labels=None), part(graph, learn))
        found.append((model.predict()[predict] == graph.labels[predict]).mean())
    return float(100 * np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="settings whose name contains this")
    chosen = parser.parse_args()
    print(f"| setting | {' | '.join(DATASETS)} | mean | CPU s |")
    print("|---" * (len(DATASETS) + 3) + "|")
    for name, (method_name, settings) in SETTINGS.items():
        if chosen.only not in name:
            continue
        started = time.process_time()
        cells = [accuracy(dataset, method_name, settings) for dataset in DATASETS]
        seconds = time.process_time() - started
        shown = " | ".join(f"{cell:.1f}" for cell in cells)
        print(f"| {name} | {shown} | {np.mean(cells):.2f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
