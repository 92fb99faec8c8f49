"""One table of all published protocols: what papers report, beside gramme with its defaults on the same splits.

    python benchmarks/published/leaderboard.py --data $GRAMME_DATA --out docs/results/leaderboard.csv

``published.csv`` beside this file has the published figures. Each protocol runs its own script (``heco.py``,
``right_layers.py``, ``gatne.py``, ``s_ffsd.py``) or, for ``official``, the split that comes with Cora and acm3025.
gramme sees training labels only; published methods often choose by further validation labels, as the last column
says. CSV: ``protocol,data,cell,score,method,ours,published,difference,cpu_seconds,published_by``. Rows that ``--out``
has already are not run again.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FOLDER = Path(__file__).resolve().parent
COLUMNS = [
    "protocol",
    "data",
    "cell",
    "score",
    "method",
    "ours",
    "published",
    "difference",
    "cpu_seconds",
    "published_by",
]
Scores = dict[str, tuple[float, float]]
"""Cell -> score in percent and CPU seconds."""


def output_of(script: str, *arguments: str) -> pd.DataFrame:
    """The CSV that a script of this folder prints."""
    command = [sys.executable, str(FOLDER / script), *arguments]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return pd.read_csv(io.StringIO(text), dtype={"edge_type": str})


def heco(data: Path, name: str, method: str) -> Scores:
    """20, 40 and 60 labels of each class; the view with more information, relations, where it is there."""
    view = "relations" if (data / name / "relations.npz").exists() else "edges"
    rows = output_of("heco.py", "--data", str(data / name), "--view", view, "--methods", method)
    return {str(row["labels_per_class"]): (row["macro_f1"], row["cpu_seconds"]) for row in rows.to_dict("records")}


def right_layers(data: Path, name: str, method: str) -> Scores:
    """Every rate, and noise layers at 10 %."""
    arguments = ("--data", str(data / "right_layers"), "--sets", name, "--methods", method)
    rows = pd.concat(
        [
            output_of("right_layers.py", *arguments, "--noise", "0"),
            *(
                []
                if name == "wikipedia"
                else [output_of("right_layers.py", *arguments, "--noise", "1,2", "--percents", "10")]
            ),
        ]
    )
    return {
        f"{row['percent']} % noise {row['noise']}": (row["accuracy"], row["cpu_seconds"])
        for row in rows.to_dict("records")
    }


def gatne(data: Path, name: str, method: str) -> Scores:
    """Pairs of the test file by edge type."""
    rows = output_of("gatne.py", "--data", str(data / name))
    return {str(row["edge_type"]): (row["roc_auc"], row["cpu_seconds"]) for row in rows.to_dict("records")}


def s_ffsd(data: Path, name: str, method: str) -> Scores:
    """Card transactions."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "out.csv")
        command = [sys.executable, str(FOLDER / "s_ffsd.py"), "--data", str(data / name), "--methods", method]
        subprocess.run([*command, "--out", str(path)], check=True, stdout=subprocess.DEVNULL)
        row = pd.read_csv(path).iloc[0]
    return {"test": (100 * row["roc_auc"], row["cpu_seconds"])}


def official(data: Path, name: str, method: str) -> Scores:
    """The split that comes with the data; its validation nodes serve nobody."""
    import gramme
    from gramme.methods import METHODS

    graph, split = gramme.datasets.load(name), gramme.datasets.official_split(name)
    train, test = graph.positions(split["train"]), graph.positions(split["test"])
    labels = np.asarray(graph.labels, dtype=object)
    y = np.full(graph.num_nodes, None, dtype=object)
    y[train] = labels[train]
    began = time.process_time()
    predicted = METHODS[method].estimator(random_state=0).fit(graph.replace(labels=None), y).predict()
    return {"test": (100 * float((predicted == labels)[test].mean()), time.process_time() - began)}


PROTOCOLS = {"heco": heco, "right_layers": right_layers, "gatne": gatne, "s_ffsd": s_ffsd, "official": official}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the datasets")
    parser.add_argument("--protocols", default=",".join(PROTOCOLS))
    parser.add_argument("--sets", help="some of the datasets only")
    parser.add_argument("--method", default="gramme-auto")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    published = pd.read_csv(FOLDER / "published.csv", dtype={"cell": str})
    rows: list[Any] = (
        pd.read_csv(chosen.out, dtype={"cell": str}).to_dict("records") if chosen.out and chosen.out.exists() else []
    )
    print(",".join(COLUMNS))
    for (protocol, name), cells in published.groupby(["protocol", "data"], sort=False):
        asked = protocol in chosen.protocols.split(",") and (not chosen.sets or name in chosen.sets.split(","))
        method = "gramme-links" if protocol == "gatne" else chosen.method
        done = any((row["protocol"], row["data"], row["method"]) == (protocol, name, method) for row in rows)
        if not asked or done:
            continue
        scores = PROTOCOLS[str(protocol)](chosen.data, str(name), method)
        for cell in cells.to_dict("records"):
            if cell["cell"] not in scores:
                continue
            ours, seconds = scores[cell["cell"]]
            row = {
                "protocol": protocol,
                "data": name,
                "cell": cell["cell"],
                "score": cell["score"],
                "method": method,
                "ours": round(ours, 2),
                "published": cell["published"],
                "difference": round(ours - cell["published"], 2),
                "cpu_seconds": round(seconds, 1),
                "published_by": cell["published_by"],
            }
            rows.append(row)
            print(",".join(str(value) for value in row.values()), flush=True)
        if chosen.out:
            pd.DataFrame(rows, columns=COLUMNS).to_csv(chosen.out, index=False)


if __name__ == "__main__":
    main()
