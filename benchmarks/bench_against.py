"""A fit in one process, here against another checkout: the ratio of their CPU times, measured in turns.

    git worktree add /tmp/before COMMIT
    python benchmarks/bench_against.py /tmp/before

Each turn is a process of its own that fits each case once to warm up and then some times more, and tells the least CPU
seconds of a fit. Turns alternate between the two checkouts, and medians are compared: what else the machine does meets
both alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from measure import cpu_seconds

NODES = 40_000
TURNS = 5


def cases() -> dict[str, Callable[[], object]]:
    """What is fitted, by names that both checkouts know."""
    import numpy as np

    from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
    from gramme.methods import GrammeFusion, GrammeSG, LabelPropagation

    random = np.random.default_rng(0)
    known = random.random(NODES) < 0.05
    labels = np.where(known, random.integers(0, 4, NODES).astype(object), None)
    edges = {
        name: EdgeLayer(NODES, *random.integers(0, NODES, (2, 10 * NODES))) for name in ("a", "b")
    }
    table = {
        f"column {k}": MembershipLayer.from_codes(random.integers(0, 20, NODES)) for k in range(5)
    }
    graphs = {
        "edges": MultilayerGraph(edges, labels=labels),
        "a table": MultilayerGraph(table, labels=labels),
    }
    small = {"hidden_dim": 16, "ensemble": 1, "heads": 1, "features": "random", "feature_dim": 16}
    fusion = GrammeFusion(**small, epochs=5, random_state=0)
    supra = GrammeSG(**small, epochs=5, random_state=0)
    spread = LabelPropagation(alpha=0.9, sharpness=1.0, layer_weights="equal")
    return {
        "GrAMME-Fusion, edges": lambda: fusion.fit(graphs["edges"]),
        "GrAMME-Fusion, a table": lambda: fusion.fit(graphs["a table"]),
        "GrAMME-SG, edges": lambda: supra.fit(graphs["edges"]),
        "GrAMME-SG, a table": lambda: supra.fit(graphs["a table"]),
        "label propagation, edges": lambda: spread.fit(graphs["edges"]),
        "label propagation, a table": lambda: spread.fit(graphs["a table"]),
    }


def turn(checkout: Path) -> dict[str, float]:
    """CPU seconds of each case in a checkout."""
    command = [sys.executable, __file__, "--turn"]
    environment = os.environ | {"PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    printed = subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment
    ).stdout
    found: dict[str, float] = json.loads(printed.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, nargs="?", help="the other checkout")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--turn", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.turn:
        import torch

        torch.set_num_threads(1)
        print(json.dumps({name: cpu_seconds(fit, repeats=3) for name, fit in cases().items()}))
        return
    here: list[dict[str, float]] = []
    there: list[dict[str, float]] = []
    for _ in range(given.turns):
        there.append(turn(given.other))
        here.append(turn(Path(__file__).resolve().parents[1]))
    for name in here[0]:
        ours, other = (statistics.median(one[name] for one in some) for some in (here, there))
        print(f"{name}: {ours:.3f} CPU s here, {other:.3f} there: {ours / other:.3f} times as much")


if __name__ == "__main__":
    main()
