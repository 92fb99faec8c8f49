r"""What groups, asking and ranking cost on large data, beside other libraries where these get through.

    python benchmarks/speed/analysis.py [--nodes 100000] [--edges 1000000] [--rows 1000000] \
        > docs/results/analysis_speed.csv

Prints CSV ``data,task,cpu_seconds,nmi``. The network has three layers, three fifths of whose edges stay within fifty
groups; the table has five columns (memberships that imply billions of pairs); NMI is agreement with the planted
groups. scikit-network and leidenalg run once on the union of the layers. networkx's PageRank sees a thousand rows
only: the edges of more cannot be built.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

import gramme


def network(nodes: int, edges: int, groups: int, seed: int = 0) -> tuple[gramme.MultilayerGraph, np.ndarray]:
    """Three layers of edges, three fifths of them within groups."""
    random = np.random.default_rng(seed)
    group = random.integers(groups, size=nodes)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(groups + 1))
    layers = {}
    for number in range(3):
        source, target = random.integers(nodes, size=(2, edges // 3))
        inside = random.random(source.size) < 0.6
        own = group[source[inside]]
        size = starts[own + 1] - starts[own]
        target[inside] = order[starts[own] + (random.random(own.size) * size).astype(int)]
        layers[f"layer {number}"] = gramme.EdgeLayer(nodes, source, target)
    return gramme.MultilayerGraph(layers), group


def table(rows: int, seed: int = 0) -> tuple[gramme.MultilayerGraph, np.ndarray]:
    """Five columns of ten values, each value that of the row's group in seven of ten rows."""
    random = np.random.default_rng(seed)
    group = random.integers(10, size=rows)
    layers = {
        f"column {number}": gramme.MembershipLayer.from_codes(
            np.where(random.random(rows) < 0.7, group, random.integers(10, size=rows))
        )
        for number in range(5)
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
        graphs.append(igraph.Graph(n=graph.num_nodes, edges=np.stack([half.row, half.col], axis=1).tolist()))
    found, _ = leidenalg.find_partition_multiplex(graphs, leidenalg.ModularityVertexPartition, seed=0)
    return np.asarray(found)


def networkx_pagerank(graph: gramme.MultilayerGraph) -> object:
    import networkx as nx
    from networkx.algorithms.link_analysis import pagerank

    return pagerank(nx.from_scipy_sparse_array(graph.supra_adjacency()), tol=1e-13, max_iter=1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the table that is ranked")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True)
    chosen = parser.parse_args()
    small, _ = network(200, 2_000, 4)
    gramme.groups(small, repeats=2)  # compiles
    gramme.ask(small, count=2)
    gramme.rank(small, ["pagerank"])
    graph, group = network(chosen.nodes, chosen.edges, 50)
    rows, row_group = table(chosen.nodes)
    long, _ = table(chosen.rows)
    part, _ = table(1_000)
    ours: list[tuple[str, str, Callable[[], Any], np.ndarray | None]] = [
        ("edges", "gramme.groups", lambda: gramme.groups(graph).labels_, group),
        ("edges", "gramme.ask, count 100", lambda: gramme.ask(graph, count=100), None),
        ("table", "gramme.groups", lambda: gramme.groups(rows).labels_, row_group),
        ("table", "gramme.ask, count 100", lambda: gramme.ask(rows, count=100), None),
        ("table", f"gramme.rank, PageRank of {chosen.rows:,} rows", lambda: gramme.rank(long, ["pagerank"]), None),
        ("table", "gramme.rank, PageRank of 1,000 rows", lambda: gramme.rank(part, ["pagerank"]), None),
    ]
    peers: list[tuple[str, str, Callable[[], Any], np.ndarray | None]] = [
        ("edges", "scikit-network Leiden, one run", lambda: scikit_network(graph), group),
        ("edges", "leidenalg multiplex, one run", lambda: leidenalg_multiplex(graph), group),
        ("table", "networkx PageRank of 1,000 rows", lambda: networkx_pagerank(part), None),
    ]
    print("data,task,cpu_seconds,nmi")
    for data, task, work, truth in [*ours, *(peers if chosen.peers else [])]:
        began = time.process_time()
        found = work()
        seconds = time.process_time() - began
        agreement = "" if truth is None else f"{normalized_mutual_info_score(truth, found):.3f}"
        print(f'{data},"{task}",{seconds:.2f},{agreement}', flush=True)


if __name__ == "__main__":
    main()
