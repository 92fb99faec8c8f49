"""What walks are worth: GrammeFusion with default features against random ones, on sparse networks without attributes.

    GRAMME_DATA=... python benchmarks/walk_features.py [--networks synthetic,acm,dblp] [--per-class 20,60] [--repeats 2]

The networks have two layers and about 70,000 edges, and 20 or 60 labels of each class are known:

- synthetic: 6,564 nodes, 4 classes, 35,000 random edges in each layer, of signal 0.5 and 0.2
- acm: the 4,019 papers of acm_heco, which share an author, or, thinned out at random, a subject
- dblp: the 4,057 authors of dblp_heco, who share a paper, or, thinned out at random, a venue

Labels are drawn at random; all other nodes are scored. Prints CSV: network, labels per class, features, accuracy in
percent, CPU seconds of a fit.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import gramme

EDGES = 70_000
FEATURES = ("random", "walks+random")


def synthetic() -> gramme.MultilayerGraph:
    return gramme.datasets.load(
        "synthetic", nodes=6564, classes=4, layers=2, degree=EDGES / 6564, signal=[0.5, 0.2]
    )


def thinned(name: str, sparse: str, dense: str) -> gramme.MultilayerGraph:
    """Two layers of a dataset without its features; of the second, edges are left out until there are EDGES in all."""
    graph = gramme.datasets.load(name).replace(features=None).select_layers([sparse, dense])
    wanted = EDGES - graph.layers[sparse].num_edges
    edges = graph.layers[dense]
    kept = np.random.default_rng(0).choice(edges.source.size, wanted, replace=False)
    few = gramme.EdgeLayer(graph.num_nodes, edges.source[kept], edges.target[kept])
    return graph.replace(layers={sparse: graph.layers[sparse], dense: few})


NETWORKS = {
    "synthetic": synthetic,
    "acm": lambda: thinned("acm_heco", "PAP", "PSP"),
    "dblp": lambda: thinned("dblp_heco", "APA", "APCPA"),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--per-class", default="20,60")
    parser.add_argument("--repeats", type=int, default=2)
    chosen = parser.parse_args()
    print("network,labels_per_class,features,accuracy,cpu_seconds")
    for name in chosen.networks.split(","):
        graph = NETWORKS[name]()
        labels = graph.labels
        for count in map(int, chosen.per_class.split(",")):
            for features in FEATURES:
                found = []
                for seed in range(chosen.repeats):
                    order = np.random.default_rng(seed).permutation(graph.num_nodes)
                    learn = np.concatenate(
                        [order[labels[order] == one][:count] for one in np.unique(labels)]
                    )
                    y = np.full(graph.num_nodes, None, dtype=object)
                    y[learn] = labels[learn]
                    started = time.process_time()
                    model = gramme.GrammeFusion(
                        features=features, random_state=seed, progress=False
                    )
                    right = model.fit(graph.replace(labels=None), y).predict() == labels
                    seconds = time.process_time() - started
                    found.append((100 * np.delete(right, learn).mean(), seconds))
                accuracy, seconds = np.mean(found, axis=0)
                print(f"{name},{count},{features},{accuracy:.1f},{seconds:.1f}", flush=True)


if __name__ == "__main__":
    main()
