"""What a ``gramme fit`` costs on data of real size: CPU seconds, memory, accuracy, sizes of what it writes.

    GRAMME_DATA=... python benchmarks/speed/fit.py --cases wordnet,debian --wordnet DIR --debian Packages --out fit.csv
    python benchmarks/speed/fit.py --cases table,edges,layers            data made here: nothing is needed
    python benchmarks/speed/fit.py --cases layers --methods rank         ``gramme rank`` on the same data
    python benchmarks/speed/fit.py --grow nodes,classes --out grow.csv   doubles one size at a time; slopes in log-log

Each case is one command in a process of its own, as a person would type it, on one thread unless ``--threads`` says
more. Accuracy is on nodes whose label the command never saw. ``--rows`` and ``--scale`` make the cases smaller. What
``--out`` has a row of is not measured again.

| case | data |
|---|---|
| wordnet, debian | a tenth of the labels (`gramme datasets info wordnet`) |
| s_ffsd | card transactions, four fifths of the labels |
| acm3025 | its official training nodes |
| table | a million rows, ten columns, one row in fifty labelled |
| edges | 10 million edges, 333,333 nodes, three layers, a tenth labelled |
| layers | 2,000 layers over 100 nodes |
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import gramme

COLUMNS = [
    "case",
    "method",
    "nodes",
    "layers",
    "entries",
    "classes",
    "labels",
    "threads",
    "cpu_seconds",
    "wall_seconds",
    "peak_mib",
    "accuracy",
    "page_mib",
    "predictions_mib",
    "model_mib",
]
Prepared = tuple[Path, list[str], pd.Series, dict[str, int]]
"""The file to fit, further options, the true label of each node that is to be predicted, and what the data hold."""


def from_graph(graph: gramme.MultilayerGraph, share: float, folder: Path, seed: int = 0) -> Prepared:
    """A graph as a file; a random share of its labels is known."""
    labels = pd.Series(graph.labels, index=graph.nodes, dtype=object).dropna()
    known = labels.sample(frac=share, random_state=seed)
    return from_known(graph, known, labels.drop(known.index), folder)


def from_known(graph: gramme.MultilayerGraph, known: pd.Series, truth: pd.Series, folder: Path) -> Prepared:
    """A graph as a file with some known labels."""
    gramme.write(graph.replace(labels=None), folder / "data.npz")
    known.rename("label").rename_axis("node").to_csv(folder / "labels.csv")
    entries = sum(layer.num_entries for layer in graph.layers.values())
    sizes = {"nodes": graph.num_nodes, "layers": graph.num_layers, "entries": int(entries)}
    sizes |= {"classes": known.nunique(), "labels": len(known)}
    return folder / "data.npz", ["--labels", str(folder / "labels.csv")], truth, sizes


def official_nodes(chosen: argparse.Namespace, folder: Path) -> Prepared:
    """acm3025 with its official training nodes."""
    graph = gramme.datasets.load("acm3025")
    split = gramme.datasets.official_split("acm3025")
    labels = pd.Series(graph.labels, index=graph.nodes, dtype=object)
    train, test = (labels.loc[graph.nodes[graph.positions(split[name])]] for name in ("train", "test"))
    return from_known(graph, train, test, folder)


def card_transactions(chosen: argparse.Namespace, folder: Path) -> Prepared:
    """S-FFSD: sender, receiver, place and type are groups, time and amount numbers."""
    frame = pd.read_csv(Path(os.environ["GRAMME_DATA"], "s_ffsd", "S-FFSD.zip"))
    # whole numbers with gaps: as floats they would be written "1.0" and match no prediction
    frame["Labels"] = frame["Labels"].where(frame["Labels"] != 2).astype("Int64")
    known = frame["Labels"].dropna()
    hidden = known.sample(frac=0.2, random_state=2).index
    return as_table(frame, "Labels", frame["Labels"].loc[hidden].astype(str), folder)


def made_table(chosen: argparse.Namespace, folder: Path) -> Prepared:
    """Eight columns of categories with gaps, amounts and dates; three columns decide the label."""
    random, rows = np.random.default_rng(0), chosen.rows
    table: dict[str, Any] = {}
    for number in range(8):
        answers = np.array([f"answer {value}" for value in range(3 + 4 * number)], dtype=object)
        cells = answers[random.integers(0, answers.size, rows)]
        cells[random.random(rows) < 0.02] = ""
        table[f"question {number + 1}"] = cells
    table["income"] = random.gamma(2, 1000, rows).round(2)
    days = random.integers(0, 3650, rows).astype("timedelta64[D]")
    table["born"] = (np.datetime64("1980-01-01") + days).astype(str)
    score = (table["question 1"] == "answer 0").astype(float) + (table["question 2"] > "answer 3")
    score = score + (table["income"] > 1700) + random.normal(0, 0.3, rows)
    frame = pd.DataFrame(table | {"label": np.where(score > 1.3, "yes", "no")})
    return as_table(frame, "label", frame["label"][random.random(rows) > 0.02], folder)


def as_table(frame: pd.DataFrame, label: str, truth: pd.Series, folder: Path) -> Prepared:
    """A table as a CSV whose rows have an id; the labels to predict are left out."""
    classes = frame[label].dropna().nunique()
    frame.loc[truth.index, label] = None
    frame.to_csv(folder / "data.csv", index_label="row_id")
    truth.index = truth.index.astype(str)
    sizes = {"nodes": len(frame), "layers": frame.shape[1] - 1, "entries": len(frame) * (frame.shape[1] - 1)}
    sizes |= {"classes": classes, "labels": int(frame[label].notna().sum())}
    return folder / "data.csv", ["--table", "--label", label, "--id", "row_id"], truth, sizes


def made_edges(chosen: argparse.Namespace, folder: Path) -> Prepared:
    """Three layers whose edges follow four classes more and less."""
    graph = gramme.datasets.load(
        "synthetic", nodes=round(333_333 * chosen.scale), classes=4, degree=20, signal=(0.2, 0.1, 0.05)
    )
    return from_graph(graph, 0.1, folder)


def made_layers(chosen: argparse.Namespace, folder: Path) -> Prepared:
    """Many small layers over few nodes."""
    graph = gramme.datasets.load(
        "synthetic", nodes=100, layers=round(2000 * chosen.scale), classes=2, degree=2, signal=0.3
    )
    return from_graph(graph, 0.3, folder)


CASES: dict[str, Callable[[argparse.Namespace, Path], Prepared]] = {
    "wordnet": lambda chosen, folder: from_graph(gramme.datasets.load("wordnet", path=chosen.wordnet), 0.1, folder),
    "debian": lambda chosen, folder: from_graph(gramme.datasets.load("debian", path=chosen.debian), 0.1, folder),
    "s_ffsd": card_transactions,
    "acm3025": official_nodes,
    "table": made_table,
    "edges": made_edges,
    "layers": made_layers,
}
BASE = {"nodes": 4_000, "degree": 8, "classes": 4, "layers": 3, "share": 0.1}
"""The graph whose sizes are doubled one by one."""
GROWTH = {"nodes": "nodes", "entries": "degree", "classes": "classes", "labels": "share", "layers": "layers"}


def grown(what: str, times: int, folder: Path) -> Prepared:
    """The base graph with one of its sizes multiplied."""
    sizes = BASE | {GROWTH[what]: BASE[GROWTH[what]] * times}
    if what == "layers":  # as many entries as before
        sizes["degree"] = max(1, BASE["degree"] // times)
    share = sizes.pop("share")
    whole = {name: int(size) for name, size in sizes.items()}
    return from_graph(gramme.datasets.load("synthetic", signal=0.3, **whole), share, folder)


def measured(case: str, method: str, prepared: Prepared, threads: int, folder: Path) -> dict[str, Any]:
    """Run the command in a process of its own."""
    data, options, truth, sizes = prepared
    result = folder / "result"
    action = ["rank", str(data)] if method == "rank" else ["fit", str(data), *options, "--method", method]
    command = [sys.executable, "-m", "gramme", *action, "--out", str(result), "--quiet"]
    limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    started = time.perf_counter()
    process = subprocess.Popen(command, env=os.environ | limits | {"NUMBA_NUM_THREADS": str(threads)})
    _, status, used = os.wait4(process.pid, 0)  # of this process alone: others may have needed more memory before
    if status:
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    accuracy = np.nan
    if method != "rank":
        predictions = pd.read_csv(result / "predictions.csv", dtype=str, keep_default_na=False, index_col="node")
        right = predictions["predicted"].reindex(truth.index.astype(str)).to_numpy() == truth.astype(str).to_numpy()
        accuracy = round(100 * float(right.mean()), 2)
    mebibytes = {
        name: round(sum(path.stat().st_size for path in result.glob(files)) / 2**20, 1)
        for name, files in (("page_mib", "report.html"), ("predictions_mib", "predictions.*"), ("model_mib", "model.*"))
    }
    return {
        "case": case,
        "method": method,
        **sizes,
        "threads": threads,
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "wall_seconds": round(time.perf_counter() - started, 1),
        "peak_mib": used.ru_maxrss // 1024,
        "accuracy": accuracy,
        **mebibytes,
    }


def slopes(rows: pd.DataFrame) -> pd.DataFrame:
    """The exponent of CPU seconds and of memory in each size."""
    found = []
    for what, part in rows.groupby(rows["case"].str.split().str[0], sort=False):
        sizes = np.log(part[str(what)])
        found.append(
            {"size": what}
            | {
                cost: round(float(np.polyfit(sizes, np.log(part[cost]), 1)[0]), 2)
                for cost in ("cpu_seconds", "peak_mib")
            }
        )
    return pd.DataFrame(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="")
    parser.add_argument("--methods", default="gramme-auto", help="what to fit with, or rank")
    parser.add_argument("--grow", default="", help=f"sizes to double, of {', '.join(GROWTH)}")
    parser.add_argument("--steps", type=int, default=4, help="doublings of each size")
    parser.add_argument("--wordnet", help="folder with data.noun and so on")
    parser.add_argument("--debian", help="a Packages index")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the case table")
    parser.add_argument("--scale", type=float, default=1.0, help="of the cases edges and layers")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a CSV to write; rows that are there stay")
    chosen = parser.parse_args()
    works: dict[str, Callable[[Path], Prepared]] = {}
    for case in filter(None, chosen.cases.split(",")):
        works[case] = partial(CASES[case], chosen)
    for what in filter(None, chosen.grow.split(",")):
        for step in range(chosen.steps):
            works[f"{what} x {2**step}"] = partial(grown, what, 2**step)
    rows: list[Any] = pd.read_csv(chosen.out).to_dict("records") if chosen.out and chosen.out.exists() else []
    writer = csv.DictWriter(sys.stdout, COLUMNS)
    writer.writeheader()
    for (case, prepare), method in product(works.items(), chosen.methods.split(",")):
        same = {"case": case, "method": method, "threads": chosen.threads}
        if any({key: old[key] for key in same} == same for old in rows):
            continue
        with tempfile.TemporaryDirectory() as name:
            row = measured(case, method, prepare(Path(name)), chosen.threads, Path(name))
        writer.writerow(row)
        sys.stdout.flush()
        rows.append(row)
        if chosen.out:
            pd.DataFrame(rows, columns=COLUMNS).to_csv(chosen.out, index=False)
    if chosen.grow:
        table = pd.DataFrame(rows)
        print(slopes(table[table["case"].str.contains(" x ")]).to_string(index=False))


if __name__ == "__main__":
    main()
