"""How long groups and asking take on large graphs, beside other libraries' Leiden on the union of the layers.

    python benchmarks/bench_groups.py > docs/results/groups_speed.csv

Prints CPU seconds for a graph of 100,000 nodes and three layers with a million edges, and for a table of 100,000 rows
and five columns (memberships that imply billions of pairs), as CSV.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

import gramme


def network(
    nodes: int, edges: int, groups: int, seed: int = 0
) -> tuple[gramme.MultilayerGraph, np.ndarray]:
    """Three layers of edges, three fifths of them within groups."""
    random = np.random.default_rng(seed)
    group = random.integers(groups, size=nodes)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(groups + 1))
    layers = {}
    for place in range(3):
        source, target = random.integers(nodes, size=(2, edges // 3))
        same = random.random(source.size) < 0.6
        mine = group[source[same]]
        size = starts[mine + 1] - starts[mine]
        target[same] = order[starts[mine] + (random.random(mine.size) * size).astype(int)]
        layers[f"layer {place}"] = gramme.EdgeLayer(nodes, source, target)
    return gramme.MultilayerGraph(layers), group


def table(rows: int, seed: int = 0) -> tuple[gramme.MultilayerGraph, np.ndarray]:
    """Five columns of ten values, each value that of the row's group in seven of ten rows."""
    random = np.random.default_rng(seed)
    group = random.integers(10, size=rows)
    layers = {
        f"column {place}": gramme.MembershipLayer.from_codes(
            np.where(random.random(rows) < 0.7, group, random.integers(10, size=rows))
        )
        for place in range(5)
    }
    return gramme.MultilayerGraph(layers), group


def scikit_network(graph: gramme.MultilayerGraph) -> np.ndarray:
    from sknetwork.clustering import Leiden

    first, *others = graph.to_scipy().values()
    return np.asarray(Leiden(random_state=0).fit_predict(sp.csr_matrix(sum(others, first))))


def leidenalg_multiplex(graph: gramme.MultilayerGraph) -> np.ndarray:
    import igraph
    import leidenalg

    graphs = []
    for matrix in graph.to_scipy().values():
        half = sp.triu(matrix, 1).tocoo()
        pairs = np.stack([half.row, half.col], axis=1).tolist()
        graphs.append(igraph.Graph(n=graph.num_nodes, edges=pairs))
    found, _ = leidenalg.find_partition_multiplex(
        graphs, leidenalg.ModularityVertexPartition, seed=0
    )
    return np.asarray(found)


def measured(work: Callable[[], object]) -> tuple[object, float]:
    began = time.process_time()
    found = work()
    return found, time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    arguments = parser.parse_args()
    small, _ = network(200, 2_000, 4)
    gramme.groups(small, repeats=2)  # compiles
    gramme.ask(small, count=2)
    print("graph,task,cpu_seconds,nmi")
    graph, group = network(arguments.nodes, arguments.edges, 50)
    works = {
        "gramme.groups": lambda: gramme.groups(graph).labels_,
        "scikit-network Leiden, one run": lambda: scikit_network(graph),
        "leidenalg multiplex, one run": lambda: leidenalg_multiplex(graph),
    }
    for name, work in works.items():
        found, seconds = measured(work)
        print(
            f'edges,"{name}",{seconds:.1f},{normalized_mutual_info_score(group, found):.3f}',
            flush=True,
        )
    _, seconds = measured(lambda: gramme.ask(graph, count=100))
    print(f'edges,"gramme.ask, count 100",{seconds:.1f},', flush=True)
    rows, group = table(arguments.nodes)
    found, seconds = measured(lambda: gramme.groups(rows).labels_)
    print(
        f"table,gramme.groups,{seconds:.1f},{normalized_mutual_info_score(group, found):.3f}",
        flush=True,
    )
    _, seconds = measured(lambda: gramme.ask(rows, count=100))
    print(f'table,"gramme.ask, count 100",{seconds:.1f},', flush=True)


if __name__ == "__main__":
    main()
