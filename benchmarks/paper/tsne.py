"""t-SNE before and after training, as in the paper: congress_votes and mammography, and the embedding of Cora.

    python benchmarks/paper/tsne.py

Before: the random features a GrAMME-Fusion network starts from (64 columns). After: its embedding (32 columns), trained
on 10 % of the labels (seed 0) with one network and the paper's sizes. Cora: the embedding of the weighted attention
with 2 heads of benchmarks/cora.py. Coordinates go to tsne.csv. A t-SNE picture can flatter, so tsne_agreement.csv has a
number from the columns themselves: the share of a test node's 10 nearest nodes that have its class.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from figures import COLOURS, MARKERS, panels, save
from shared import PAPER_SETTINGS, graphs, guarded, options, parsed
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from write_page import refresh

from gramme import GrammeFusion, MultilayerGraph
from gramme.evaluation import random_split
from gramme.ops import random_features

SETTINGS = PAPER_SETTINGS | {"feature_dim": 64, "hidden_dim": 32, "ensemble": 1, "random_state": 0}
NEAREST = 10


def plane(columns: np.ndarray) -> np.ndarray:
    """Two coordinates for each row."""
    perplexity = min(30, (len(columns) - 1) / 4)
    solver = TSNE(perplexity=perplexity, init="pca", learning_rate="auto", random_state=0)
    return solver.fit_transform(columns)


def agreement(columns: np.ndarray, labels: np.ndarray, test: np.ndarray) -> float:
    """Mean share of the nearest nodes of a test node that have its class."""
    finder = NearestNeighbors(n_neighbors=NEAREST + 1).fit(columns)
    near = finder.kneighbors(columns[test], return_distance=False)
    same = labels[near] == labels[test][:, None]
    # among many nodes with the same columns the node itself need not be one of those found
    others = near != test[:, None]
    return float(((same & others).sum(1) / others.sum(1)).mean())


def trained(graph: MultilayerGraph, epochs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns before and after training on 10 % of the labels, and the test nodes."""
    split = random_split(graph.labels, 10, 0)
    before = random_features(graph.nodes, SETTINGS["feature_dim"], 0)
    model = GrammeFusion(**SETTINGS, epochs=epochs, progress=False)
    model.fit(graph.replace(labels=None), split.y)
    return before, model.embedding_, split.test


def cora(epochs: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns, labels and test nodes of Cora after the training of benchmarks/cora.py, seed 0."""
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from cora import EPOCHS, PATIENCE, SETTINGS, load, part

    graph, split = load()
    model = GrammeFusion(
        **SETTINGS, epochs=epochs or EPOCHS, patience=PATIENCE, random_state=0, progress=False
    )
    model.fit(graph, part(graph, split["train"]), validation=part(graph, split["validation"]))
    return model.embedding_, graph.labels, np.asarray(split["test"])


def main() -> None:
    chosen = parsed(options(__doc__))
    names, epochs = ("congress_votes", "mammography"), 40
    if chosen.quick:
        names, epochs = ("wine",), 3
    views: list[tuple[str, str, np.ndarray, np.ndarray, np.ndarray]] = []
    for name, graph in graphs(names).items():
        before, after, test = trained(graph, epochs)
        labels = np.asarray(graph.labels)
        views.append((name, "random features", before, labels, test))
        views.append((name, "after training", after, labels, test))
    if not chosen.quick:
        graphs(["cora"])
        columns, labels, test = cora()
        views.append(("cora", "after training", columns, np.asarray(labels), test))
    points, numbers = [], []
    for name, when, columns, labels, test in views:
        print(f"t-SNE of {name}, {when}", flush=True)
        place = plane(np.asarray(columns, dtype=np.float64))
        points.append(
            pd.DataFrame(
                {"dataset": name, "when": when, "label": labels, "x": place[:, 0], "y": place[:, 1]}
            )
        )
        share = agreement(np.asarray(columns), labels, test)
        numbers.append({"dataset": name, "when": when, "nodes": len(labels), "agreement": share})
    table, found = pd.concat(points, ignore_index=True), pd.DataFrame(numbers)
    table.to_csv(chosen.out / "tsne.csv", index=False, float_format="%.2f")
    found.to_csv(chosen.out / "tsne_agreement.csv", index=False, float_format="%.4f")
    draw(table[table["dataset"] != "cora"], found, chosen.out / "tsne.png")
    if not chosen.quick:
        draw(table[table["dataset"] == "cora"], found, chosen.out / "tsne_cora.png")
    refresh(chosen.out)


def draw(table: pd.DataFrame, numbers: pd.DataFrame, path: Path) -> None:
    """A panel for each view, its classes in colours and marks."""
    views = list(table.groupby(["dataset", "when"], sort=False))
    rows = table["dataset"].nunique()
    size = 4.6 if len(views) == 1 else 3.2
    figure, axes = panels(len(views), rows=rows, width=size * 1.2, height=size)
    share = numbers.set_index(["dataset", "when"])["agreement"]
    for one, (key, part) in zip(axes, views, strict=True):
        for place, (label, mine) in enumerate(part.groupby("label", sort=True)):
            one.scatter(
                mine["x"],
                mine["y"],
                s=7,
                color=COLOURS[place],
                marker=MARKERS[place],
                alpha=0.7,
                linewidths=0,
                label=str(label).replace("_", " "),
            )
        one.set_xticks([])
        one.set_yticks([])
        one.grid(False)
        dataset, when = key
        one.set_title(f"{dataset}, {when}:\n{100 * share[key]:.0f} % same class among the nearest")
        one.set_xlabel("t-SNE 1")
        one.set_ylabel("t-SNE 2")
        if when == "after training":
            one.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), markerscale=2, title="class")
    save(figure, path)


if __name__ == "__main__":
    guarded(main)
