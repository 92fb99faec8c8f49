"""The label samples of Venturini, Cristofari, Rinaldi and Tudisco (ICML 2023): multilayer graphs with layers of noise.

    python benchmarks/published/right_layers.py --data DIR [--sets 3sources,bbc]
        [--methods gramme-auto,label-propagation] [--percents 1,5,10,15] [--noise 0,1,2] [--samples N] [--skip N]

DIR, or DIR/right_layers, holds an archive per set, `<set>.npz`: `labels` (nodes), `edges_<layer>` (2 x edges),
`sample_<percent>_<s>` (the labelled nodes), and with K layers of noise `noise<K>_<percent>_graph<g>_edges_<layer>` (the
noise layers) and `noise<K>_<percent>_graph<g>_sample_<s>`. Prints CSV:

    set,percent,noise,method,accuracy,without_noise,published,samples,cpu_seconds

Accuracy is in percent, on all nodes without a label, mean over the samples; `without_noise` that of the same labels
without the layers of noise (label samples differ by ten points and more, so that other comparisons say little);
`published` the best published one, where there is one; `cpu_seconds` that of fit and prediction, mean over the samples.
A method sees the labels of a sample and nothing else. `--skip N` passes over the label samples before number N.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import gramme
from gramme.datasets.readers import read_arrays
from gramme.methods import method

COLUMNS = "set,percent,noise,method,accuracy,without_noise,published,samples,cpu_seconds"
PUBLISHED = Path(__file__).with_name("published.csv")
PLAIN_SAMPLE = re.compile(r"sample_(\d+)_(\d+)$")
NOISY_SAMPLE = re.compile(r"noise(\d+)_(\d+)_graph(\d+)_sample_(\d+)$")

Arrays = dict[str, NDArray[np.int64]]


class Sample(NamedTuple):
    """Some labelled nodes, and where the layers of noise beside the plain ones are found."""

    percent: int
    noise: int
    prefix: str
    labelled: NDArray[np.int64]
    number: int


def samples(arrays: Arrays) -> Iterator[Sample]:
    """All samples of an archive, those without noise first."""
    for name in sorted(arrays):
        plain, noisy = PLAIN_SAMPLE.match(name), NOISY_SAMPLE.match(name)
        if plain:
            yield Sample(int(plain[1]), 0, "", arrays[name], int(plain[2]))
        elif noisy:
            prefix = name.rsplit("_sample_", 1)[0] + "_"
            yield Sample(int(noisy[2]), int(noisy[1]), prefix, arrays[name], int(noisy[4]))


def graph_of(arrays: Arrays, prefix: str) -> gramme.MultilayerGraph:
    """The plain layers, and those of noise."""
    nodes = arrays["labels"].size
    layers = {}
    for start, word in (("edges_", "layer"), (f"{prefix}edges_", "noise"))[: 1 + bool(prefix)]:
        for name in sorted(arrays):
            if name.startswith(start):
                layers[f"{word} {name.removeprefix(start)}"] = gramme.EdgeLayer(nodes, *arrays[name])
    return gramme.MultilayerGraph(layers)


def measured(arrays: Arrays, sample: Sample, name: str) -> tuple[float, float]:
    """Accuracy and CPU seconds of one fit."""
    graph, truth = graph_of(arrays, sample.prefix), arrays["labels"].astype(str)
    labels = np.full(truth.size, None, dtype=object)
    labels[sample.labelled] = truth[sample.labelled]
    model = method(name).estimator()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = model.fit(graph, labels).predict()
    spent = time.process_time() - began
    unknown = np.array([label is None for label in labels])
    return float((predicted == truth)[unknown].mean()), spent


def numbers(text: str) -> list[int]:
    """Whole numbers with commas between."""
    return [int(part) for part in text.split(",")]


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", help="default: all archives of the folder")
    parser.add_argument("--methods", default="gramme-auto")
    parser.add_argument("--percents", type=numbers)
    parser.add_argument("--noise", type=numbers)
    parser.add_argument("--samples", type=int, help="samples of each cell at most")
    parser.add_argument("--skip", type=int, default=0, help="number of the first label sample")
    given = parser.parse_args()
    folder = given.data / "right_layers"
    folder = folder if folder.is_dir() else given.data
    found = sorted(path.stem for path in folder.glob("*.npz"))
    chosen = given.sets.split(",") if given.sets else found
    missing = [name for name in chosen if name not in found]
    if missing or not chosen:
        sys.exit(f"{folder}: no archive {missing[0] if missing else '*'}.npz; there are {found}")
    print(COLUMNS, flush=True)
    published = pd.read_csv(PUBLISHED).query("protocol == 'right_layers'").set_index(["data", "cell"])["published"]
    for name in chosen:
        arrays = read_arrays(folder / f"{name}.npz")
        cells: dict[tuple[int, int], list[Sample]] = {}
        for sample in samples(arrays):
            if sample.number >= given.skip:
                cells.setdefault((sample.noise, sample.percent), []).append(sample)
        for (noise, percent), drawn in sorted(cells.items()):
            if given.percents and percent not in given.percents:
                continue
            if given.noise and noise not in given.noise:
                continue
            best = published.get((name, f"{percent} % noise {noise}"), "")
            for wanted in given.methods.split(","):
                results = [measured(arrays, one, wanted) for one in drawn[: given.samples]]
                accuracy, spent = (float(np.mean(column)) for column in zip(*results, strict=True))
                without = accuracy if not noise else _without_noise(arrays, drawn[: given.samples], wanted)
                row = f"{name},{percent},{noise},{wanted},{100 * accuracy:.2f},{100 * without:.2f},{best}"
                print(f"{row},{len(results)},{spent:.2f}", flush=True)


def _without_noise(arrays: Arrays, drawn: list[Sample], wanted: str) -> float:
    """The mean accuracy with the same labels on the plain layers; graphs of noise share their label samples."""
    plain = {one.labelled.tobytes(): one._replace(prefix="") for one in drawn}
    found = {key: measured(arrays, one, wanted)[0] for key, one in plain.items()}
    return float(np.mean([found[one.labelled.tobytes()] for one in drawn]))


if __name__ == "__main__":
    main()
