"""The paper's figures of training: convergence on mammography, and t-SNE before and after.

    python benchmarks/paper/training.py [--repeats 5] [--only convergence|tsne]

Convergence: GrAMME-Fusion with the paper's T = 2, H = 1, K = 5, D = 64, d = 32 and learning rate 0.001, one network,
layers fused at the end; loss and accuracy per epoch over 200 epochs, mean and standard deviation over realisations.
Test labels are watched only. t-SNE: the random features a network starts from, and its embedding after training on 10
% of the labels (seed 0); for Cora the embedding of ``cora_models.py``. A t-SNE picture can flatter, so
tsne_agreement.csv has a number from the columns themselves: the share of a test node's 10 nearest nodes that have its
class.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from figures import COLOURS, MARKERS, band, panels, save
from shared import PAPER_SETTINGS, graphs, guarded, options, parsed
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from write_page import refresh

from gramme import GrammeFusion, MultilayerGraph
from gramme.evaluation import random_split
from gramme.ops import random_features

PERCENTS = (10.0, 20.0, 30.0)
PAPER: dict[str, Any] = PAPER_SETTINGS | {
    "heads": 1,
    "depth": 2,
    "fusion_heads": 5,
    "feature_dim": 64,
    "hidden_dim": 32,
    "learning_rate": 0.001,
    "fuse": "end",
    "activation": "elu",
    "ensemble": 1,
}
SHOWN = {"loss": "training loss", "accuracy": "training", "monitor_accuracy": "test"}


def histories(graph: MultilayerGraph, percent: float, repeats: int, epochs: int) -> pd.DataFrame:
    """The history of each realisation, one below the other."""
    found = []
    for realisation in range(repeats):
        split = random_split(graph.labels, percent, realisation)
        model = GrammeFusion(**PAPER, epochs=epochs, random_state=realisation, progress=False)
        model.fit(graph.replace(labels=None), split.y, monitor=split.monitor)
        found.append(model.history_.assign(train_percent=percent, realisation=realisation))
    return pd.concat(found, ignore_index=True)


def draw(table: pd.DataFrame, name: str, repeats: int) -> object:
    percents = sorted(set(table["train_percent"]))
    figure, axes = panels(2 * len(percents), rows=2, width=3.0, height=2.3, sharex=True, sharey="row")
    for place, percent in enumerate(percents):
        here = table[table["train_percent"] == percent]
        values = {
            column: here.pivot_table(index="realisation", columns="epoch", values=column).to_numpy() for column in SHOWN
        }
        above, below = axes[place], axes[len(percents) + place]
        band(above, values["loss"], COLOURS[0], SHOWN["loss"])
        above.set_title(f"{percent:g} % of the labels")
        band(below, 100 * values["accuracy"], COLOURS[0], SHOWN["accuracy"])
        band(below, 100 * values["monitor_accuracy"], COLOURS[1], SHOWN["monitor_accuracy"])
        below.set_xlabel("epoch")
    axes[0].set_ylabel("training loss (nats)")
    axes[len(percents)].set_ylabel("accuracy (%)")
    axes[len(percents)].legend(loc="lower right")
    figure.suptitle(f"GrAMME-Fusion on {name}: mean and standard deviation of {repeats} realisations", fontsize=10)
    return figure


def convergence(chosen: argparse.Namespace) -> None:
    """Loss and accuracy per epoch."""
    name, repeats, epochs = "mammography", chosen.repeats, 200
    if chosen.quick:
        name, repeats, epochs = "wine", 2, 6
    graph = graphs([name])[name]
    table = pd.concat([histories(graph, one, repeats, epochs) for one in PERCENTS])
    columns = list(SHOWN)
    grouped = table.groupby(["train_percent", "epoch"])[columns].agg(["mean", "std"])
    grouped.columns = ["_".join(pair) for pair in grouped.columns]
    grouped["realisations"] = repeats
    best = table.groupby(["train_percent", "realisation"])["monitor_accuracy"].max()
    grouped["peak_mean"] = best.groupby("train_percent").mean().reindex(grouped.index, level=0)
    grouped.to_csv(chosen.out / "convergence.csv", float_format="%.4f")
    save(draw(table, name, repeats), chosen.out / "convergence.png")
    refresh(chosen.out, "convergence.csv", "tsne.csv", "tsne_agreement.csv")


TSNE_SETTINGS: dict[str, Any] = PAPER_SETTINGS | {"feature_dim": 64, "hidden_dim": 32, "ensemble": 1, "random_state": 0}
NEAREST = 10


def plane(columns: np.ndarray) -> np.ndarray:
    """Two coordinates for each row."""
    perplexity = min(30, (len(columns) - 1) / 4)
    solver = TSNE(perplexity=perplexity, init="pca", learning_rate="auto", random_state=0)
    return np.asarray(solver.fit_transform(columns))


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
    before = random_features(graph.nodes, TSNE_SETTINGS["feature_dim"], 0)
    model = GrammeFusion(**TSNE_SETTINGS, epochs=epochs, progress=False)
    model.fit(graph.replace(labels=None), split.y)
    return before, model.embedding_, split.test


def cora(epochs: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns, labels and test nodes of Cora after the training of cora_models.py, seed 0."""
    from cora_models import EPOCHS, PATIENCE, SETTINGS, load, part

    graph, split = load()
    model = GrammeFusion(**SETTINGS, epochs=epochs or EPOCHS, patience=PATIENCE, random_state=0, progress=False)
    model.fit(graph, part(graph, split["train"]), validation=part(graph, split["validation"]))
    return model.embedding_, graph.labels, np.asarray(split["test"])


def tsne(chosen: argparse.Namespace) -> None:
    """Before and after training in two dimensions."""
    names: tuple[str, ...] = ("congress_votes", "mammography")
    epochs = 40
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
            pd.DataFrame({"dataset": name, "when": when, "label": labels, "x": place[:, 0], "y": place[:, 1]})
        )
        share = agreement(np.asarray(columns), labels, test)
        numbers.append({"dataset": name, "when": when, "nodes": len(labels), "agreement": share})
    table, found = pd.concat(points, ignore_index=True), pd.DataFrame(numbers)
    table.to_csv(chosen.out / "tsne.csv", index=False, float_format="%.2f")
    found.to_csv(chosen.out / "tsne_agreement.csv", index=False, float_format="%.4f")
    draw_planes(table[table["dataset"] != "cora"], found, chosen.out / "tsne.png")
    if not chosen.quick:
        draw_planes(table[table["dataset"] == "cora"], found, chosen.out / "tsne_cora.png")
    refresh(chosen.out, "convergence.csv", "tsne.csv", "tsne_agreement.csv")


def draw_planes(table: pd.DataFrame, numbers: pd.DataFrame, path: Path) -> None:
    """A panel for each view, its classes in colours and marks."""
    views = list(table.groupby(["dataset", "when"], sort=False))
    rows = table["dataset"].nunique()
    size = 4.6 if len(views) == 1 else 3.2
    figure, axes = panels(len(views), rows=rows, width=size * 1.2, height=size)
    share: dict[Any, float] = numbers.set_index(["dataset", "when"])["agreement"].to_dict()
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


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=("convergence", "tsne"))
    chosen = parsed(parser)
    for figure in (convergence, tsne):
        if chosen.only in (None, figure.__name__):
            figure(chosen)


if __name__ == "__main__":
    guarded(main)
