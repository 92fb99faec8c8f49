"""How well ``gramme links`` ranks pairs beside methods of others, on the same splits of several networks.

    python benchmarks/accuracy/link_peers.py --data DIR [--networks a,b] --out docs/results/link_peers.csv

A fifth of the edges of one layer is held out, each fifth once, all other layers visible. Writes the mean over the
layers of each network, a row per method and kind of unlinked pairs, and beside it average ranks over all layers with
the critical difference (``..._ranks.csv``). ``best-single-score`` is the score that tells the visible edges best by
ROC-AUC on edges set aside within them: what somebody would choose who had the scores and no mixture.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from networks import networks
from numpy.typing import NDArray

from gramme import MultilayerGraph
from gramme.evaluation.ledger import Ledger
from gramme.evaluation.link_benchmark import NEGATIVES, link_benchmark, rank_link_methods
from gramme.evaluation.link_methods import LINK_METHODS, LinkMethod
from gramme.links import column_names
from gramme.links.evidence import Evidence
from gramme.links.explain import roc_auc
from gramme.links.sampling import rounds

METHODS = (
    "gramme-links,best-single-score,cross-layer-logistic,own-adamic-adar,own-paths-normalised,own-attachment,"
    "node2vec-hadamard,gae,gat-autoencoder"
)
SMALL = "vickers_chan,kapferer,leskovec_ng,synthetic_tiny"


def best_single_score(graph: MultilayerGraph, layer: str, pairs: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """The column of evidence that is best on edges set aside within the visible ones; without attention."""
    rows, linked = [], []
    for one in rounds(graph, layer, np.random.default_rng([seed, 7])):
        rows.append(Evidence(one.graph, layer).of(np.concatenate([one.linked, one.unlinked])))
        linked.append(np.arange(len(rows[-1])) < len(one.linked))
    inner, truth = np.concatenate(rows), np.concatenate(linked)
    sign = np.array([-1.0 if name == "attributes_far" else 1.0 for name in column_names()])
    best = int(np.argmax([roc_auc(truth, column) for column in (inner * sign).T]))
    found: NDArray[np.float64] = (Evidence(graph, layer).of(pairs) * sign)[:, best]
    return found


def main() -> None:
    """Run what the ledger lacks, and write both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--networks", default=SMALL)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--ledger", type=Path, help="sqlite file to resume from")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    name = "best-single-score"
    LINK_METHODS[name] = LinkMethod(name, "the score that is best on inner edges", best_single_score)
    known = networks(given.data)
    graphs = {name: known[name]() for name in given.networks.split(",")}
    with tempfile.TemporaryDirectory() as folder:
        ledger = given.ledger or Path(folder) / "links.sqlite"
        table = link_benchmark(
            graphs,
            given.methods.split(","),
            out=ledger,
            tell=lambda done, total: print(f"{done} of {total}", end="\r", flush=True),
        )
        with Ledger(ledger, "links", create=False) as opened:
            runs = opened.runs()
    means = table[table["layer"] == "mean"].drop(columns=["layer", "roc_auc_ci95"])
    means.to_csv(given.out, index=False, float_format="%.4g")
    ranks = []
    for negatives in NEGATIVES:
        ranking = rank_link_methods(runs, negatives)
        for method, rank in zip(ranking.methods, ranking.ranks, strict=True):
            ranks.append((negatives, method, rank, ranking.datasets, ranking.critical_difference))
    columns = ["negatives", "method", "mean_rank", "layers", "critical_difference"]
    ranked = pd.DataFrame(ranks, columns=columns)
    ranked.to_csv(given.out.with_name(f"{given.out.stem}_ranks.csv"), index=False, float_format="%.4g")
    print(means.to_string(index=False), ranked.to_string(index=False), sep="\n")


if __name__ == "__main__":
    main()
