"""Time and memory of a training step against nodes, layers and edges, beside the paper's complexity formulas.

    python benchmarks/paper/scaling.py

Synthetic multiplexes; one network with the paper's sizes (T = 2, H = 2, K = 5, D = 64, d = 32) on one thread. Each
measurement has a process of its own, forked from this one (Linux). Time is the least CPU time of several epochs, memory
the peak of the process above what it held before the fit. Writes scaling.csv and scaling.png. The formulas, per
attention head:

    GrAMME-SG       N L D d + N L^2 d + d M      with M the edges of all layers together
    GrAMME-Fusion   L N D d + d M                the paper's N D d + d max M for each of L layers that run one by one
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from figures import COLOURS, MARKERS, panels, save
from shared import PAPER_SETTINGS, guarded, options, parsed
from write_page import refresh

from gramme.datasets import load
from gramme.graph import MultilayerGraph
from gramme.methods import METHODS as KNOWN

sys.path.append(str(Path(__file__).resolve().parents[1] / "speed"))
from measure import forget_peak, resident_bytes

METHODS = {"gramme-sg": "GrAMME-SG", "gramme-fusion": "GrAMME-Fusion"}
DIM, HIDDEN = 64, 32
BASE = {"nodes": 2000, "layers": 4, "degree": 20}
SWEEPS = {"nodes": (500, 2000, 8000, 32000), "layers": (1, 4, 16, 64), "degree": (5, 20, 80, 320)}
QUICK = {"nodes": (50,), "layers": (2,), "degree": (4,)}


def formula(method: str, nodes: int, layers: int, edges: int) -> float:
    """The paper's count of operations of one attention head, up to a constant."""
    linear = nodes * layers * DIM * HIDDEN + edges * HIDDEN
    return linear + (nodes * layers**2 * HIDDEN if method == "gramme-sg" else 0)


def measure(method: str, nodes: int, layers: int, degree: int, epochs: int) -> dict[str, float]:
    """Fit in this process; seconds per epoch and bytes."""
    torch.set_num_threads(1)
    estimator = KNOWN[method].estimator
    known: dict[str, Any] = PAPER_SETTINGS | {
        "feature_dim": DIM,
        "hidden_dim": HIDDEN,
        "heads": 2,
        "depth": 2,
        "ensemble": 1,
    }

    def fit(graph: MultilayerGraph, count: int) -> float:
        begun = time.process_time()
        estimator(**known, epochs=count, random_state=0, progress=False).fit(graph)
        return time.process_time() - begun

    fit(load("synthetic", nodes=50), 1)  # what is compiled and loaded once
    graph = load("synthetic", nodes=nodes, layers=layers, degree=degree, signal=0.5)
    forget_peak()
    before = resident_bytes()
    # The difference of a long and a short fit leaves out what does not depend on the epochs.
    found = min((fit(graph, 1 + epochs) - fit(graph, 1)) / epochs for _ in range(3))
    return {
        "edges": 2 * graph.num_edges,  # both directions, as the paper counts
        "cpu_seconds": max(found, 1e-6),
        "memory": resident_bytes(peak=True) - before,
    }


def measured(*what: object) -> dict[str, float]:
    """The same in a new process, so that no measurement inherits the memory of another."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(measure, what)


def rows(sweeps: Mapping[str, tuple[int, ...]], base: dict[str, int], epochs: int) -> pd.DataFrame:
    """All measurements, each in a process of its own; what two sweeps share is measured once."""
    found = []
    known: dict[tuple[object, ...], dict[str, float]] = {}
    for swept, values in sweeps.items():
        for value in values:
            sizes = base | {swept: value}
            for method in METHODS:
                arguments = (method, *(sizes[name] for name in BASE), epochs)
                if arguments not in known:
                    known[arguments] = measured(*arguments)
                result = known[arguments]
                found.append({"swept": swept, "method": method, **sizes, **result})
                told = f"{METHODS[method]}, {swept} {value}: "
                print(f"{told}{1e3 * result['cpu_seconds']:.1f} ms an epoch", flush=True)
    table = pd.DataFrame(found)
    table["formula"] = [formula(*one) for one in table[["method", "nodes", "layers", "edges"]].itertuples(index=False)]
    return table


def draw(table: pd.DataFrame, path: Path) -> None:
    """Measured marks, and the formula as a line through the largest size."""
    across = {"nodes": "nodes N", "layers": "layers L", "degree": "edges of all layers"}
    figure, axes = panels(6, rows=2, width=3.1, height=2.6)
    for column, (swept, label) in enumerate(across.items()):
        upper, lower = axes[column], axes[3 + column]
        x = "edges" if swept == "degree" else swept
        for place, (method, name) in enumerate(METHODS.items()):
            part = table[(table["swept"] == swept) & (table["method"] == method)].sort_values(x)
            style = {"color": COLOURS[place], "marker": MARKERS[place], "linestyle": "none"}
            upper.loglog(part[x], 1e3 * part["cpu_seconds"], **style, label=name)
            scale = 1e3 * part["cpu_seconds"].iloc[-1] / part["formula"].iloc[-1]
            upper.loglog(
                part[x],
                scale * part["formula"],
                color=COLOURS[place],
                linewidth=1,
                label=f"{name}: the paper's formula",
            )
            lower.loglog(part[x], part["memory"] / 2**20, **style, label=name)
        lower.set_xlabel(label)
    axes[0].set_ylabel("CPU milliseconds per epoch")
    axes[3].set_ylabel("memory of the fit (MiB)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    figure.suptitle(
        "Cost of a training step: measured (marks) and the paper's formulas through the largest size (lines)",
        fontsize=10,
    )
    save(figure, path)


def main() -> None:
    chosen = parsed(options(__doc__))
    base = {"nodes": 50, "layers": 2, "degree": 3} if chosen.quick else BASE
    table = rows(QUICK if chosen.quick else SWEEPS, base, 2 if chosen.quick else 5)
    table.to_csv(chosen.out / "scaling.csv", index=False, float_format="%.6g")
    draw(table, chosen.out / "scaling.png")
    refresh(chosen.out, "scaling.csv")


if __name__ == "__main__":
    guarded(main)
