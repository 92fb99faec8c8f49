"""A training step on DBLP's relations against the same step on explicit meta-path edges and PyG's ``HANConv`` on them.

    GRAMME_DATA=... python benchmarks/bench_relations.py [--papers 1000000] [--skip-han]
    python benchmarks/bench_relations.py --fit [--papers 1000000] [--labelled 10000]

All on one thread, each in a process of its own within the same run: CPU time of the fastest step and the peak of
memory beyond what the process held before the network was made, with its libraries loaded by a step on a tiny graph.
One hop of attention, two heads; the peer's heads share the columns that each of ours has. The neighbourhood sums of a
step, forward and back, are also timed by themselves: they are what relations make cheaper, and everything else in a
step (projections, activations, the optimiser) is the same for relations and edges. So the ratio of whole steps has a
bound, which is printed too: the explicit step against these sums and the bare projections and activations, each as one
call of torch, with no loss, no optimiser and no gradient recorded. Then the time and memory of ``from_relations`` on
synthetic papers: three authors and ten authorships per paper.

With --fit, instead, gramme-auto on those papers, from a few labels, in a process of its own: CPU time and memory of
``from_relations`` and the fit together, and the accuracy on all other papers.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from bench_attention import FEATURES, HEADS, HIDDEN, our_step, training_step
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

from gramme import EdgeLayer, GrammeAuto, MembershipLayer, MultilayerGraph, datasets
from gramme.ops import layers_sum

LEAST = {"edges": 20.0, "han": 100.0}
MOST_SECONDS, MOST_BYTES = 20 * 60, 8 * 2**30
"""What a fit of gramme-auto on a million papers may take, the making of their graph included."""


class HANNetwork(nn.Module):
    """One HANConv over the meta-paths and a classifier."""

    def __init__(self, edges: dict[tuple[str, str, str], Tensor]) -> None:
        super().__init__()
        from torch_geometric.nn import HANConv

        self.edges = edges
        kinds = (["author"], list(edges))
        self.hop = HANConv({"author": FEATURES}, HIDDEN, kinds, heads=HEADS)
        self.classifier = nn.Linear(HIDDEN, 2)

    def forward(self, features: Tensor) -> Tensor:
        found = self.hop({"author": features}, self.edges)["author"]
        scores: Tensor = self.classifier(F.elu(found))
        return scores


def han_step(nodes: int, edges: dict[tuple[str, str, str], Tensor]):  # type: ignore[no-untyped-def]
    network = HANNetwork(edges)
    features = torch.randn(nodes, FEATURES)
    return training_step(network, lambda: network(features), torch.arange(nodes))


def tiny() -> MultilayerGraph:
    """A graph whose step loads every library that a step needs, and takes no memory to speak of."""
    nodes = np.arange(12)
    return MultilayerGraph(
        {
            "pairs": EdgeLayer(12, nodes, np.roll(nodes, 1)),
            "groups": MembershipLayer(12, np.tile(nodes, 2), np.repeat([0, 1], 12)),
        }
    )


def edges_of(graph: MultilayerGraph) -> dict[tuple[str, str, str], Tensor]:
    """The layers as PyG has them."""
    found = {}
    for name, matrix in graph.to_scipy().items():
        entries = matrix.tocoo()
        ends = np.stack([entries.col, entries.row]).astype(np.int64)
        found["author", name, "author"] = torch.from_numpy(ends)
    return found


def sums_alone(graph: MultilayerGraph) -> float:
    """CPU seconds of the neighbourhood sums of a step, forward and back."""
    sums = layers_sum(graph)
    values = torch.randn(sums.rows, HEADS * HIDDEN)
    return cpu_seconds(lambda: (sums(values), sums.transposed(values)), repeats=5)


def bare_arithmetic(graph: MultilayerGraph) -> float:
    """CPU seconds of a step's projections and activations alone, forward and back, as bare calls of torch."""
    layers, nodes, columns = graph.num_layers, graph.num_nodes, HEADS * HIDDEN
    features, weights = torch.randn(nodes, FEATURES), torch.randn(layers, FEATURES, columns)
    heard = torch.randn(layers * nodes, columns)

    def work() -> None:
        for layer in range(layers):
            torch.mm(features, weights[layer])
            torch.mm(features.t(), heard[layer * nodes : (layer + 1) * nodes])
        found = F.elu(heard)
        torch.ops.aten.elu_backward(heard, 1, 1, 1, True, found)

    return cpu_seconds(work, repeats=20)


def measured(part: str) -> dict[str, float]:
    """CPU seconds of a step and bytes at its peak, of one of the three, and of its sums alone for ours."""
    torch.set_num_threads(1)
    small = tiny()
    (han_step(12, edges_of(small)) if part == "han" else our_step(small, "fusion", depth=1))()
    graph = datasets.load("dblp_heco", view="relations" if part == "relations" else "edges")
    if part == "han":
        edges, nodes = edges_of(graph), graph.num_nodes
        del graph
    forget_peak()
    before = resident_bytes()
    step = han_step(nodes, edges) if part == "han" else our_step(graph, "fusion", depth=1)
    quick = part == "relations"
    seconds = cpu_seconds(step, repeats=20 if quick else 2, warm_up=3 if quick else 1)
    took = {"seconds": seconds, "bytes": resident_bytes(peak=True) - before}
    if part == "han":
        return took
    return took | {"sums": sums_alone(graph), "bare": bare_arithmetic(graph)}


def built(papers: int) -> dict[str, float]:
    """CPU seconds and bytes of making the synthetic graph, the drawing of its pairs included."""
    start = time.process_time()
    datasets.load("synthetic_kinds", nodes=papers)
    return {"seconds": time.process_time() - start, "bytes": resident_bytes(peak=True)}


def fitted(papers: int, labelled: int) -> dict[str, float]:
    """CPU seconds and bytes of making the synthetic graph and fitting gramme-auto on it, and its accuracy."""
    torch.set_num_threads(1)
    start = time.process_time()
    graph = datasets.load("synthetic_kinds", nodes=papers)
    built = time.process_time() - start
    truth = np.asarray(graph.labels)
    known = np.random.default_rng(0).permutation(papers)[:labelled]
    y = np.full(papers, None, dtype=object)
    y[known] = truth[known]
    model = GrammeAuto(random_state=0, progress=False).fit(graph.replace(labels=None), y)
    seconds = time.process_time() - start
    hidden = np.ones(papers, dtype=bool)
    hidden[known] = False
    print(model.explanation_, file=sys.stderr)
    return {
        "built": built,
        "seconds": seconds,
        "bytes": resident_bytes(peak=True),
        "accuracy": float((model.predict()[hidden] == truth[hidden]).mean()),
    }


def report_fit(papers: int, labelled: int) -> None:
    """Run the fit in a process of its own and say what it took."""
    arguments = ["--part", "fit", "--papers", str(papers), "--labelled", str(labelled)]
    took = in_own_process(arguments)
    print(
        f"gramme-auto on {papers:,} papers, {3 * papers:,} authors, {10 * papers:,} authorships, {labelled:,} labels: "
        f"{took['seconds']:.0f} CPU s ({took['built']:.0f} of them from_relations), {mebibytes(took['bytes'])}, "
        f"accuracy {took['accuracy']:.1%}"
    )
    met = took["seconds"] <= MOST_SECONDS and took["bytes"] <= MOST_BYTES
    print(f"at most {MOST_SECONDS} CPU s and {mebibytes(MOST_BYTES)}: {'met' if met else 'MISSED'}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--papers", type=int, default=1_000_000)
    parser.add_argument("--labelled", type=int, default=10_000)
    parser.add_argument("--fit", action="store_true", help="fit gramme-auto on the papers instead")
    parser.add_argument(
        "--skip-han", action="store_true", help="leave out HANConv, which needs GiB"
    )
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is not None:
        if options.part == "build":
            made = built(options.papers)
        elif options.part == "fit":
            made = fitted(options.papers, options.labelled)
        else:
            made = measured(options.part)
        print(json.dumps(made))
        return
    if options.fit:
        report_fit(options.papers, options.labelled)
        return
    ours = in_own_process(["--part", "relations"])
    print(header())
    for part, what in (("edges", "explicit edges"), ("han", "HANConv on explicit edges")):
        if part == "han" and options.skip_han:
            continue
        other = in_own_process(["--part", part])
        for key, unit, shown in (
            ("seconds", "CPU time", milliseconds),
            ("sums", "CPU time of the sums alone", milliseconds),
            ("bytes", "memory", mebibytes),
        ):
            if key not in other:
                continue
            ratio = other[key] / max(ours[key], 1) if key == "bytes" else other[key] / ours[key]
            row = Comparison(
                f"DBLP, {unit}: {what}",
                shown(ours[key]),
                shown(other[key]),
                ratio,
                LEAST[part],
            )
            print(row, flush=True)
        if part == "edges":
            least = ours["sums"] + ours["bare"]
            print(
                f"bound of the first ratio: {other['seconds'] / least:.1f}, for {milliseconds(least)} of sums, bare "
                f"projections and activations in a step on relations"
            )
    big = in_own_process(["--part", "build", "--papers", str(options.papers)])
    print(
        f"from_relations, {options.papers:,} papers, {3 * options.papers:,} authors, "
        f"{10 * options.papers:,} authorships: {big['seconds']:.1f} CPU s, {mebibytes(big['bytes'])}"
    )


if __name__ == "__main__":
    main()
