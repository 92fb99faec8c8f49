"""Cora: weighted attention with 2 heads against a GAT with 8, by `cora_models.py`, seed by seed into a file.

    python benchmarks/paper/cora.py [--seeds 10] [--jobs 2]

Both stop early on the 500 official validation nodes and are scored once on the 1000 official test nodes. A run of the
weighted attention takes about 19 CPU seconds, one of the GAT about 67. build/paper/cora_runs.csv has a row per run and
is what a script that was killed goes on from; cora.csv has the means beside the paper's figures.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import cora_models
import joblib
import numpy as np
import pandas as pd
import torch
from shared import graphs, guarded, options, parsed
from write_page import refresh

from gramme.datasets import load
from gramme.evaluation import random_split

METHODS: dict[str, tuple[Callable[..., tuple[float, float]], float]] = {
    "weighted attention, 2 heads": (cora_models.weighted_attention, 82.7),
    "GAT, 8 heads": (cora_models.gat, 81.5),
}


def one_run(method: str, seed: int, quick: bool) -> dict[str, object]:
    """One training, scored once."""
    torch.set_num_threads(1)
    graph, split = stand_in() if quick else cora_models.load()
    if quick:
        cora_models.EPOCHS = 5
    begun = time.process_time()
    validation, test = METHODS[method][0](graph, split, seed)
    return {
        "method": method,
        "seed": seed,
        "validation_accuracy": 100 * validation,
        "test_accuracy": 100 * test,
        "cpu_seconds": time.process_time() - begun,
    }


def stand_in() -> tuple[object, dict[str, np.ndarray]]:
    """A small graph of one layer with features, to see that everything runs without Cora."""
    import scipy.sparse as sp

    graph = load("wine")
    graph = graph.replace(layers=dict(list(graph.layers.items())[:1]), features=sp.eye_array(graph.num_nodes).tocsr())
    split = random_split(graph.labels, 30, 0)
    half = split.test.size // 2
    return graph, {"train": split.train, "validation": split.test[:half], "test": split.test[half:]}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parsed(parser)
    seeds = 2 if chosen.quick else chosen.seeds
    if not chosen.quick:
        graphs(["cora"])  # says what is missing before anything starts
    path = chosen.work / "cora_runs.csv"
    rows = pd.read_csv(path).to_dict("records") if path.is_file() else []
    done = {(row["method"], row["seed"]) for row in rows}
    todo = [(name, seed) for seed in range(seeds) for name in METHODS if (name, seed) not in done]
    print(f"{len(todo)} runs to do, {len(done)} are done already", flush=True)
    pool = joblib.Parallel(n_jobs=chosen.jobs, return_as="generator_unordered", batch_size=1)
    for row in pool(joblib.delayed(one_run)(*what, chosen.quick) for what in todo):
        rows.append(row)
        table = pd.DataFrame(rows).sort_values(["method", "seed"])
        table.to_csv(path, index=False, float_format="%.4f")
        print(f"{row['method']}, seed {row['seed']}: test {row['test_accuracy']:.1f}", flush=True)
    table = pd.DataFrame(rows)
    table = table[table["seed"] < seeds]
    found = table.groupby("method").agg(
        seeds=("seed", "size"),
        test_accuracy_mean=("test_accuracy", "mean"),
        test_accuracy_std=("test_accuracy", "std"),
        validation_accuracy_mean=("validation_accuracy", "mean"),
        cpu_seconds_mean=("cpu_seconds", "mean"),
    )
    found["paper_accuracy"] = [METHODS[name][1] for name in found.index]
    found.to_csv(chosen.out / "cora.csv", float_format="%.3f")
    print(found.round(2).to_string())
    refresh(chosen.out, "cora.csv")


if __name__ == "__main__":
    guarded(main)
