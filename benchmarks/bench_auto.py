"""What GrammeAuto costs: CPU time of a fit relative to GrammeFusion's, and where it goes; one thread, same process.

python benchmarks/bench_auto.py [--datasets a,b]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import gramme
from gramme.methods.auto.gramme_auto import COPIES_PER_FOLD
from gramme.methods.auto.ingredients import INGREDIENTS, Recipe
from gramme.methods.labels import known_labels, stratified_folds

NAMES = ("label-propagation", "one-hot-logistic", "spectral-logistic", "gramme-fusion")
DATASETS = "vickers_chan,ckm_social,leskovec_ng,balance_scale,mammography,congress_votes"


def seconds(call: Callable[..., Any], *arguments: Any) -> float:
    started = time.process_time()
    call(*arguments)
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=DATASETS)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    print(f"| dataset | fusion, s | auto, times | of which {' | '.join(NAMES)} |")
    print("|---" * (3 + len(NAMES)) + "|")
    for name in chosen.datasets.split(","):
        graph = gramme.datasets.load(name)
        assert graph.labels is not None
        y = graph.labels.copy()
        y[np.random.default_rng(0).permutation(graph.num_nodes)[graph.num_nodes // 10 :]] = None
        bare = graph.replace(labels=None)
        gramme.GrammeFusion(epochs=2, progress=False).fit(bare, y)  # compiles and warms up
        gramme.GrammeAuto(epochs=2, progress=False).fit(bare, y)
        fusion = seconds(gramme.GrammeFusion(progress=False).fit, bare, y)
        auto = gramme.GrammeAuto(random_state=0, progress=False)
        known = known_labels(bare, y)
        fold = stratified_folds(known.codes, auto.folds, 0)
        recipe = Recipe(auto.get_params(), tuple(NAMES), known.nodes.size, 0)
        parts = [
            seconds(
                INGREDIENTS[part].made(recipe).fit_with_folds, bare, known, fold, COPIES_PER_FOLD
            )
            for part in NAMES
        ]
        total = seconds(auto.fit, bare, y)
        cells = " | ".join(f"{part / fusion:.2f}" for part in parts)
        print(f"| {name} | {fusion:.2f} | {total / fusion:.2f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
