r"""WordNet and Debian packages: relations of unequal worth at real size, gramme beside plain models of the same labels.

    python benchmarks/accuracy/relations.py --wordnet DIR --debian Packages --methods gramme-auto,gramme-fusion \
        --percents 1,10 --seeds 100 --out docs/results/relations.csv

A random share of the labels is known; all other nodes are scored. One thread, each fit in a process of its own. Peers
that are not ours: ``neighbours`` (scikit-learn's logistic regression on one-hot neighbours and groups),
``union-propagation`` (label propagation over the union of the layers, a dozen lines), ``rgcn`` and ``gat`` (PyTorch
Geometric, full batch). CSV: ``data,percent,seed,method,accuracy,macro_f1,cpu_seconds,peak_mib``.

Choices were made on seeds 0 to 19; report others.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

import gramme
from gramme.methods import method

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "speed"))
from measure import resident_bytes

COLUMNS = ["data", "percent", "seed", "method", "accuracy", "macro_f1", "cpu_seconds", "peak_mib"]
Codes = NDArray[np.int64]


def incidence(graph: gramme.MultilayerGraph) -> list[sp.csr_array]:
    """Each layer as a matrix: neighbours in both directions, or groups."""
    matrices: list[sp.csr_array] = []
    for layer in graph.layers.values():
        if isinstance(layer, gramme.MembershipLayer):
            ones = np.ones(layer.node.size, dtype=np.float32)
            matrices.append(sp.csr_array((ones, (layer.node, layer.group)), shape=(graph.num_nodes, layer.num_groups)))
        else:
            matrix = sp.csr_array(layer.to_scipy().astype(np.float32))
            matrices += [matrix, sp.csr_array(matrix.T)]
    return matrices


def neighbours(graph: gramme.MultilayerGraph, known: Codes, codes: Codes, classes: int) -> Codes:
    """Logistic regression on columns for single neighbours and groups."""
    columns = sp.csr_array(sp.hstack(incidence(graph)))
    model = LogisticRegression(C=1.0, max_iter=200).fit(columns[known], codes)
    return np.asarray(model.predict(columns))


def union_propagation(graph: gramme.MultilayerGraph, known: Codes, codes: Codes, classes: int) -> Codes:
    """Labels spread over the union of all layers for thirty steps; the known ones stay."""
    labels = np.zeros((graph.num_nodes, classes), dtype=np.float32)
    labels[known, codes] = 1
    matrices = incidence(graph)
    state = labels.copy()
    for _ in range(30):
        total = np.zeros_like(state)
        for matrix in matrices:
            total += matrix @ (matrix.T @ state) if matrix.shape[0] != matrix.shape[1] else matrix @ state
        state = total / np.maximum(total.sum(axis=1, keepdims=True), 1e-9)
        state[known] = labels[known]
    return np.asarray(state.argmax(axis=1))


PEERS: dict[str, Callable[[gramme.MultilayerGraph, Codes, Codes, int], Codes]] = {
    "neighbours": neighbours,
    "union-propagation": union_propagation,
}


def one_fit(data: str, path: str, percent: float, seed: int, name: str) -> dict[str, object]:
    """One method on one sample of the labels."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    graph = gramme.datasets.load(data, path=path)
    truth, names = pd.factorize(pd.Series(graph.labels, dtype=object), sort=True)
    order = np.random.default_rng(seed).permutation(graph.num_nodes)
    known = np.sort(order[: round(graph.num_nodes * percent / 100)])
    hidden = np.setdiff1d(np.arange(graph.num_nodes), known)
    began = time.process_time()
    if name in PEERS:
        predicted = PEERS[name](graph, known, truth[known], len(names))
    else:
        y = np.full(graph.num_nodes, None, dtype=object)
        y[known] = names[truth[known]]
        model = method(name).estimator(random_state=seed).fit(graph.replace(labels=None), y)
        predicted = names.get_indexer(pd.Index(model.predict()))
    seconds = time.process_time() - began
    return {
        "data": data,
        "percent": percent,
        "seed": seed,
        "method": name,
        "accuracy": round(100 * float((predicted == truth)[hidden].mean()), 2),
        "macro_f1": round(100 * float(f1_score(truth[hidden], predicted[hidden], average="macro")), 2),
        "cpu_seconds": round(seconds, 1),
        "peak_mib": resident_bytes(peak=True) >> 20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", help="folder with data.noun and so on")
    parser.add_argument("--debian", help="a Packages index")
    parser.add_argument(
        "--methods", default="gramme-auto,gramme-fusion,label-shares,label-propagation,neighbours,union-propagation"
    )
    parser.add_argument("--percents", default="1,10")
    parser.add_argument("--seeds", default="100")
    parser.add_argument("--out", type=Path, help="a CSV to write; rows that are there are not run again")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(one_fit(*json.loads(chosen.one))))
        return
    if not (chosen.wordnet or chosen.debian):
        parser.error("name the data: --wordnet FOLDER, --debian FILE, or both")
    rows = pd.read_csv(chosen.out).to_dict("records") if chosen.out and chosen.out.exists() else []
    done = {tuple(row[name] for name in COLUMNS[:4]) for row in rows}
    paths = {name: path for name, path in (("wordnet", chosen.wordnet), ("debian", chosen.debian)) if path}
    print(",".join(COLUMNS))
    for data, path in paths.items():
        for percent in map(float, chosen.percents.split(",")):
            for seed in map(int, chosen.seeds.split(",")):
                for name in chosen.methods.split(","):
                    if (data, percent, seed, name) in done:
                        continue
                    one = json.dumps([data, path, percent, seed, name])
                    ended = subprocess.run([sys.executable, __file__, "--one", one], capture_output=True, text=True)
                    if ended.returncode:
                        last = (ended.stderr.strip().splitlines() or ["ended"])[-1]
                        print(f"# {data} {percent:g} {name} failed: {last}", flush=True)
                        continue
                    rows.append(json.loads(ended.stdout.splitlines()[-1]))
                    print(",".join(str(rows[-1][column]) for column in COLUMNS), flush=True)
                    if chosen.out:
                        pd.DataFrame(rows, columns=COLUMNS).to_csv(chosen.out, index=False)


if __name__ == "__main__":
    main()
