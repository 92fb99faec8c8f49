"""Ablations of what the paper argues in words: features, heads, supra-fusion heads, noise layers, text against code.

    python benchmarks/paper/ablations.py [--only features] [--repeats 5] [--jobs 2]

- features: random against constant, one-hot degrees and identity
- heads: weighted, averaged and concatenated heads for H = 1, 2, 4, 8
- fusion_heads: K = 1 .. 10, with and without the optional feed-forward layer
- noise: GrAMME-SG against GrAMME-Fusion as layers of noise are added to a synthetic multiplex
- architecture: the networks of the paper's text against those of its authors' code, with the paper's own settings
- score: the score of the paper, in which the listener's part cancels, against LeakyReLU on both parts, as in GAT
- leak: congress_votes without and with the party among the layers

10 % of the labels, one network per fit as in the paper (the default is an ensemble of 8); architecture also has the
paper's sizes and learning rate, the others our sizes; all start from random features, as the paper's models do. Runs go
to build/paper/ablations.sqlite; each ablation writes
a csv file and, but for the last three, a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from figures import COLOURS, means, panels, save
from shared import PAPER_SETTINGS, graphs, guarded, options, parsed, run
from write_page import refresh

from gramme.datasets import load
from gramme.graph import MultilayerGraph

NETWORKS = ("ckm_social", "leskovec_ng", "balance_scale")
ALL = (*NETWORKS, "vickers_chan", "mammography", "congress_votes")
KEPT = ["repeats", "accuracy_mean", "accuracy_std", "accuracy_ci95", "peak_mean", "cpu_seconds_mean"]
MOST_DEGREES = 64


@dataclass
class Bench:
    """Where results go and how much is done."""

    out: Path
    ledger: Path
    repeats: int
    jobs: int | None
    quick: bool

    def data(self, names: tuple[str, ...]) -> dict[str, MultilayerGraph]:
        """The datasets, or an embedded one to see that everything runs."""
        return graphs(("wine",) if self.quick else names)

    def rows(
        self, data: Mapping[str, MultilayerGraph], method: str, told: dict[str, Any], **settings: Any
    ) -> pd.DataFrame:
        """Accuracy of a method on graphs with some settings; ``told`` are columns that say what it is."""
        if method in ("gramme-sg", "gramme-fusion"):
            settings = PAPER_SETTINGS | settings
        if self.quick and method.startswith("gramme-"):
            settings |= {"epochs": 2, "feature_dim": 8}
        table = run(
            data, [method], self.ledger, train=[10.0], repeats=self.repeats, settings={method: settings}, jobs=self.jobs
        )
        return table[["dataset", *KEPT]].assign(**told)

    def csv(self, name: str, parts: list[pd.DataFrame]) -> pd.DataFrame:
        """Join the parts and write them to a file."""
        table = pd.concat(parts, ignore_index=True)
        first = ["dataset", *(column for column in table if column not in ("dataset", *KEPT))]
        table = table[first + KEPT]
        table.to_csv(self.out / f"{name}.csv", index=False, float_format="%.3f")
        return table


def degree_columns(graph: MultilayerGraph) -> np.ndarray:
    """One column for each degree that occurs in a layer, layers side by side; many degrees are binned."""
    parts = []
    for matrix in graph.to_scipy().values():
        degree = np.diff(matrix.indptr)
        values = np.unique(degree)
        if values.size > MOST_DEGREES:
            values = np.unique(np.quantile(degree, np.linspace(0, 1, MOST_DEGREES)))
        place = np.clip(np.searchsorted(values, degree, side="right") - 1, 0, None)
        parts.append(np.eye(values.size)[place])
    return np.concatenate(parts, axis=1)


def features(bench: Bench) -> None:
    """Random features against what else could stand in for missing attributes."""
    made: dict[str, Callable[[MultilayerGraph], Any]] = {
        "constant": lambda graph: np.ones((graph.num_nodes, 1)),
        "one-hot degree": degree_columns,
        "identity": lambda graph: np.eye(graph.num_nodes),
    }
    data = bench.data(NETWORKS)
    parts = [bench.rows(data, "gramme-fusion", {"features": "random"}, ensemble=1)]
    for name, columns in made.items():
        changed = {key: graph.replace(features=columns(graph)) for key, graph in data.items()}
        settings = {"features": "given", "ensemble": 1}
        parts.append(bench.rows(changed, "gramme-fusion", {"features": name}, **settings))
    parts.append(bench.rows(data, "majority", {"features": "(majority class)"}))
    table = bench.csv("ablation_features", parts)
    figure, axes = panels(1, width=6.4, height=3.0)
    kinds = list(dict.fromkeys(table["features"]))
    names = list(dict.fromkeys(table["dataset"]))
    for place, kind in enumerate(kinds):
        part = table[table["features"] == kind].set_index("dataset").loc[names]
        axes[0].bar(
            np.arange(len(names)) + (place - (len(kinds) - 1) / 2) * 0.16,
            part["accuracy_mean"],
            0.15,
            yerr=part["accuracy_ci95"],
            error_kw={"elinewidth": 0.8},
            color=[*COLOURS[:4], "0.6"][place],
            label=kind,
        )
    axes[0].set_xticks(range(len(names)), names)
    axes[0].set_ylabel("accuracy (%)")
    axes[0].set_ylim(0, 105)
    axes[0].set_title("GrAMME-Fusion by the features its nodes start from, 10 % of the labels")
    axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title="features")
    save(figure, bench.out / "ablation_features.png")


def lines(bench: Bench, table: pd.DataFrame, name: str, across: str, by: str, label: str, title: str) -> None:
    """A panel per dataset, a line per variant."""
    datasets = list(dict.fromkeys(table["dataset"]))
    variants = list(dict.fromkeys(table[by]))
    figure, axes = panels(len(datasets), width=3.1 if len(datasets) > 1 else 5.2)
    for one, dataset in zip(axes, datasets, strict=True):
        means(one, table[table["dataset"] == dataset], across, by, variants)
        one.set_title(dataset)
        one.set_xlabel(label)
        one.set_xticks(sorted(set(table[across])))
    axes[0].set_ylabel("accuracy (%)")
    axes[-1].legend(loc="best")
    figure.suptitle(title, fontsize=10)
    save(figure, bench.out / f"{name}.png")


def heads(bench: Bench) -> None:
    """Three ways to make one of several heads."""
    data = bench.data(NETWORKS)
    ways = {"weighted (paper)": "weighted", "averaged": "average", "concatenated": "concatenate"}
    parts = [
        bench.rows(
            data, "gramme-fusion", {"heads": count, "combined": name}, heads=count, combine_heads=way, ensemble=1
        )
        for count in (1, 2, 4, 8)
        for name, way in ways.items()
    ]
    table = bench.csv("ablation_heads", parts)
    title = "Attention heads, mean and 95 % interval: how many, and how they become one"
    lines(bench, table, "ablation_heads", "heads", "combined", "attention heads H", title)


def fusion_heads(bench: Bench) -> None:
    """More supra-fusion heads; without a feed-forward layer they multiply out to one factor per layer."""
    data = bench.data(NETWORKS)
    parts = [
        bench.rows(
            data,
            "gramme-fusion",
            {"fusion_heads": count, "supra_fusion": name},
            fusion_heads=count,
            feed_forward=forward,
            ensemble=1,
        )
        for count in range(1, 11)
        for name, forward in {"linear": False, "with feed-forward layer": True}.items()
        if not forward or count in (1, 2, 5, 10)
    ]
    table = bench.csv("ablation_fusion_heads", parts)
    title = "Supra-fusion heads: accuracy by their number, mean and 95 % interval"
    name = "ablation_fusion_heads"
    lines(bench, table, name, "fusion_heads", "supra_fusion", "supra-fusion heads K", title)


def noise(bench: Bench) -> None:
    """Three layers that know the classes, and more and more that do not."""
    nodes, counts = (60, (0, 1)) if bench.quick else (500, (0, 1, 2, 4, 8, 16))
    parts = []
    for count in counts:
        signal = [0.5, 0.5, 0.5] + [0.0] * count
        graph = load("synthetic", nodes=nodes, classes=3, degree=6, signal=signal)
        for method, told in {"gramme-sg": "GrAMME-SG", "gramme-fusion": "GrAMME-Fusion"}.items():
            columns = {"noise_layers": count, "method": told}
            parts.append(bench.rows({"synthetic": graph}, method, columns, ensemble=1))
    table = bench.csv("ablation_noise", parts)
    table["dataset"] = f"3 layers that know the classes, {nodes} nodes"
    title = "Layers of noise added to a synthetic multiplex, mean and 95 % interval"
    lines(bench, table, "ablation_noise", "noise_layers", "method", "layers of noise", title)


def architecture(bench: Bench) -> None:
    """Fused or pooled once at the end, as the text has it, or after every hop, as the authors' code does."""
    paper = {"feature_dim": 64, "ensemble": 1, "learning_rate": 0.001, "epochs": 200}
    data = bench.data(ALL)
    parts = []
    for name, end in {"text": "end", "authors' code": "every hop"}.items():
        told = {"method": "gramme-fusion", "architecture": name}
        more: dict[str, Any] = {"fuse": end, "activation": "elu"}
        parts.append(bench.rows(data, "gramme-fusion", told, **paper, **more))
        told = {"method": "gramme-sg", "architecture": name}
        more = {"pool": end, "activation": "elu", "shared_features": name != "text"}
        parts.append(bench.rows(data, "gramme-sg", told, **paper, **more))
    bench.csv("ablation_architecture", parts)


def score(bench: Bench) -> None:
    """The neighbour's part of a score alone, or both parts with LeakyReLU, in the model of the paper's text."""
    paper = {
        "feature_dim": 64,
        "ensemble": 1,
        "learning_rate": 0.001,
        "epochs": 200,
        "fuse": "end",
        "activation": "elu",
    }
    data = bench.data((*NETWORKS, "vickers_chan"))
    parts = [
        bench.rows(data, "gramme-fusion", {"score": name}, attention_score=kind, score_bound=None, **paper)
        for name, kind in {"neighbour (paper)": "neighbour", "both, LeakyReLU": "leaky"}.items()
    ]
    bench.csv("ablation_score", parts)


def leak(bench: Bench) -> None:
    """The votes alone, and four layers of which one is the party itself: what the paper's edge count points to."""
    data = bench.data(("congress_votes", "congress_votes_leaky"))
    parts = [
        bench.rows(data, method, {"method": method}, **settings)
        for method, settings in {
            "gramme-fusion": {"ensemble": 1},
            "label-propagation": {},
            "one-hot-logistic": {},
        }.items()
    ]
    bench.csv("ablation_leak", parts)


ABLATIONS = {
    "features": features,
    "heads": heads,
    "fusion_heads": fusion_heads,
    "noise": noise,
    "architecture": architecture,
    "score": score,
    "leak": leak,
}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--only", choices=ABLATIONS, action="append", help="may be repeated")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parsed(parser)
    bench = Bench(
        chosen.out,
        chosen.work / "ablations.sqlite",
        2 if chosen.quick else chosen.repeats,
        1 if chosen.quick else chosen.jobs,
        chosen.quick,
    )
    for name in chosen.only or ABLATIONS:
        print(f"{name}: {(ABLATIONS[name].__doc__ or name).splitlines()[0]}", flush=True)
        ABLATIONS[name](bench)
    refresh(chosen.out, *(f"ablation_{name}.csv" for name in chosen.only or ABLATIONS))


if __name__ == "__main__":
    guarded(main)
