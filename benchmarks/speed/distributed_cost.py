"""What a training step over several processes costs: a formula, fitted to some runs, checked on others, extrapolated.

A step of a graph of N nodes and E directed edges over p equal processes, H of whose rows others need (the halo), takes

    flops of a process         (10 f (h + 1) N + 2 (h + 1) E) / p     f features, h hidden columns
    bytes sent by a process    k H/p                                  k: of a row, there and back
    messages of a process      q (p - 1)
    CPU seconds of a process   a N/p + b E/p + c k H/p + d q (p - 1)
    memory of a process        m + n N/p + e E/p + g H/p

The flops are counted: projections of f and then h columns to h and a score, which take three passes each less one for
the features, whose gradient nobody needs; and for each edge the sum of h columns and a score, forward and back. (The
last hop sums at the labelled nodes alone, which are few.) k and q are what was sent. a, b: the arithmetic per node and
edge; c: to pack, to send over the loopback and to unpack a byte; d: what a message costs; m: the program. These are at
least 0 and fitted with errors relative to what was measured.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Floats = NDArray[np.float64]
Rows = list[dict[str, str]]

HIDDEN = FEATURES = 16
FLOPS = (10 * FEATURES * (HIDDEN + 1), 2 * (HIDDEN + 1))
"""Of a node and of an edge, in a training step."""
WIRE_BYTES_PER_SECOND = 1.25e9
"""Of each machine in the estimate: a network of 10 Gbit/s."""
SECONDS_PER_MESSAGE = 1e-4
"""Between two machines in the estimate."""


def column(rows: Rows, name: str) -> Floats:
    """A column of numbers."""
    return np.array([float(row[name]) for row in rows])


def work(rows: Rows) -> Floats:
    """What a step's seconds are made of, a column per constant."""
    shares = ("nodes", "edges", "sent_mib_per_step", "messages_per_step")
    return np.asarray(np.stack([column(rows, name) for name in shares], 1) / column(rows, "processes")[:, None])


def held(rows: Rows) -> Floats:
    """What a process's memory is made of."""
    shares = np.stack([column(rows, name) for name in ("nodes", "edges", "halo_rows")], 1)
    return np.hstack([np.ones((len(rows), 1)), shares / column(rows, "processes")[:, None]])


def fitted(table: Floats, measured: Floats) -> Floats:
    """Constants >= 0 with the least squared relative error."""
    relative = table / measured[:, None]
    scale = relative.max(axis=0) + 1e-300
    found: Floats = nnls(relative / scale, np.ones(measured.size))[0] / scale
    return found


def cpu_of_a_process(rows: Rows) -> Floats:
    """CPU seconds of a step, of each of the processes."""
    return column(rows, "cpu_per_step") / column(rows, "processes")


def tell(path: Path) -> None:
    """Fit to the rows of ``--sweep``, print how far off the rows kept for checking are, and extrapolate."""
    with path.open(encoding="utf-8") as file:
        every = list(csv.DictReader(file))
    rows = [row for row in every if row["kind"] == "sweep"]
    checks = [row for row in every if row["kind"] == "check"]
    if len(rows) < 8 or not checks:
        raise SystemExit(f"{path} does not hold what distributed.py --sweep prints")
    seconds = fitted(work(rows), cpu_of_a_process(rows))
    memory = fitted(held(rows), column(rows, "peak_mib"))
    several = [row for row in rows if float(row["halo_rows"])]
    per_row = float(np.median(column(several, "sent_mib_per_step") * 2**20 / column(several, "halo_rows")))
    pairs = column(several, "processes") * (column(several, "processes") - 1)
    per_pair = float(np.median(column(several, "messages_per_step") / pairs))
    print(f"fitted to {len(rows)} runs:")
    names = ("a node", "an edge", "a MiB sent", "a message")
    print("  CPU seconds of", ", ".join(f"{n} {s:.3g}" for n, s in zip(names, seconds, strict=True)))
    rates = [count / one / 1e9 for count, one in zip(FLOPS, seconds[:2], strict=True) if one > 0]
    print(
        f"  flops of a node {FLOPS[0]:,}, of an edge {FLOPS[1]}; billions of them in a CPU second: "
        f"{', '.join(f'{rate:.1f}' for rate in rates)}"
    )
    names = ("the program", "a node", "an edge", "a row of the halo")
    units = [f"{n} {m * 2**20:,.0f}" for n, m in zip(names, memory, strict=True)]
    print("  bytes of", ", ".join(units))
    print(f"  bytes sent for a row of the halo {per_row:.0f}; messages between two processes {per_pair:.0f}")
    for what, expected, measured in (
        ("CPU seconds", work(rows) @ seconds, cpu_of_a_process(rows)),
        ("memory", held(rows) @ memory, column(rows, "peak_mib")),
    ):
        off = np.abs(expected / measured - 1)
        print(f"  {what}: off by {np.median(off):.0%} in the middle, {off.max():.0%} at most")
    for row in checks:
        one = [row]
        told, said = float((work(one) @ seconds)[0]), float(cpu_of_a_process(one)[0])
        mebibytes = float((held(one) @ memory)[0])
        print(
            f"not used for fitting: {int(row['nodes']):,} nodes, {int(row['edges']):,} edges, {row['processes']} "
            f"processes: model {told:.2f} CPU s a step, measured {said:.2f} ({told / said - 1:+.0%}; "
            f"{row['seconds_per_step']} s by the clock); model {mebibytes:,.0f} MiB, "
            f"measured {float(row['peak_mib']):,.0f}"
        )
    for machines in (16, 64):
        for far in (0.02, 0.2):
            _estimate(machines, far, seconds, memory, per_row, per_pair)


def _estimate(machines: int, far: float, seconds: Floats, memory: Floats, per_row: float, per_pair: float) -> None:
    nodes, edges = 1e8, 1e9
    leaving, others = far * edges / machines, nodes * (1 - 1 / machines)
    halo = machines * others * -np.expm1(-leaving / others)  # distinct ends of edges that leave at random
    sent, messages = halo * per_row, per_pair * machines * (machines - 1)
    row = {
        "nodes": str(nodes), "edges": str(edges), "processes": str(machines), "halo_rows": str(halo),
        "sent_mib_per_step": str(sent / 2**20), "messages_per_step": str(messages),
    }  # fmt: skip
    compute = float((work([row]) @ seconds)[0])
    flops = (FLOPS[0] * nodes + FLOPS[1] * edges) / machines
    wire = sent / machines / WIRE_BYTES_PER_SECOND
    waiting = messages / machines * SECONDS_PER_MESSAGE
    gibibytes = float((held([row]) @ memory)[0]) / 1024
    print(
        f"ESTIMATE for 1e9 edges, 1e8 nodes, {far:.0%} of the edges leave their machine, {machines} machines of one "
        f"thread: {compute + wire + waiting:.1f} s a step ({compute:.1f} CPU, {wire:.2f} on the wire, {waiting:.2f} "
        f"for messages), {flops / 1e9:.0f} billion flops, {sent / machines / 2**20:,.0f} MiB sent in "
        f"{messages / machines:,.0f} messages, and {gibibytes:.1f} GiB of memory each"
    )
