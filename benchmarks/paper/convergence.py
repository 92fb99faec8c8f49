"""Convergence of GrAMME-Fusion on mammography with the paper's T = 2, H = 1, K = 5: loss and accuracy per epoch.

    python benchmarks/paper/convergence.py [--repeats 5]

One network with the paper's D = 64, d = 32 and learning rate 0.001, layers fused at the end as in its text; 200 epochs.
Writes convergence.csv (mean and standard deviation over the realisations per percentage and epoch) and
convergence.png. Test labels are watched only.
"""

from __future__ import annotations

import pandas as pd
from figures import COLOURS, band, panels, save
from shared import PAPER_SETTINGS, graphs, guarded, options, parsed
from write_page import refresh

from gramme import GrammeFusion, MultilayerGraph
from gramme.evaluation import random_split

PERCENTS = (10.0, 20.0, 30.0)
PAPER = PAPER_SETTINGS | {
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
    figure, axes = panels(
        2 * len(percents), rows=2, width=3.0, height=2.3, sharex=True, sharey="row"
    )
    for place, percent in enumerate(percents):
        here = table[table["train_percent"] == percent]
        values = {
            column: here.pivot_table(index="realisation", columns="epoch", values=column).to_numpy()
            for column in SHOWN
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
    figure.suptitle(
        f"GrAMME-Fusion on {name}: mean and standard deviation of {repeats} realisations",
        fontsize=10,
    )
    return figure


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parsed(parser)
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
    refresh(chosen.out)


if __name__ == "__main__":
    guarded(main)
