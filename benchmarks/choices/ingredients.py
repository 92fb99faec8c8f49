"""What each ingredient of GrammeAuto is worth: the mixture without it, over datasets, percentages and realisations.

Every ingredient is fitted once per realisation, with its out-of-fold predictions, just as GrammeAuto does; the mixtures
of all subsets follow from those. What was fitted is kept below --work, so that a second call goes on from there.

    ingredients.py                       18 cells, 5 realisations
    ingredients.py --repeats 20          as many as in the results table
    ingredients.py --inner               on training labels alone: of a realisation's 30 % training
                                                             nodes some are learned from and the rest predicted
    ingredients.py --inner --plain       besides, the regression with one penalty for all layers and
                                                             the attention model without weight decay
    ingredients.py --errors              also where the ingredients err: in how many training labels
                                                             that they did not see, and in which other nodes
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

import gramme
from gramme.evaluation.metrics import score
from gramme.methods import GrammeFusion, NodeClassifier, OneHotLogistic
from gramme.methods.auto.estimator import COPIES_PER_FOLD
from gramme.methods.auto.ingredients import INGREDIENTS, Recipe
from gramme.methods.auto.mixture import calibrating_exponent, mixed_with_prior, mixture_weights, pooled, sharpened
from gramme.methods.labels import KnownLabels, class_prior, known_labels, stratified_folds

DATASETS = ("vickers_chan", "leskovec_ng", "ckm_social", "balance_scale", "mammography", "congress_votes")
PERCENTS = (10, 20, 30)
NAMES = [name for name in INGREDIENTS if name != "neighbourhood-logistic"]  # none has features
SHORT = {
    "label-propagation": "LP",
    "label-shares": "LS",
    "one-hot-logistic": "LR",
    "gramme-fusion": "F",
    "spectral-logistic": "SP",
    "boosting": "B",
}
PLAIN = {"one-hot-logistic": OneHotLogistic, "gramme-fusion": GrammeFusion}
"""What two ingredients are by themselves."""


def split(nodes: int, percent: int, realisation: int, inner: bool) -> tuple[np.ndarray, np.ndarray]:
    """Nodes to learn from and nodes to predict."""
    order = np.random.default_rng(realisation).permutation(nodes)
    count = max(2, round(percent / 100 * nodes))
    return order[:count], order[count : round(0.3 * nodes)] if inner else order[count:]


def fitted(
    graph: gramme.MultilayerGraph, known: KnownLabels, realisation: int, path: Path, plain: bool
) -> dict[str, np.ndarray]:
    """Out-of-fold and final probabilities of every ingredient, from a file if they are there."""
    found: dict[str, np.ndarray] = dict(np.load(path)) if path.is_file() else {}
    auto = gramme.GrammeAuto(random_state=realisation, progress=False)
    recipe = Recipe(auto.get_params(), tuple(NAMES), known.nodes.size, realisation)
    models: dict[str, NodeClassifier] = {name: INGREDIENTS[name].made(recipe) for name in NAMES}
    if plain:
        models |= {f"plain {name}": kind(random_state=realisation) for name, kind in PLAIN.items()}
    fold = stratified_folds(known.codes, auto.folds, realisation)
    missing = {name: model for name, model in models.items() if f"{name}/final" not in found}
    for name, model in missing.items():
        started = time.process_time()
        found[f"{name}/unseen"] = model.fit_with_folds(graph, known, fold, COPIES_PER_FOLD)
        found[f"{name}/final"] = model.predict_proba()
        found[f"{name}/seconds"] = np.array(time.process_time() - started)
    if missing:
        np.savez(path, allow_pickle=False, **found)
    return found


def mixed(found: dict[str, np.ndarray], known: KnownLabels, names: list[str]) -> np.ndarray:
    """The mixture of some ingredients."""
    counts = np.bincount(known.codes, minlength=len(known.classes))
    prior = class_prior(counts)
    tested = counts[known.codes] > 1
    codes = known.codes[tested]
    unseen = [mixed_with_prior(found[f"{name}/unseen"][tested], prior) for name in names]
    own = np.stack([part[np.arange(codes.size), codes] for part in unseen], axis=1)
    kinds = [name.removeprefix("plain ") for name in names]
    weights = mixture_weights(own, [INGREDIENTS[kind].credit(known.nodes.size) for kind in kinds])
    exponent = calibrating_exponent(pooled(unseen, weights), codes)
    final = [mixed_with_prior(found[f"{name}/final"], prior) for name in names]
    return sharpened(pooled(final, weights), exponent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--inner", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--work", type=Path, default=Path("build/auto"))
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    names = NAMES
    subsets = {"all": names}
    subsets |= {f"without {SHORT[name]}": [n for n in names if n != name] for name in names}
    subsets |= {f"{SHORT[name]} alone": [name] for name in names}
    for name in PLAIN if chosen.plain else ():
        replaced = [f"plain {n}" if n == name else n for n in names]
        subsets |= {f"plain {SHORT[name]}": replaced, f"plain {SHORT[name]} alone": [f"plain {name}"]}
    rows = []
    wrong: list[tuple[str, int, str, int, list[str]]] = []
    for dataset in chosen.datasets.split(","):
        graph = gramme.datasets.load(dataset)
        assert graph.labels is not None
        for realisation in range(chosen.repeats):
            for percent in PERCENTS[:2] if chosen.inner else PERCENTS:
                learn, predict = split(graph.num_nodes, percent, realisation, chosen.inner)
                y = np.full(graph.num_nodes, None, dtype=object)
                y[learn] = graph.labels[learn]
                if len(set(graph.labels[learn])) == 1:  # every method predicts the one class
                    right = float((graph.labels[predict] == graph.labels[learn[0]]).mean())
                    rows += [(dataset, percent, name, right, np.nan) for name in subsets]
                    continue
                kind = "inner" if chosen.inner else "outer"
                path = chosen.work / f"{dataset}_{percent}_{realisation}_{kind}.npz"
                bare = graph.replace(labels=None)
                known = known_labels(bare, y)
                found = fitted(bare, known, realisation, path, chosen.plain)
                truth = pd.Index(known.classes).get_indexer(pd.Index(graph.labels))
                for name in names:
                    unseen = int((found[f"{name}/unseen"].argmax(1) != known.codes).sum())
                    missed = predict[found[f"{name}/final"].argmax(1)[predict] != truth[predict]]
                    nodes = [str(node) for node in graph.nodes[missed]]
                    wrong.append((dataset, percent, SHORT[name], unseen, nodes))
                for name, parts in subsets.items():
                    scores = score(graph.labels[predict], mixed(found, known, parts)[predict], known.classes.tolist())
                    rows.append((dataset, percent, name, scores.accuracy, scores.calibration_error))
        table(rows)
    if chosen.errors:
        errors(wrong)


def errors(wrong: list[tuple[str, int, str, int, list[str]]]) -> None:
    """Print for every cell and ingredient how many labels it gets wrong, and the nodes it gets wrong most often."""
    cells: dict[tuple[str, int, str], list[tuple[int, list[str]]]] = {}
    for dataset, percent, name, unseen, nodes in wrong:
        cells.setdefault((dataset, percent, name), []).append((unseen, nodes))
    for (dataset, percent, name), runs in cells.items():
        labels = " ".join(str(unseen) for unseen, _ in runs)
        times = Counter(node for _, nodes in runs for node in nodes)
        often = ", ".join(f"{node} ({count} of {len(runs)})" for node, count in times.most_common(3))
        print(f"{dataset} {percent} %, {name}: unseen labels wrong {labels}; nodes {often or 'none'}")


def table(rows: list[tuple[str, int, str, float, float]]) -> None:
    """Print accuracy in percent for every subset and cell, and the mean calibration error."""
    columns = ["dataset", "percent", "mixture", "accuracy", "calibration"]
    frame = pd.DataFrame(rows, columns=columns)
    means = frame.groupby(["mixture", "dataset", "percent"], sort=False)[["accuracy"]].mean()
    wide = 100 * means["accuracy"].unstack([1, 2])
    wide.columns = wide.columns.map("{0[0]} {0[1]}".format)
    wide["mean"] = wide.mean(axis=1)
    wide["calibration error"] = 100 * frame.groupby("mixture", sort=False)["calibration"].mean()
    print(wide.round(2).to_string(), flush=True)


if __name__ == "__main__":
    main()
