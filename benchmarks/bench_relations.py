"""A training step on DBLP's relations against the same step on explicit meta-path edges and PyG's ``HANConv`` on them.

    GRAMME_DATA=... python benchmarks/bench_relations.py [--papers 1000000] [--skip-han]

All on one thread, each in a process of its own within the same run: CPU time of the fastest step and the peak of
memory beyond what the process held before the network was made. One hop of attention, two heads; the peer's heads share
the columns that each of ours has. Then the time and memory of ``from_relations`` on synthetic papers: three authors and
ten authorships per paper.
"""

from __future__ import annotations

import argparse
import json
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

from gramme import datasets

LEAST = {"edges": 20.0, "han": 100.0}


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


def measured(part: str) -> dict[str, float]:
    """CPU seconds of a step and bytes at its peak, of one of the three."""
    torch.set_num_threads(1)
    graph = datasets.load("dblp_heco", view="relations" if part == "relations" else "edges")
    if part == "han":
        edges = {}
        for name, matrix in graph.to_scipy().items():
            found = matrix.tocoo()
            ends = np.stack([found.col, found.row]).astype(np.int64)
            edges["author", name, "author"] = torch.from_numpy(ends)
        nodes = graph.num_nodes
        del graph
    forget_peak()
    before = resident_bytes()
    step = han_step(nodes, edges) if part == "han" else our_step(graph, "fusion", depth=1)
    quick = part == "relations"
    seconds = cpu_seconds(step, repeats=20 if quick else 2, warm_up=3 if quick else 1)
    return {"seconds": seconds, "bytes": resident_bytes(peak=True) - before}


def built(papers: int) -> dict[str, float]:
    """CPU seconds and bytes of making the synthetic graph, the drawing of its pairs included."""
    start = time.process_time()
    datasets.load("synthetic_kinds", nodes=papers)
    return {"seconds": time.process_time() - start, "bytes": resident_bytes(peak=True)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--papers", type=int, default=1_000_000)
    parser.add_argument(
        "--skip-han", action="store_true", help="leave out HANConv, which needs GiB"
    )
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is not None:
        made = built(options.papers) if options.part == "build" else measured(options.part)
        print(json.dumps(made))
        return
    ours = in_own_process(["--part", "relations"])
    print(header())
    for part, what in (("edges", "explicit edges"), ("han", "HANConv on explicit edges")):
        if part == "han" and options.skip_han:
            continue
        other = in_own_process(["--part", part])
        for key, unit, shown in (
            ("seconds", "CPU time", milliseconds),
            ("bytes", "memory", mebibytes),
        ):
            ratio = other[key] / max(ours[key], 1) if key == "bytes" else other[key] / ours[key]
            row = Comparison(
                f"a step on DBLP's relations, {unit}: {what}",
                shown(ours[key]),
                shown(other[key]),
                ratio,
                LEAST[part],
            )
            print(row, flush=True)
    big = in_own_process(["--part", "build", "--papers", str(options.papers)])
    print(
        f"from_relations, {options.papers:,} papers, {3 * options.papers:,} authors, "
        f"{10 * options.papers:,} authorships: {big['seconds']:.1f} CPU s, {mebibytes(big['bytes'])}"
    )


if __name__ == "__main__":
    main()
