"""One fit over several processes: time and memory per process, bytes sent, the halo, and what more machines would take.

    python benchmarks/speed/distributed.py                     # the table: 1, 2 and 4 processes on three kinds of graph
    python benchmarks/speed/distributed.py --nodes 20000       # smaller; below 2 M entries a fit takes one thread
    python benchmarks/speed/distributed.py --memory            # 2 M and 6 M nodes, 10 edges each: 1 process and 4
    python benchmarks/speed/distributed.py --large             # 10 M nodes, 100 M directed edges over 2 processes
    python benchmarks/speed/distributed.py --sweep rows.csv    # graphs of many shapes, for the cost model
    python benchmarks/speed/distributed.py --model rows.csv    # the cost model, and what a billion edges would take

Each process trains GrAMME-Fusion (hidden 16, one member, random features) on its part of a graph that was generated in
parts, and then spreads labels to the end. Seconds are the slowest process's; CPU seconds are those of all together.
Compare with one process of as many threads (``threads``). After the table stand the ratios that matter: how fast two
processes are against one with two threads. Run it on an idle machine: processes wait for each other. Memory is the
largest resident size of a process since it started; ``program_mib`` of it was there before it read its part. A sweep
that was ended goes on where it was: shapes that its file has are left out.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from distributed_cost import tell
from measure import resident_bytes
from numpy.typing import NDArray

from gramme.distributed import Communicator, assign, join, read_part, write_parts
from gramme.distributed.launch import LOOPBACK, free_port
from gramme.distributed.storage import fill_parts
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeFusion, LabelPropagation

COLUMNS = [
    "kind", "nodes", "edges", "processes", "threads", "assign", "halo_share", "seconds_per_step",
    "cpu_per_step", "seconds_propagation", "peak_mib", "program_mib", "sent_mib_per_step",
    "messages_per_step", "halo_rows", "far",
]  # fmt: skip
STEPS = 10
PASSES = 200  # of label propagation at most
HIDDEN = 16
BLOCK = 1000  # nodes of a community
FAR = 0.02  # share of the edges that leave it
SWEEP = [
    (200_000, 5, FAR, 1), (200_000, 20, FAR, 1), (100_000, 60, FAR, 1), (600_000, 5, FAR, 1),
    (200_000, 5, FAR, 2), (200_000, 20, 0.2, 2), (600_000, 5, 0.2, 2), (600_000, 10, FAR, 2),
    (100_000, 60, FAR, 2), (200_000, 60, 0.05, 2), (400_000, 5, 0.1, 4), (400_000, 15, FAR, 4),
    (8_000, 5, FAR, 2), (8_000, 5, FAR, 4),
]  # fmt: skip
"""Nodes, edges per node, share of them that leave, processes: what the cost model is fitted to, and ..."""
CHECKS = [
    (800_000, 8, 0.05, 4), (1_000_000, 10, 0.05, 2), (1_200_000, 10, FAR, 1), (10_000_000, 10, FAR, 2),
]  # fmt: skip
"""... what it is checked on: larger graphs of other shapes, and one that is larger than all of them."""


def graph_of(kind: str, nodes: int, degree: int) -> MultilayerGraph:
    random = np.random.default_rng(0)
    labels = random.integers(0, 4, nodes).astype(object)
    labels[random.random(nodes) >= 0.01] = None
    if kind == "table":
        columns = {f"column {k}": random.integers(0, 20, nodes) for k in range(5)}
        layers: dict[str, Any] = {name: MembershipLayer.from_codes(codes) for name, codes in columns.items()}
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


def measured(folder: Path, facts: dict[str, Any], steps: int, most: int) -> None:
    """One process: train, spread labels, and print what it took (the first process alone).

    ``steps`` are timed, after a fit of one step that is not; ``most`` limits the passes of label propagation, and 0
    leaves it out.
    """
    threads = int(os.environ["OMP_NUM_THREADS"])
    torch.set_num_threads(threads)
    program = resident_bytes(peak=True) / 2**20
    with join() as communicator:
        part = read_part(folder, communicator)
        model = GrammeFusion(
            hidden_dim=HIDDEN, ensemble=1, heads=1, features="random", feature_dim=16,
            epochs=1, random_state=0,
        )  # fmt: skip
        model.fit(part)  # the first step pays for compiling
        step = cpu = sent = messages = 0.0
        if steps:
            one = _cost(communicator, lambda: GrammeFusion(**model.get_params()).fit(part))
            longer = model.get_params() | {"epochs": 1 + steps}
            several = _cost(communicator, lambda: GrammeFusion(**longer).fit(part))
            step, cpu, sent, messages = (several - one) / steps
        communicator.barrier()
        spread = 0.0
        if most:
            labels = LabelPropagation(alpha=0.9, sharpness=1.0, layer_weights="equal", max_iter=most)
            spread = float(_cost(communicator, lambda: labels.fit(part))[0])
        peak = resident_bytes(peak=True) / 2**20
        slowest = communicator.all_max(np.array([step, spread, peak, program]))
        together = communicator.all_sum(np.array([cpu, sent / 2**20, messages]))
        row = facts | {
            "processes": communicator.size,
            "threads": threads,
            "seconds_per_step": round(float(slowest[0]), 4),
            "cpu_per_step": round(float(together[0]), 4),
            "seconds_propagation": round(float(slowest[1]), 3),
            "peak_mib": round(float(slowest[2]), 1),
            "program_mib": round(float(slowest[3]), 1),
            "sent_mib_per_step": round(float(together[1]), 4),
            "messages_per_step": round(float(together[2]), 1),
        }
        if communicator.first:
            csv.DictWriter(sys.stdout, COLUMNS).writerow(row)
            sys.stdout.flush()


def _cost(communicator: Communicator, work: Callable[[], object]) -> NDArray[np.float64]:
    """Seconds, CPU seconds, bytes and messages sent of some work of this process."""

    def now() -> NDArray[np.float64]:
        clocks = (time.perf_counter(), time.process_time())
        return np.array([*clocks, communicator.sent, communicator.messages], dtype=np.float64)

    before = now()
    work()
    return now() - before


def run(
    folder: Path, processes: int, threads: int, facts: dict[str, Any], *, steps: int = STEPS, most: int = PASSES
) -> dict[str, str]:
    """One row of the table, from so many processes of so many threads."""
    port = free_port()
    command = [sys.executable, __file__, "--part", str(folder), "--facts", json.dumps(facts)]
    command += ["--steps", str(steps), "--passes", str(most)]
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
            ways = ("communities", "contiguous", "random") if kind == "communities" else ("communities",)
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
                        "halo_rows": sum(part["halo"] for part in manifest.parts),
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


def large_parts(nodes: int, degree: int, processes: int, away: float = FAR) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Parts of a random directed graph with communities, made one at a time; nobody ever holds the whole."""
    share = nodes // processes
    for part in range(processes):
        random = np.random.default_rng(part)
        source = np.repeat(np.arange(share), degree)
        near = source // BLOCK * BLOCK + random.integers(0, BLOCK, source.size)
        inside = random.random(source.size) >= away
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
            "labels": np.where(random.random(share) < 0.01, random.integers(0, 4, share), -1).astype(np.int32),
            "layer0.indptr": np.arange(share + 1, dtype=np.int64) * degree,
            "layer0.indices": column.astype(np.int32),
            "layer0.halo_owner": (halo // share).astype(np.int32),
            "layer0.halo_row": halo % share,
            "layer0.halo_place": halo,
        }
        names = {"kind": "range", "start": part * share, "stop": (part + 1) * share, "step": 1}
        del source, near, inside, far, place
        yield members, {"nodes_kind": names, "halo": int(halo.size)}


def large(
    nodes: int,
    degree: int,
    processes: int,
    away: float = FAR,
    *,
    kind: str = "large",
    steps: int = STEPS,
    most: int = PASSES,
) -> dict[str, str]:
    """The row of a graph that is generated in parts."""
    nodes -= nodes % processes
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
        manifest = fill_parts(Path(made), facts, large_parts(nodes, degree, processes, away))
        said = {
            "kind": kind,
            "nodes": nodes,
            "edges": nodes * degree,
            "assign": "contiguous",
            "halo_share": round(manifest.halo_share, 4),
            "halo_rows": sum(part["halo"] for part in manifest.parts),
            "far": away,
        }
        return run(Path(made), processes, 1, said, steps=steps, most=most)


def memory(sizes: Sequence[int]) -> None:
    """One process against four. A fit of one step and a few passes are enough: memory does not grow after them."""
    for nodes in sizes:
        one, four = (large(nodes, 10, processes, steps=0, most=5) for processes in (1, 4))
        whole, part, program = (
            float(row[name]) / 1024 for row, name in ((one, "peak_mib"), (four, "peak_mib"), (four, "program_mib"))
        )
        print(
            f"{nodes:,} nodes, {nodes * 10:,} directed edges: each of four processes needs {part:.2f} GiB, one alone "
            f"{whole:.2f} GiB: {part / whole:.2f} of it. {program:.2f} GiB are the program; without it "
            f"{(part - program) / (whole - program):.2f}",
            file=sys.stderr,
        )


def sweep(path: Path) -> None:
    """The rows that the cost model is fitted to and checked on, added to a file that may hold some of them."""
    shape = ("kind", "nodes", "edges", "far", "processes")
    there: set[tuple[str, ...]] = set()
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            there = {tuple(row[name] for name in shape) for row in csv.DictReader(file)}
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not there:
            writer.writeheader()
        for kind, shapes in (("sweep", SWEEP), ("check", CHECKS)):
            for nodes, degree, away, processes in shapes:
                if (kind, *map(str, (nodes, nodes * degree, away, processes))) in there:
                    continue
                # many where one is short, few where one is long
                steps = max(3, min(STEPS, 30_000_000 // nodes), 1_000_000 // nodes)
                row = large(nodes, degree, processes, away, kind=kind, steps=steps, most=0)
                writer.writerow(row)
                file.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--degree", type=int, default=20)
    parser.add_argument("--kinds", default="communities,random,table")
    parser.add_argument("--most", type=int, default=4, help="processes at most")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--sweep", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--part", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--facts", help=argparse.SUPPRESS)
    parser.add_argument("--steps", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--passes", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part is not None:
        measured(given.part, json.loads(given.facts), given.steps, given.passes)
    elif given.model is not None:
        tell(given.model)
    elif given.large or given.memory or given.sweep:
        csv.DictWriter(sys.stdout, COLUMNS).writeheader()
        if given.large:
            large(given.nodes or 10_000_000, 10, 2)
        elif given.memory:
            memory([given.nodes] if given.nodes else [2_000_000, 6_000_000])
        else:
            sweep(given.sweep)
    else:
        table(given.nodes or 250_000, given.degree, given.kinds.split(","), given.most)


if __name__ == "__main__":
    main()
