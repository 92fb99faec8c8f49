"""What attention learns from labels, learned rows and fixed features as inputs, on relations in one table.

    python benchmarks/attention_inputs.py wordnet/wn.csv wordnet/labels.csv wordnet/truth.csv --target synset
    python benchmarks/attention_inputs.py debian/groups.csv debian/labels.csv debian/truth.csv --target package \
        --inputs default,labels,learned --share 0.1 --seeds 0,1

The first file has the columns relation, source_type, source, target_type, target; the second and the third have a node
and its label, the second only where it is known. Relations between nodes of the target kind have a direction unless
``--undirected`` is given. Scored on all nodes whose label is not known. One thread; the columns of the CSV are
file,inputs,labels,seed,accuracy,log_loss,cpu_seconds,peak_mib,shares.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time

import numpy as np
import pandas as pd
import torch
from measure import in_own_process, resident_bytes

from gramme import GrammeFusion, MultilayerGraph

COLUMNS = [
    "file",
    "inputs",
    "labels",
    "seed",
    "accuracy",
    "log_loss",
    "cpu_seconds",
    "peak_mib",
    "shares",
]


def read_graph(relations: str, truth: str, target: str, directed: bool) -> MultilayerGraph:
    """The relations of a table around the nodes of one kind, with all labels."""
    rows = pd.read_csv(relations, dtype=str, keep_default_na=False)
    labels = pd.read_csv(truth, dtype=str, keep_default_na=False)
    pairs = {
        (target, name, kind): part[["source", "target"]]
        for (name, kind), part in rows.groupby(["relation", "target_type"], sort=False)
    }
    names = labels.iloc[:, 0]
    return MultilayerGraph.from_relations(
        pairs,
        target=target,
        nodes={target: names},
        directed=directed,
        labels=dict(zip(names, labels.iloc[:, 1], strict=True)),
    )


def run(options: argparse.Namespace) -> dict[str, object]:
    """One fit, measured."""
    torch.set_num_threads(1)
    graph = read_graph(options.relations, options.truth, options.target, not options.undirected)
    given = pd.read_csv(options.labels, dtype=str, keep_default_na=False)
    known = {node: label for node, label in given.itertuples(index=False) if label}
    names = sorted(known)
    chosen = np.random.default_rng(options.seed).permutation(len(names))
    kept = {names[place] for place in chosen[: round(options.share * len(names))]}
    y = {node: label for node, label in known.items() if node in kept}
    features = None if options.inputs == "default" else options.inputs
    began = time.process_time()
    model = GrammeFusion(features=features, random_state=options.seed).fit(graph, y)
    seconds = time.process_time() - began
    unknown = ~graph.nodes.isin(list(known))
    truth = np.asarray(graph.labels)[unknown]
    probabilities = model.predict_proba()[unknown].astype(np.float64)
    places = pd.Index(model.classes_).get_indexer(truth)
    own = np.where(places >= 0, probabilities[np.arange(truth.size), places], 0.0)
    pool = model.relations_
    shares = {} if pool is None else pool.kind_shares() | {"fixed": pool.fixed_share}
    return {
        "file": options.relations,
        "inputs": options.inputs,
        "labels": len(y),
        "seed": options.seed,
        "accuracy": round(100 * float((model.predict()[unknown] == truth).mean()), 2),
        "log_loss": round(float(-np.log(np.maximum(own, 1e-9)).mean()), 4),
        "cpu_seconds": round(seconds, 1),
        "peak_mib": resident_bytes(peak=True) >> 20,
        "shares": " ".join(f"{name}={share:.2f}" for name, share in shares.items() if share),
    }


def main() -> None:
    """Run every kind of input with every seed, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("relations")
    parser.add_argument("labels")
    parser.add_argument("truth")
    parser.add_argument("--target", required=True)
    parser.add_argument("--inputs", default="default")
    parser.add_argument("--share", type=float, default=1.0, help="of the known labels")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--undirected", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        options.seed = int(options.seeds)
        print(json.dumps(run(options)))
        return
    writer = csv.DictWriter(sys.stdout, COLUMNS)
    writer.writeheader()
    for inputs in options.inputs.split(","):
        for seed in options.seeds.split(","):
            arguments = [options.relations, options.labels, options.truth]
            arguments += ["--target", options.target, "--inputs", inputs, "--seeds", seed]
            arguments += ["--share", str(options.share), "--one"]
            arguments += ["--undirected"] if options.undirected else []
            writer.writerow(in_own_process(arguments))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
