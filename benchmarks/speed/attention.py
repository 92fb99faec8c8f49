"""CPU time and memory of a training step against PyTorch Geometric, bare sparse products and separate runs.

    GRAMME_DATA=... python benchmarks/speed/attention.py [--only a,b,c,d,e,f,g]
    python benchmarks/speed/attention.py --only "" --scale 30000000     time and memory per edge, and its figure

All on one thread, each pair in the same run. A step is forward, loss, backward and Adam. The peer has the same sizes,
on ``GATConv`` with explicit edges and self loops. Every node has a label, so that both sides compute the same; where a
fifth have, ours computes the last hop for these alone, which part f shows. Parts with the peer take seconds a step: the
whole takes minutes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from measure import (
    Comparison,
    cpu_seconds,
    forget_peak,
    header,
    in_own_process,
    mebibytes,
    milliseconds,
    resident_bytes,
)
from torch import Tensor, nn

from gramme import datasets
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.nn import FusionNetwork, MemberRandom, Network, SGNetwork, Shape, fusion_plan, supra_plan
from gramme.ops import EdgeSum, attention_sums, stack

FEATURES, HIDDEN, HEADS = 64, 32, 2
Step = Callable[[], None]


def random_graph(nodes: int, edges: int) -> MultilayerGraph:
    random = np.random.default_rng(0)
    ends = random.integers(0, nodes, edges), random.integers(0, nodes, edges)
    return MultilayerGraph({"edges": EdgeLayer(nodes, *ends, directed=True)})


def training_step(network: nn.Module, scores: Callable[[], Tensor], known: Tensor, members: int = 1) -> Step:
    """Forward, loss on the nodes whose labels are known, backward, Adam. The scores are those of these nodes."""
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True)
    labels = (known % 2).repeat_interleave(members)

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(F.cross_entropy(scores().flatten(0, -2), labels))
        optimiser.step()

    return step


def our_step(graph: MultilayerGraph, kind: str, *, depth: int = 2, members: int = 1, every: int = 1) -> Step:
    layers = graph.num_layers
    shape = Shape(layers, FEATURES, HIDDEN, 2, (HEADS,) * layers, (depth,) * layers)
    random = MemberRandom(range(members))
    known = np.arange(0, graph.num_nodes, every)
    network: Network
    if kind == "fusion":
        network = FusionNetwork(shape, random, fusion_heads=5, feed_forward=False, fuse="end")
        plan = fusion_plan(graph, shape, known, fuse="end")
    else:
        network = SGNetwork(shape, random, pool="end")
        plan = supra_plan(graph, shape, known)
    rows = graph.num_nodes * (layers if kind == "sg" else 1)
    features = torch.randn(rows, members, FEATURES)

    def scores() -> Tensor:
        found: Tensor = network(features, plan).scores
        return found

    return training_step(network, scores, torch.from_numpy(known), members)


class PeerNetwork(nn.Module):
    """Hops of GATConv per list of edges, fused like GrAMME-Fusion, or averaged over copies like GrAMME-SG."""

    def __init__(self, edges: list[Tensor], copies: int, depth: int) -> None:
        super().__init__()
        from torch_geometric.nn import GATConv

        self.edges, self.copies = edges, copies
        self.hops = nn.ModuleList(
            nn.ModuleList(
                GATConv(HIDDEN if step else FEATURES, HIDDEN, heads=HEADS, concat=False) for step in range(depth)
            )
            for _ in edges
        )
        self.gamma = nn.Parameter(torch.rand(5, len(edges)))
        self.kappa = nn.Parameter(torch.rand(5))
        self.classifier = nn.Linear(HIDDEN, 2)

    def forward(self, features: Tensor) -> Tensor:
        found = []
        for hops, edges in zip(self.hops, self.edges, strict=True):
            values = features
            for hop in hops.children():
                values = F.elu(hop(values, edges))
            found.append(values)
        fused = torch.einsum("l,lnd->nd", self.kappa @ self.gamma, torch.stack(found))
        scores: Tensor = self.classifier(fused.view(self.copies, -1, HIDDEN).mean(0))
        return scores


def peer_step(graph: MultilayerGraph, kind: str, *, depth: int = 2) -> Step:
    matrices = [graph.supra_adjacency()] if kind == "sg" else list(graph.to_scipy().values())
    edges = []
    for matrix in matrices:
        found = matrix.tocoo()
        edges.append(torch.from_numpy(np.stack([found.col, found.row]).astype(np.int64)))
    del matrices
    copies = graph.num_layers if kind == "sg" else 1
    network = PeerNetwork(edges, copies, depth)
    features = torch.randn(graph.num_nodes * copies, FEATURES)
    known = torch.arange(graph.num_nodes)
    return training_step(network, lambda: network(features), known)


def against_peer(
    what: str, graph: MultilayerGraph, kind: str, target: float, *, depth: int = 2, repeats: int = 5
) -> Comparison:
    ours = cpu_seconds(our_step(graph, kind, depth=depth), repeats=repeats * 4, warm_up=5)
    other = cpu_seconds(peer_step(graph, kind, depth=depth), repeats=2)
    return Comparison(what, milliseconds(ours), milliseconds(other), other / ours, target)


def csr_tensor(matrix: sp.csr_array) -> Tensor:
    """The same matrix for torch."""
    ends, heard, data = (torch.from_numpy(one) for one in (matrix.indptr, matrix.indices, matrix.data))
    return torch.sparse_csr_tensor(ends, heard, data, size=matrix.shape, check_invariants=False)


def against_products(what: str, graph: MultilayerGraph, depth: int) -> Iterator[Comparison]:
    """A whole step against nothing but the sparse products of its hops, and the sums alone against them."""
    nodes = graph.num_nodes
    layer = graph.layers["edges"]
    matrix = layer.to_scipy().astype(np.float32)
    turned = matrix.T.tocsr()
    both = [csr_tensor(one) for one in (matrix, turned)]
    values = torch.randn(nodes, HEADS * HIDDEN)
    sums = stack([layer], nodes)
    steps = {
        share: cpu_seconds(our_step(graph, "fusion", depth=depth, every=every), repeats=10)
        for share, every in (("a fifth", 5), ("all", 1))
    }
    pair = cpu_seconds(lambda: [torch.sparse.mm(one, values) for one in both], repeats=10)
    bags = cpu_seconds(lambda: (sums(values), sums.transposed(values)), repeats=10)
    projected = values.view(nodes, HEADS, HIDDEN).requires_grad_()
    scores = torch.randn(nodes, HEADS, requires_grad=True)

    def attend() -> None:
        """The attention of a hop, forward and backward, apart from projection and activation."""
        results = attention_sums(projected, scores, sums)
        torch.autograd.grad(results, (projected, scores), results)

    kernel = cpu_seconds(attend, repeats=10)
    yield Comparison(
        f"{what}, attention of a hop / sparse products",
        milliseconds(kernel),
        milliseconds(pair),
        kernel / pair,
        1.5,
        at_least=False,
    )
    for share, step in steps.items():
        yield Comparison(
            f"{what}, whole step, {share} labelled / sparse products",
            milliseconds(step),
            milliseconds(pair * depth),
            step / (pair * depth),
            1.5,
            at_least=False,
        )
    yield Comparison(f"{what}, sparse products / our sums", milliseconds(bags), milliseconds(pair), pair / bags, 1.0)


def part_a() -> Iterator[Comparison]:
    graph = datasets.load("mammography")
    yield against_peer("a  mammography, Fusion, PyG / gramme", graph, "fusion", 250)


def part_b() -> Iterator[Comparison]:
    what = "b  20,000 nodes, 1 M edges"
    graph = random_graph(20_000, 1_000_000)
    yield against_peer(f"{what}, PyG / gramme", graph, "fusion", 10, repeats=3)
    what = "b  200,000 nodes, 8 M edges"
    graph = random_graph(200_000, 8_000_000)
    yield against_peer(f"{what}, one hop, PyG / gramme", graph, "fusion", 6, depth=1, repeats=1)


def part_c() -> Iterator[Comparison]:
    graph = datasets.load("mammography")
    yield against_peer("c  mammography, SG, PyG / gramme", graph, "sg", 200)


def part_d() -> Iterator[Comparison]:
    ours, other = (in_own_process(["--memory-of", who])["added"] for who in ("gramme", "peer"))
    yield Comparison(
        "d  200,000 nodes, 8 M edges, one hop, peak memory, PyG / gramme",
        mebibytes(ours),
        mebibytes(other),
        other / ours,
        10,
    )


def memory_of(who: str) -> None:
    """What training adds to the memory of a process that has its libraries and the graph."""
    import torch_geometric.nn  # noqa: F401  # in both, so that the start is the same

    graph = random_graph(200_000, 8_000_000)
    forget_peak()
    before = resident_bytes()
    step = (our_step if who == "gramme" else peer_step)(graph, "fusion", depth=1)
    for _ in range(2):
        step()
    print(json.dumps({"added": resident_bytes(peak=True) - before}))


def part_e() -> Iterator[Comparison]:
    graph = datasets.load("ckm_social")
    for kind in ("fusion", "sg"):
        one = cpu_seconds(our_step(graph, kind), repeats=15, warm_up=20, times=5)
        eight = cpu_seconds(our_step(graph, kind, members=8), repeats=15, warm_up=20, times=5)
        yield Comparison(
            f"e  ckm_social, {kind}, 8 runs / 8 members together",
            milliseconds(eight),
            milliseconds(8 * one),
            8 * one / eight,
            3,
        )


def part_f() -> Iterator[Comparison]:
    for nodes, edges in ((20_000, 1_000_000), (200_000, 8_000_000)):
        graph = random_graph(nodes, edges)
        yield from against_products(f"f  {nodes:,} nodes, {edges:,} edges", graph, depth=2)


def part_g() -> Iterator[Comparison]:
    """Sums over random edges far beyond any cache."""
    nodes, degree = 1_000_000, 30
    random = np.random.default_rng(0)
    heard = random.integers(0, nodes, nodes * degree, dtype=np.int32)
    ends = np.arange(0, nodes * degree + 1, degree)
    matrix = sp.csr_array((np.ones(heard.size, np.float32), heard, ends), shape=(nodes, nodes))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    yield sums_against_products(f"g  {nodes:,} nodes x {degree} edges", matrix)
    matrix.data += random.random(matrix.nnz, dtype=np.float32)
    yield sums_against_products(f"g  {nodes:,} nodes x {degree} weighted edges", matrix)


def sums_against_products(what: str, matrix: sp.csr_array) -> Comparison:
    """The sum and its transpose, exact, against torch's product with the matrix and its transpose."""
    columns = HEADS * HIDDEN
    values = torch.randn(matrix.shape[0], columns)
    sums = EdgeSum(matrix, symmetric=False)
    both = [csr_tensor(one) for one in (matrix, matrix.T.tocsr())]
    directions: list[Callable[[Tensor], Tensor]] = [sums, sums.transposed]
    for apply, product in zip(directions, both, strict=True):
        wanted = torch.sparse.mm(product, values) + values
        torch.testing.assert_close(apply(values), wanted, rtol=1e-4, atol=1e-3)
    ours = cpu_seconds(lambda: (sums(values), sums.transposed(values)), repeats=3)
    torchs = cpu_seconds(lambda: [torch.sparse.mm(one, values) for one in both], repeats=3)
    return Comparison(
        f"{what} x {columns} columns, sparse products / our sums",
        milliseconds(ours),
        milliseconds(torchs),
        torchs / ours,
        2.0,
    )


LAYERS, PER_NODE = 3, 10
SIZES = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000]
FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "time_per_edge.png"


def measure_size(edges: int) -> None:
    """Train a few steps at one size; the last line printed is what was found."""
    per_layer = edges // LAYERS
    nodes = per_layer // PER_NODE
    random = np.random.default_rng(0)
    layers = {
        f"layer {number}": EdgeLayer(
            nodes,
            random.integers(0, nodes, per_layer, dtype=np.int32),
            random.integers(0, nodes, per_layer, dtype=np.int32),
            directed=True,
        )
        for number in range(LAYERS)
    }
    graph = MultilayerGraph(layers)
    del layers
    kept = graph.num_edges
    step = our_step(graph, "fusion")
    del graph
    repeats = 10 if edges <= 1_000_000 else 3 if edges <= 10_000_000 else 2
    step()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        step()
        times.append(time.process_time() - start)
    measured = {"nodes": nodes, "edges": kept, "seconds": min(times), "peak": resident_bytes(peak=True)}
    print(json.dumps(measured))


def draw(rows: list[dict[str, float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    edges = [row["edges"] for row in rows]
    figure, axes = plt.subplots(figsize=(5.5, 3.5), layout="constrained")
    axes.loglog(edges, [row["seconds"] / row["edges"] * 1e9 for row in rows], marker="o")
    axes.set_ylim(10, 10_000)
    axes.set_xlabel("edges (three layers together)")
    axes.set_ylabel("CPU nanoseconds per edge and step")
    axes.grid(True, which="both", alpha=0.3)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=150)


def part_scale(largest: int) -> None:
    """Time per edge and memory of a step, from 100,000 to 30 million directed edges in three layers."""
    print(f"{'edges':>12} {'nodes':>10} {'ms / step':>12} {'ns / edge':>10} {'peak memory':>14}")
    rows = []
    for size in [size for size in SIZES if size <= largest]:
        row = in_own_process(["--size", str(size)])
        rows.append(row)
        print(
            f"{row['edges']:>12,.0f} {row['nodes']:>10,.0f} {row['seconds'] * 1e3:>12,.1f} "
            f"{row['seconds'] / row['edges'] * 1e9:>10.0f} {mebibytes(row['peak']):>14}",
            flush=True,
        )
    costs = [row["seconds"] / row["edges"] for row in rows]
    print(f"highest / lowest cost per edge: {max(costs) / min(costs):.2f}")
    if largest >= SIZES[-1]:
        draw(rows)


PARTS = {
    "a": part_a, "b": part_b, "c": part_c, "d": part_d, "e": part_e, "f": part_f, "g": part_g,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run, such as a,e")
    parser.add_argument("--scale", type=int, default=0, help="also steps on up to so many edges")
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--memory-of", choices=["gramme", "peer"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if options.memory_of:
        memory_of(options.memory_of)
        return
    if options.size:
        measure_size(options.size)
        return
    print(header())
    for part in filter(None, options.only.split(",")):
        for row in PARTS[part]():
            print(row, flush=True)
    if options.scale:
        part_scale(options.scale)


if __name__ == "__main__":
    main()
