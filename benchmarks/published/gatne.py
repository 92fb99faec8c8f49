"""Links on a folder of GATNE's layout: fit on the training edges, score the pairs of test by edge type.

    python benchmarks/published/gatne.py --data DIR [--valid/--no-valid]

``train.txt`` has rows ``edge_type node node``, ``valid.txt`` and ``test.txt`` rows ``edge_type node node label``.
Prints CSV ``dataset,edge_type,method,roc_auc,pr_auc,f1,cpu_seconds`` in percent with a last row ``mean``. As in GATNE's
code, the threshold of F1 is the one that calls as many pairs linked as are. Test labels serve the scores alone. An edge
that is hidden in one type may be visible in another, as the published protocol has it. Pairs of a type with fewer than
two edges to learn from all get the same score; a type whose test pairs are all linked, or none, is left out.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from gramme import EdgeLayer, GrammeLinks, MultilayerGraph
from gramme.errors import FileFormatError


def read(path: Path, columns: int) -> pd.DataFrame:
    """Rows of edge type, two nodes and perhaps a label, all as text."""
    try:
        table = pd.read_csv(path, sep=r"\s+", header=None, dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE)
    except (ValueError, OSError) as error:
        raise FileFormatError(f"cannot be read ({error})", file=path) from error
    if table.shape[1] < columns:
        raise FileFormatError(f"rows need {columns} columns, not {table.shape[1]}", file=path)
    table = table.iloc[:, :columns]
    table.columns = ["type", "source", "target", "label"][:columns]
    return table


def linked_of(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Which pairs are linked, from labels 1 and 0."""
    found: NDArray[np.bool_] = rows["label"].astype(float).to_numpy() > 0
    return found


def f1_at_known_share(linked: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """F1 when as many pairs are called linked as are."""
    threshold = np.sort(scores)[-int(linked.sum())]
    return float(f1_score(linked, scores >= threshold))


def main() -> None:
    """Fit, score, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--valid",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="learn the mixture from valid.txt where it is there, else from training edges set aside",
    )
    given = parser.parse_args()
    began = time.process_time()
    train, test = read(given.data / "train.txt", 3), read(given.data / "test.txt", 4)
    valid_path = given.data / "valid.txt"
    valid = read(valid_path, 4) if given.valid and valid_path.is_file() else test.iloc[:0]
    nodes = pd.Index(pd.unique(pd.concat([t[c] for t in (train, valid, test) for c in ("source", "target")])))
    types = list(dict.fromkeys(train["type"]))
    layers = {}
    for one in types:
        rows = train[train["type"] == one]
        ends = nodes.get_indexer(rows["source"]), nodes.get_indexer(rows["target"])
        apart = ends[0] != ends[1]
        layers[one] = EdgeLayer(len(nodes), ends[0][apart], ends[1][apart])
    graph = MultilayerGraph(layers, nodes=nodes, name=given.data.name)
    examples = {}
    for one in types:
        rows = valid[valid["type"] == one]
        answers = linked_of(rows)
        if min(answers.sum(), (~answers).sum()) >= 100 and layers[one].num_edges > 1:
            examples[one] = (rows[["source", "target"]], answers)
    model = GrammeLinks(random_state=given.seed).fit(graph, examples)
    fitted = time.process_time() - began
    print("dataset,edge_type,method,roc_auc,pr_auc,f1,cpu_seconds")
    found = []
    for one in dict.fromkeys(test["type"]):
        started = time.process_time()
        rows = test[test["type"] == one]
        linked = linked_of(rows)
        if linked.all() or not linked.any():
            print(f"edge type {one}: its test pairs need both answers; left out", file=sys.stderr)
            continue
        scores = np.zeros(len(rows))
        if one in model.layers_:
            scores = model.predict_proba(one, rows[["source", "target"]])
        else:
            print(f"edge type {one}: fewer than 2 edges to learn from", file=sys.stderr)
        figures = [
            100 * float(roc_auc_score(linked, scores)),
            100 * float(average_precision_score(linked, scores)),
            100 * f1_at_known_share(linked, scores),
        ]
        seconds = fitted + time.process_time() - started
        found.append(figures)
        print(_row(given.data.name, one, figures, seconds), flush=True)
    if found:
        print(_row(given.data.name, "mean", np.mean(found, axis=0), time.process_time() - began))


def _row(dataset: str, kind: str, figures: object, seconds: float) -> str:
    scores = ",".join(f"{figure:.2f}" for figure in np.asarray(figures))
    return f"{dataset},{kind},gramme-links,{scores},{seconds:.1f}"


if __name__ == "__main__":
    main()
