"""Label propagation on a long table, which the explicit union graph of the same table could not be stored for.

    python benchmarks/bench_label_propagation.py [--rows 1000000] [--columns 10] [--groups 10] [--labelled 0.1]

Prints the CPU seconds and the peak memory of a fit, inner cross-validation included, in a process of its own; the edges
the layers imply, and what the union graph would need at eight bytes per edge. Ends with an error where a fit costs more
than a minute of CPU or 2 GiB.
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

from gramme import datasets
from gramme.methods import LabelPropagation

MOST_SECONDS = 60.0
MOST_BYTES = 2 * 2**30


def measure(rows: int, columns: int, groups: int, labelled: float) -> None:
    """Build the table, fit, and print what it took; runs in a process of its own."""
    signal = [0.6 * (place % 2) for place in range(columns)]
    graph = datasets.load("synthetic_table", nodes=rows, groups=groups, signal=signal)
    labels = graph.labels
    assert labels is not None
    hidden = np.random.default_rng(0).random(rows) >= labelled
    y = labels.copy()
    y[hidden] = None
    built = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    start = time.process_time()
    model = LabelPropagation(random_state=0).fit(graph, y)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    accuracy = float((model.predict() == labels)[hidden].mean())
    edges = graph.num_edges
    # each pair of rows shares a column's group with a probability that the layers' edges tell
    pairs = rows * (rows - 1) / 2
    apart = np.prod([1 - layer.num_edges / pairs for layer in graph.layers.values()])
    union = (1 - apart) * pairs
    print(
        f"{rows:,} rows x {columns} columns of {groups} groups, {labelled:.0%} labelled, 3 classes"
    )
    print(f"implied edges       {edges:,} in all layers, about {union:.3g} in their union")
    print(f"the union as edges  {union * 8 / 2**30:,.0f} GiB at 8 bytes per edge")
    print(f"fit                 {seconds:.1f} CPU seconds (at most {MOST_SECONDS:.0f})")
    print(
        f"peak memory         {peak / 2**20:,.0f} MiB (at most {MOST_BYTES / 2**20:,.0f}), ", end=""
    )
    print(f"of which {built / 2**20:,.0f} MiB before the fit")
    print(f"accuracy            {accuracy:.4f}, alpha {model.alpha_}, sharpness {model.sharpness_}")
    if seconds > MOST_SECONDS or peak > MOST_BYTES:
        sys.exit("too much")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--groups", type=int, default=10)
    parser.add_argument("--labelled", type=float, default=0.1)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        measure(options.rows, options.columns, options.groups, options.labelled)
    else:
        sys.exit(subprocess.run([sys.executable, *sys.argv, "--inside"], check=False).returncode)


if __name__ == "__main__":
    main()
