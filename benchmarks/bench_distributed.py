"""One fit over several processes: time and memory per process, bytes sent, the halo, and what more machines would take.

    python benchmarks/bench_distributed.py                     # the table: 1, 2 and 4 processes on three kinds of graph
    python benchmarks/bench_distributed.py --nodes 20000       # smaller; below 2 M entries a fit takes one thread
    python benchmarks/bench_distributed.py --memory            # 2 M nodes, 20 M directed edges, 1 process and 4
    python benchmarks/bench_distributed.py --large             # 10 M nodes, 100 M directed edges over 2 processes
    python benchmarks/bench_distributed.py --model FILE        # the cost model, from the rows that the table printed

Each process trains GrAMME-Fusion (hidden 16, one member, random features) on its part of a graph that was generated in
parts, and then spreads labels to the end. Seconds are the slowest process's; CPU seconds are those of all together.
Compare with one process of as many threads (``threads``). After the table stand the ratios that matter: how fast two
processes are against one with two threads. Run it on an idle machine: processes wait for each other.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gramme.distributed import assign, join, read_part, write_parts
from gramme.distributed.parts_folder import fill_parts
from gramme.distributed.process_group import LOOPBACK, free_port
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeFusion, LabelPropagation

COLUMNS = [
    "kind", "nodes", "edges", "processes", "threads", "assign", "halo_share", "seconds_per_step",
    "cpu_per_step", "seconds_propagation", "peak_mib", "sent_mib_per_step",
    "rows_sent",
]  # fmt: skip
STEPS = 10
HIDDEN = 16
BLOCK = 1000  # nodes of a community


def graph_of(kind: str, nodes: int, degree: int) -> MultilayerGraph:
    random = np.random.default_rng(0)
    labels = np.where(
        random.random(nodes) < 0.01, random.integers(0, 4, nodes).astype(object), None
    )
    if kind == "table":
        columns = {f"column {k}": random.integers(0, 20, nodes) for k in range(5)}
        layers: dict[str, Any] = {
            name: MembershipLayer.from_codes(codes) for name, codes in columns.items()
        }
        return MultilayerGraph(layers, labels=labels)
    source = random.integers(0, nodes, nodes * degree // 2)
    if kind == "communities":
        # communities are spread over the order of the nodes: only an assignment by communities finds them
        place = random.permutation(nodes)
        near = source // BLOCK * BLOCK + random.integers(0, BLOCK, source.size)
        far = random.integers(0, nodes, source.size)
        target = np.where(random.random(source.size) < 0.98, np.minimum(near, nodes - 1), far)
        source, target = place[source], place[target]
    else:
        target = random.integers(0, nodes, source.size)
    return MultilayerGraph({"edges": EdgeLayer(nodes, source, target)}, labels=labels)


def measured(folder: Path, facts: dict[str, Any]) -> None:
    """One process: train some steps, spread labels, and print what it took (the first process alone)."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    with join() as world:
        part = read_part(folder, world)
        model = GrammeFusion(
            hidden_dim=HIDDEN, ensemble=1, heads=1, features="random", feature_dim=16,
            epochs=1, random_state=0,
        )  # fmt: skip
        model.fit(part)  # the first step pays for making the plan
        before, sent = time.perf_counter(), world.sent
        cpu = time.process_time()
        GrammeFusion(**model.get_params() | {"epochs": 1}).fit(part)
        one = time.perf_counter() - before
        one_sent, one_cpu = world.sent - sent, time.process_time() - cpu
        before, sent, cpu = time.perf_counter(), world.sent, time.process_time()
        GrammeFusion(**model.get_params() | {"epochs": 1 + STEPS}).fit(part)
        several = time.perf_counter() - before
        step = (several - one) / STEPS
        step_sent = (world.sent - sent - one_sent) / STEPS
        step_cpu = (time.process_time() - cpu - one_cpu) / STEPS
        world.wait()
        before = time.perf_counter()
        LabelPropagation(alpha=0.9, sharpness=1.0, layer_weights="equal").fit(part)
        spread = time.perf_counter() - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        slowest = world.largest(np.array([step, spread, peak]))
        row = facts | {
            "processes": world.size,
            "threads": int(os.environ["OMP_NUM_THREADS"]),
            "seconds_per_step": round(float(slowest[0]), 4),
            "cpu_per_step": round(float(world.total(step_cpu)), 4),
            "seconds_propagation": round(float(slowest[1]), 3),
            "peak_mib": round(float(slowest[2]), 1),
            "sent_mib_per_step": round(float(world.total(step_sent)) / 2**20, 3),
            "rows_sent": int(world.total(int(step_sent / (4 * HIDDEN)))),
        }
        if world.first:
            csv.DictWriter(sys.stdout, COLUMNS).writerow(row)
            sys.stdout.flush()


def run(folder: Path, processes: int, threads: int, facts: dict[str, Any]) -> dict[str, str]:
    """One row of the table, from so many processes of so many threads."""
    port = free_port()
    command = [sys.executable, __file__, "--part", str(folder), "--facts", json.dumps(facts)]
    started = [
        subprocess.Popen(
            command,
            env=os.environ
            | {
                "RANK": str(rank),
                "WORLD_SIZE": str(processes),
                "MASTER_ADDR": LOOPBACK,
                "MASTER_PORT": str(port),
                "OMP_NUM_THREADS": str(threads),
                "MKL_NUM_THREADS": str(threads),
            },
            stdout=subprocess.PIPE if rank == 0 else None,
            text=True,
        )
        for rank in range(processes)
    ]
    printed = started[0].communicate()[0]
    if any(one.wait() for one in started):
        raise SystemExit("a process failed")
    print(printed, end="", flush=True)
    return next(csv.DictReader([printed], COLUMNS))


def table(nodes: int, degree: int, kinds: list[str], most: int) -> None:
    csv.DictWriter(sys.stdout, COLUMNS).writeheader()
    rows = []
    for kind in kinds:
        graph = graph_of(kind, nodes, degree)
        for processes, threads in ((1, 1), (1, 2), (2, 1), (4, 1)):
            if processes > most:
                continue
            ways = (
                ("communities", "contiguous", "random")
                if kind == "communities"
                else ("communities",)
            )
            for how in ways if processes > 1 else ("contiguous",):
                with tempfile.TemporaryDirectory() as made:
                    owner = assign(graph, processes, how)
                    manifest = write_parts(graph, Path(made), owner, processes)
                    facts = {
                        "kind": kind,
                        "nodes": nodes,
                        "edges": graph.num_entries - nodes * graph.num_layers,
                        "assign": how,
                        "halo_share": round(manifest.halo_share, 4),
                    }
                    rows.append(run(Path(made), processes, threads, facts))
    for kind in kinds:
        _tell(kind, [row for row in rows if row["kind"] == kind])


def _tell(kind: str, rows: list[dict[str, str]]) -> None:
    """Two processes against one with two threads, and against one with one."""

    def step(processes: str, threads: str) -> float | None:
        way = "contiguous" if processes == "1" else "communities"
        for row in rows:
            if (row["processes"], row["threads"], row["assign"]) == (processes, threads, way):
                return float(row["seconds_per_step"])
        return None

    one, threaded, two = step("1", "1"), step("1", "2"), step("2", "1")
    if one and threaded and two:
        print(
            f"{kind}: two processes have {threaded / two:.2f} times the speed of one with two threads, "
            f"{one / two:.2f} times that of one with one",
            file=sys.stderr,
        )


def large_parts(nodes: int, degree: int, processes: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Parts of a random directed graph with communities, made one at a time; nobody ever holds the whole."""
    share = nodes // processes
    for part in range(processes):
        random = np.random.default_rng(part)
        source = np.repeat(np.arange(share), degree)
        near = source // BLOCK * BLOCK + random.integers(0, BLOCK, source.size)
        inside = random.random(source.size) < 0.98
        column = np.minimum(near, share - 1)
        far = np.flatnonzero(~inside)
        place = random.integers(0, share, far.size)
        halo = np.zeros(0, dtype=np.int64)
        if processes == 1:
            column[far] = place
        else:
            other = (part + 1 + random.integers(0, processes - 1, far.size)) % processes
            halo, number = np.unique(place + other * share, return_inverse=True)
            column[far] = share + number
        loops = column == source
        column[loops] = (column[loops] + 1) % share
        members = {
            "places": np.arange(part * share, (part + 1) * share),
            "given": np.arange(part * share, (part + 1) * share),
            "labels": np.where(
                random.random(share) < 0.01, random.integers(0, 4, share), -1
            ).astype(np.int32),
            "layer0.indptr": np.arange(share + 1, dtype=np.int64) * degree,
            "layer0.indices": column.astype(np.int32),
            "layer0.halo_owner": (halo // share).astype(np.int32),
            "layer0.halo_row": halo % share,
            "layer0.halo_place": halo,
        }
        names = {"kind": "range", "start": part * share, "stop": (part + 1) * share, "step": 1}
        del source, near, inside, far, place
        yield members, {"nodes_kind": names, "halo": int(halo.size)}


def large(nodes: int, degree: int, processes: int) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as made:
        facts = {
            "nodes": nodes,
            "entries": nodes * (degree + 1),
            "classes": [0, 1, 2, 3],
            "layers": [
                {
                    "name": "edges", "kind": "edges", "coupling": False, "directed": True,
                    "weighted": False, "edges": nodes * degree,
                }
            ],
            "layer_order": ["edges"],
            "couplings": [],
            "layer_features": [],
        }  # fmt: skip
        began = time.perf_counter()
        manifest = fill_parts(Path(made), facts, large_parts(nodes, degree, processes))
        print(f"parts written in {time.perf_counter() - began:.0f} s", file=sys.stderr)
        said = {
            "kind": "large",
            "nodes": nodes,
            "edges": nodes * degree,
            "assign": "contiguous",
            "halo_share": round(manifest.halo_share, 4),
        }
        return run(Path(made), processes, 1, said)


def memory(nodes: int) -> None:
    one, four = (float(large(nodes, 10, processes)["peak_mib"]) for processes in (1, 4))
    print(f"each of four processes needs {four / one:.2f} of what one needs", file=sys.stderr)


def cost_model(path: Path) -> None:
    """Fit seconds per step = a nodes / p + b edges / p + c bytes / p + d, leave one row out, and extrapolate."""
    with path.open(encoding="utf-8") as file:
        rows = [
            row for row in csv.DictReader(file) if row["kind"] != "table" and row["threads"] == "1"
        ]

    def features(nodes: float, edges: float, sent: float, processes: float) -> list[float]:
        return [nodes / processes, edges / processes, sent / processes, float(processes > 1)]

    table_ = np.array(
        [
            features(
                *(float(row[name]) for name in ("nodes", "edges", "sent_mib_per_step", "processes"))
            )
            for row in rows
        ]
    )
    seconds = np.array([float(row["cpu_per_step"]) / float(row["processes"]) for row in rows])
    from scipy.optimize import nnls

    checked = len(rows) - 1
    kept = np.arange(len(rows)) != checked
    scale = table_.max(axis=0) + 1e-12
    found = nnls(table_[kept] / scale, seconds[kept])[0] / scale
    names = ("per node", "per edge", "per MiB sent", "fixed")
    print("seconds", ", ".join(f"{name} {one:.3g}" for name, one in zip(names, found, strict=True)))
    guess = float(table_[checked] @ found)
    print(f"left out: {rows[checked]['kind']}, {rows[checked]['processes']} processes: ", end="")
    print(f"model {guess:.3f} s, measured {seconds[checked]:.3f} s")
    for machines in (16, 64):
        nodes, edges = 1e8, 1e9
        # a halo of a tenth of the rows; values and gradients of two hops, at 1 GiB/s for each machine
        sent = 4 * 0.1 * nodes * (HIDDEN + 1) * 4 / 2**20
        compute = float(np.array(features(nodes, edges, 0, machines)) @ found)
        wire = sent / machines / 1024
        print(f"estimate for 1e9 edges and 1e8 nodes on {machines} machines of one core: ", end="")
        print(f"{compute + wire:.1f} s per step, {wire:.2f} s of it on a wire of 1 GiB/s")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--degree", type=int, default=20)
    parser.add_argument("--kinds", default="communities,random,table")
    parser.add_argument("--most", type=int, default=4, help="processes at most")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--part", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--facts", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part is not None:
        measured(given.part, json.loads(given.facts))
    elif given.model is not None:
        cost_model(given.model)
    elif given.large or given.memory:
        csv.DictWriter(sys.stdout, COLUMNS).writeheader()
        if given.large:
            large(given.nodes or 10_000_000, 10, 2)
        else:
            memory(given.nodes or 2_000_000)
    else:
        table(given.nodes or 250_000, given.degree, given.kinds.split(","), given.most)


if __name__ == "__main__":
    main()
