"""What groups are there: gramme.groups against scikit-network, leidenalg and spectral clustering.

The command of docs/results/groups.csv (a few minutes on one core; needs scikit-network, leidenalg and igraph):

    GRAMME_DATA=../shared/data python benchmarks/accuracy/groups.py --out docs/results/groups.csv

Classes are never shown to a method. Two readings: the number of groups is not known (gramme, Leiden on the union of
the layers, leidenalg's multiplex modularity, spectral clustering with the number from the largest gap between
eigenvalues), or it is given (gramme with count, spectral clustering with that number). Writes normalised mutual
information and adjusted Rand index per graph, method and seed, and prints the means.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from multilayer_sets import RIGHT_LAYERS, named, planted, right_layers
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import gramme

DATASETS = "vickers_chan,ckm_social,leskovec_ng,congress_votes,wine,mammography,digits,multiple_features"
MAX_GAP = 20
"""Eigenvalues among which the largest gap is sought."""


def adjacencies(graph: gramme.MultilayerGraph) -> list[sp.csr_array]:
    """Each layer as a symmetric matrix; peers get memberships as the edges they imply."""
    found = []
    for layer in graph.layers.values():
        matrix = layer.to_scipy()
        found.append(sp.csr_array(matrix + matrix.T if layer.directed else matrix))
    return found


def scikit_network(graph: gramme.MultilayerGraph, count: int | None, seed: int) -> np.ndarray:
    from sknetwork.clustering import Leiden

    union = sum(adjacencies(graph)[1:], adjacencies(graph)[0])
    return np.asarray(Leiden(random_state=seed).fit_predict(sp.csr_matrix(union)))


def leidenalg_multiplex(graph: gramme.MultilayerGraph, count: int | None, seed: int) -> np.ndarray:
    import igraph
    import leidenalg

    graphs = []
    for matrix in adjacencies(graph):
        half = sp.triu(matrix, 1).tocoo()
        pairs = np.stack([half.row, half.col], axis=1).tolist()
        made = igraph.Graph(n=graph.num_nodes, edges=pairs)
        made.es["weight"] = half.data.tolist()
        graphs.append(made)
    found, _ = leidenalg.find_partition_multiplex(
        graphs, leidenalg.ModularityVertexPartition, seed=seed, weights="weight"
    )
    return np.asarray(found)


def spectral(graph: gramme.MultilayerGraph, count: int | None, seed: int) -> np.ndarray:
    """k-means on the first eigenvectors of the mean of the layers' normalised adjacencies."""
    step = np.zeros((graph.num_nodes, graph.num_nodes))
    for matrix in adjacencies(graph):
        degree = np.asarray(matrix.sum(axis=1))
        scale = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1e-300)), 0.0)
        step += matrix.toarray() * scale[:, None] * scale[None] / graph.num_layers
    values, vectors = np.linalg.eigh(step)
    values, vectors = values[::-1], vectors[:, ::-1]
    if count is None:
        gaps = values[1 : MAX_GAP + 1] - values[2 : MAX_GAP + 2]
        count = int(np.argmax(gaps)) + 2
    rows = vectors[:, :count]
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return np.asarray(KMeans(count, n_init=5, random_state=seed).fit_predict(rows))


def ours(graph: gramme.MultilayerGraph, count: int | None, seed: int) -> np.ndarray:
    return gramme.groups(graph, count, repeats=6, random_state=seed).labels_


Method = Callable[[gramme.MultilayerGraph, int | None, int], np.ndarray]
METHODS: dict[tuple[str, bool], Method] = {
    ("gramme", False): ours,
    ("scikit-network", False): scikit_network,
    ("leidenalg", False): leidenalg_multiplex,
    ("spectral", False): spectral,
    ("gramme", True): ours,
    ("spectral", True): spectral,
}


def graphs(names: str) -> dict[str, Callable[[], gramme.MultilayerGraph]]:
    """All graphs by name, made when their turn comes."""
    found: dict[str, Callable[[], gramme.MultilayerGraph]] = {}
    for name in RIGHT_LAYERS:
        for noise in (0, 1, 2):
            title = f"{name}+{noise}" if noise else name
            found[title] = partial(right_layers, name, noise)
    for inside, layers, noise in ((0.06, 3, 0), (0.06, 3, 3), (0.04, 3, 3), (0.045, 2, 4)):
        title = f"planted {layers}+{noise}, {inside:g} in"
        found[title] = partial(planted, inside, layers=layers, noise=noise)
    for name in names.split(","):
        found[name] = partial(named, name)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="CSV to write")
    parser.add_argument("--datasets", default=DATASETS)
    parser.add_argument("--graphs", help="some of all graphs only, with commas between them")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    rows = []
    known_graphs = graphs(arguments.datasets)
    for name in known_graphs if arguments.graphs is None else arguments.graphs.split(","):
        make = known_graphs[name]
        graph = make()
        classes = pd.factorize(pd.Series(graph.labels))[0]
        known = classes >= 0
        count = len(graph.classes)
        bare = graph.replace(labels=None)
        for (method, given), function in METHODS.items():
            began = time.process_time()
            try:
                found = [function(bare, count if given else None, seed) for seed in range(arguments.seeds)]
            except ImportError as error:
                print(f"{method} is left out: {error}")
                continue
            seconds = (time.process_time() - began) / arguments.seeds
            scores = [normalized_mutual_info_score(classes[known], one[known]) for one in found]
            rows.append(
                {
                    "graph": name,
                    "nodes": graph.num_nodes,
                    "layers": graph.num_layers,
                    "classes": count,
                    "method": method,
                    "count_given": given,
                    "nmi": np.mean(scores),
                    "ari": np.mean([adjusted_rand_score(classes[known], one[known]) for one in found]),
                    "groups": np.mean([np.unique(one).size for one in found]),
                    "seed_agreement": np.mean(
                        [adjusted_rand_score(one, other) for one, other in combinations(found, 2)]
                    ),
                    "cpu_seconds": seconds,
                }
            )
        shown = pd.DataFrame([row for row in rows if row["graph"] == name]).round(3)
        print(shown[["graph", "method", "count_given", "nmi", "groups"]].to_string(header=False))
    table = pd.DataFrame(rows)
    table.to_csv(arguments.out, index=False, float_format="%.4g")
    means = table.groupby(["count_given", "method"])[["nmi", "ari", "seed_agreement", "cpu_seconds"]]
    print(means.mean().round(3).to_string())


if __name__ == "__main__":
    main()
