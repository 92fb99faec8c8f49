"""Do the counts that ``gramme links`` states hold? Edges are hidden, candidates listed, and hidden ones counted.

    python benchmarks/accuracy/links.py --data DIR [--networks a,b] [--repeats 3] --out docs/results/links.csv

A fifth of the edges of every layer is hidden, as ``missing_share`` has it; the model sees the rest. Each row of the
CSV is a list: ``network, layer, edges, seed, top, shown, expected, low, high, found, inside``. Prints how many lists
have the count found in the stated interval. Networks and seeds that the file already has are not run again.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from networks import networks

import gramme
from gramme import MultilayerGraph
from gramme.errors import DataError
from gramme.links import GrammeLinks

TOPS = (20, 100, 500)
MIN_HIDDEN = 4


def hide(graph: MultilayerGraph, share: float, seed: int) -> tuple[MultilayerGraph, dict[str, set[tuple[int, int]]]]:
    """The graph without a share of each layer's edges, and those edges by layer."""
    random = np.random.default_rng([seed, 1])
    layers, hidden = dict(graph.layers), {}
    for name, layer in graph.layers.items():
        if layer.made_of != "edges":
            continue
        edges = layer.to_edges()
        count = round(share * edges.num_edges)
        kept = np.ones(edges.num_edges, dtype=bool)
        kept[random.permutation(edges.num_edges)[:count]] = False
        layers[name] = edges.with_entries(kept)
        gone = zip(edges.source[~kept].tolist(), edges.target[~kept].tolist(), strict=True)
        hidden[name] = set(gone)
    return graph.replace(layers=layers), hidden


def lists_of(graph: MultilayerGraph, share: float, seed: int) -> list[dict[str, object]]:
    """What is stated and found for each layer and depth."""
    seen, hidden = hide(graph, share, seed)
    layers = [name for name, gone in hidden.items() if len(gone) >= MIN_HIDDEN]
    model = GrammeLinks(random_state=seed, missing_share=share).fit(seen, layers=layers)
    position = {name: place for place, name in enumerate(graph.nodes)}
    rows = []
    for layer in layers:
        listed = model.candidates(layer, max(TOPS))
        directed = graph.layers[layer].directed
        found = np.array(
            [
                (a, b) in hidden[layer] or (not directed and (b, a) in hidden[layer])
                for a, b in zip(listed["source"].map(position), listed["target"].map(position), strict=True)
            ],
            dtype=bool,
        )
        for top in TOPS:
            stated = model.expected(layer, top)
            count = int(found[:top].sum())
            rows.append(
                {
                    "layer": layer,
                    "edges": seen.layers[layer].num_edges,
                    "seed": seed,
                    "top": top,
                    "shown": stated.shown,
                    "expected": round(stated.count, 2),
                    "low": stated.low,
                    "high": stated.high,
                    "found": count,
                    "inside": stated.low <= count <= stated.high,
                }
            )
            if stated.shown < top:
                break
    return rows


def main() -> None:
    """Run over the networks and print the share of lists whose count is as stated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--networks", default="")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=100, help="the constants were chosen on seeds 0 and 1")
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    known = networks(given.data)
    chosen = given.networks.split(",") if given.networks else list(known)
    rows: list[Any] = []
    if given.out is not None and given.out.exists():
        rows = pd.read_csv(given.out).to_dict(orient="records")
    for name in chosen:
        seeds = set(range(given.first_seed, given.first_seed + given.repeats))
        seeds -= {int(row["seed"]) for row in rows if row["network"] == name}
        if not seeds:
            continue
        graph = known[name]()
        began = time.process_time()
        mine = []
        for seed in sorted(seeds):
            try:
                mine += lists_of(graph, given.share, seed)
            except DataError as error:
                print(f"{name}: {error}")
        rows += [{"network": name} | row for row in mine]
        inside = np.mean([bool(row["inside"]) for row in mine]) if mine else np.nan
        table = pd.DataFrame(mine)
        if len(table):
            shown = table.groupby("top")[["expected", "low", "high", "found"]].mean().round(1)
            print(
                f"{name}: {inside:.0%} of {len(mine)} lists, {time.process_time() - began:.0f} s;",
                "; ".join(f"{t}: {r.expected} ({r.low}-{r.high}) {r.found}" for t, r in shown.iterrows()),
                flush=True,
            )
        if given.out is not None:
            pd.DataFrame(rows).to_csv(given.out, index=False)
    table = pd.DataFrame(rows)
    by_network = table.groupby("network", sort=False)["inside"].mean()
    print(f"all: {table['inside'].mean():.1%} of {len(table)} lists; mean over networks {by_network.mean():.1%}")
    for top, group in table.groupby("top"):
        print(f"  top {top}: {group['inside'].mean():.1%} of {len(group)}, version {gramme.__version__}")


if __name__ == "__main__":
    main()
