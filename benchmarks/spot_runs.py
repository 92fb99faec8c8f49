"""Does a change of the code change a result? Checksums of what every method says about small graphs, with two seeds.

Before a change that should alter nothing:  python benchmarks/spot_runs.py --save before.json
After it:                                   python benchmarks/spot_runs.py --compare before.json

Bits are compared, so both runs must be made on the same machine with one thread (OMP_NUM_THREADS=1).
"""

import argparse
import hashlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from gramme import MultilayerGraph, datasets
from gramme.methods import (
    METHODS,
    GrammeAuto,
    GrammeFusion,
    GrammeSG,
    LabelPropagation,
    OneHotLogistic,
)

DATASETS = ("vickers_chan", "ckm_social", "wine")
SEEDS = (0, 1)
SLOW = {
    "mne": {},
    "line": {"samples": 20_000},
    "gat": {"epochs": 20},
    "rgcn": {"epochs": 20},
    "han": {"epochs": 20},
}
VARIANTS: dict[str, Any] = {
    "fusion/end": GrammeFusion(fuse="end", ensemble=3, epochs=15),
    "fusion/stopped": GrammeFusion(
        validation_fraction=0.3,
        dropout=0.2,
        attention_dropout=0.2,
        ensemble=2,
        epochs=30,
        patience=3,
    ),
    "fusion/concatenate": GrammeFusion(
        combine_heads="concatenate",
        feed_forward=True,
        class_weight="balanced",
        ensemble=2,
        epochs=10,
    ),
    "sg/every hop": GrammeSG(pool="every hop", ensemble=2, epochs=15, dropout=0.1),
    "one-hot/weighed": OneHotLogistic(weigh_layers=True),
    "propagation/plain": LabelPropagation(),
    "auto/small": GrammeAuto(ensemble=2, folds=3, epochs=10),
}


def takes_features(name: str) -> bool:
    """Whether a method looks at a graph's features, which most embeddings do not."""
    return name not in ("mne", "line") and (name not in METHODS or METHODS[name].extra != "walks")


def with_features(graph: MultilayerGraph) -> MultilayerGraph:
    """The graph with three noisy attributes, so that what is done with attributes is covered too."""
    random = np.random.default_rng(7)
    codes = np.unique(np.asarray(graph.labels, dtype=str), return_inverse=True)[1]
    features = codes[:, None] * [1.0, -1.0, 0.0] + random.normal(size=(graph.num_nodes, 3))
    return MultilayerGraph(graph.layers, nodes=graph.nodes, labels=graph.labels, features=features)


def hidden(graph: MultilayerGraph, seed: int) -> np.ndarray:
    """The labels with four of five unknown."""
    y = graph.labels.astype(object).copy()
    y[np.random.default_rng(seed).random(graph.num_nodes) > 0.3] = None
    return y


def checksum(values: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]


def results(only: str | None) -> dict[str, str]:
    models: dict[str, Any] = {
        name: method.estimator(**SLOW.get(name, {})) for name, method in METHODS.items()
    }
    models |= VARIANTS
    found = {}
    for dataset in DATASETS:
        plain = datasets.load(dataset)
        # beside its skip-gram, MNE's time on a table would be most of all runs together
        chosen = {
            name: model for name, model in models.items() if (name, dataset) != ("mne", "wine")
        }
        for kind, graph in (("plain", plain), ("features", with_features(plain))):
            for name, model in chosen.items():
                if kind == "features" and (dataset != "ckm_social" or not takes_features(name)):
                    continue
                for seed in SEEDS:
                    key = f"{dataset}/{kind}/{name}/{seed}"
                    if only and only not in key:
                        continue
                    if "random_state" in model.get_params():
                        model.set_params(random_state=seed)
                    fitted = model.fit(graph, hidden(graph, seed))
                    found[key] = checksum(fitted.predict_proba())
                    print(key, found[key], file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--only", help="runs whose name contains this")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    now = results(chosen.only)
    if chosen.save:
        chosen.save.write_text(json.dumps(now, indent=1))
    if chosen.compare:
        before = json.loads(chosen.compare.read_text())
        differing = [key for key, value in now.items() if before.get(key, value) != value]
        print(f"{len(now) - len(differing)} of {len(now)} equal")
        for key in differing:
            print("differs:", key)
        sys.exit(bool(differing))


if __name__ == "__main__":
    main()
