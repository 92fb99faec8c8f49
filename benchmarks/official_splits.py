"""Methods on the official split of a dataset with features: accuracy on its test nodes, from its training nodes.

The validation nodes of the split are used by nobody.

    python benchmarks/official_splits.py cora gramme-auto,gat,rgcn,han --seeds 1
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import gramme
from gramme.methods import method


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("methods")
    parser.add_argument("--seeds", type=int, default=1)
    chosen = parser.parse_args()
    graph = gramme.datasets.load(chosen.dataset)
    split = gramme.datasets.official_split(chosen.dataset)
    learn, test = graph.positions(split["train"]), graph.positions(split["test"])
    y = np.full(graph.num_nodes, None, dtype=object)
    y[learn] = graph.labels[learn]
    for name in chosen.methods.split(","):
        found, started = [], time.process_time()
        for seed in range(chosen.seeds):
            model = method(name).estimator(random_state=seed).fit(graph.replace(labels=None), y)
            found.append(100 * (model.predict() == graph.labels)[test].mean())
        seconds = (time.process_time() - started) / chosen.seeds
        print(f"{name}: {np.mean(found):.1f} over {chosen.seeds} seeds, {seconds:.0f} CPU s a fit")
        if hasattr(model, "ingredients_"):
            print(model.ingredients_.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
