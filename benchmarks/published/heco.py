"""The protocol of Wang et al. (HeCo, KDD 2021): 20, 40 and 60 labels per class, 1000 test nodes, Macro-F1 and Micro-F1.

    python benchmarks/published/heco.py --data DIR [--data DIR ...] [--view edges|relations|both]
        [--methods gramme-auto,gramme-fusion] [--protocol train-only,published,resampled] [--per-class 20,40,60]

A folder holds `graph.npz` (edges_<k>, layer_names, labels, num_nodes, directed, train_20 ... test_60, features where
there are some) and perhaps `relations.npz` (arrays named like `paper_author`, 2 x pairs of ids). Prints CSV:

    dataset,labels_per_class,method,view,macro_f1,micro_f1,cpu_seconds,protocol

Protocols. `train-only`: a method sees the training labels and nothing else. `published`: the 1000 validation labels may
choose, as they do for published methods; gramme-auto picks the mixture or one of its ingredients by their Macro-F1,
an attention model stops by their loss, any other method has nothing to choose. `resampled`: random splits of the same
sizes, the mean over them, with 95 % intervals on stderr.

Views. `edges`: the layers of `graph.npz`. `relations`: the typed pairs of `relations.npz`, where a layer is who shares
an author, a venue, a term; its edges are never built. F1 is in percent, CPU time that of fit and prediction.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import f1_score

import gramme
from gramme.datasets.readers import read_arrays, read_graph
from gramme.errors import DataError, GrammeError
from gramme.methods import method

COLUMNS = "dataset,labels_per_class,method,view,macro_f1,micro_f1,cpu_seconds,protocol"
VIEWS = ("edges", "relations")
PROTOCOLS = ("train-only", "published", "resampled")
PUBLISHED_EPOCHS = 200
"""Epochs of an attention model that the validation labels may stop."""

PARTS = ("train", "val", "test")

Split = dict[str, NDArray[np.int64]]
Scores = tuple[float, float]


class Folder:
    """One dataset of the archive layout."""

    def __init__(self, path: Path, target: str | None) -> None:
        self.path, self.name, self.target = path, path.name, target
        self.arrays = read_arrays(path / "graph.npz")
        self._edges = read_graph(path / "graph.npz", path.name)
        self.labels: NDArray[Any] = self._edges.labels

    def views(self, wanted: str) -> Iterator[tuple[str, gramme.MultilayerGraph]]:
        """The graphs that are asked for, without labels; what cannot be made is said."""
        for view in VIEWS if wanted == "both" else (wanted,):
            if view == "edges":
                yield view, self._edges.replace(labels=None)
            elif not (self.path / "relations.npz").exists():
                print(f"{self.name}: no relations.npz, so no view of relations", file=sys.stderr)
            else:
                try:
                    graph = self._from_relations()
                except GrammeError as error:
                    print(f"{self.name}: no view of relations: {error}", file=sys.stderr)
                    continue
                yield view, graph

    def _from_relations(self) -> gramme.MultilayerGraph:
        relations = {
            tuple(name.split("_", 1)): pairs.astype(np.int64).T
            for name, pairs in read_arrays(self.path / "relations.npz").items()
        }
        graph = self._edges
        return gramme.MultilayerGraph.from_relations(
            relations,
            target=self.target or self._labelled_kind(relations),
            nodes=range(graph.num_nodes),
            features=graph.features,
        )

    def _labelled_kind(self, relations: dict[tuple[str, ...], NDArray[np.int64]]) -> str:
        """The kind of node with as many ids as there are labels; else the one that comes nearest from below."""
        ids: dict[str, int] = {}
        for kinds, pairs in relations.items():
            for kind, column in zip(kinds, pairs.T, strict=True):
                ids[kind] = max(ids.get(kind, 0), int(column.max(initial=-1)) + 1)
        # the last nodes may be in no relation
        most = max((count for count in ids.values() if count <= self._edges.num_nodes), default=-1)
        fitting = [kind for kind, count in ids.items() if count == most]
        if len(fitting) != 1:
            raise DataError(
                f"which kind of node has the {self._edges.num_nodes} labels? Say --target, one of {', '.join(ids)}"
            )
        return fitting[0]

    def official(self, per_class: int) -> Split:
        """The published split."""
        missing = [part for part in PARTS if f"{part}_{per_class}" not in self.arrays]
        if missing:
            raise DataError(f"graph.npz has no {', '.join(f'{one}_{per_class}' for one in missing)}")
        return {part: self.arrays[f"{part}_{per_class}"].astype(np.int64) for part in PARTS}

    def resampled(self, per_class: int, repeats: int) -> Iterator[Split]:
        """Random splits of the same sizes."""
        published = self.official(per_class)
        held, tested = published["val"].size, published["test"].size
        for seed in range(repeats):
            order = np.random.default_rng(seed).permutation(self.labels.size)
            train = np.concatenate([order[self.labels[order] == one][:per_class] for one in np.unique(self.labels)])
            rest = order[~np.isin(order, train)]
            yield {"train": train, "val": rest[:held], "test": rest[held : held + tested]}

    def known(self, nodes: NDArray[np.int64]) -> NDArray[np.object_]:
        """The labels of some nodes, None for all others."""
        known = np.full(self.labels.size, None, dtype=object)
        known[nodes] = self.labels[nodes]
        return known

    def scores(self, predicted: NDArray[Any], nodes: NDArray[np.int64]) -> Scores:
        """Macro-F1 and Micro-F1 in percent."""
        truth = self.labels[nodes].tolist()
        guess = np.asarray(predicted)[nodes].tolist()
        macro, micro = (100 * float(f1_score(truth, guess, average=how, zero_division=0)) for how in ("macro", "micro"))
        return macro, micro


def fitted(folder: Folder, graph: gramme.MultilayerGraph, name: str, split: Split, seed: int) -> Any:
    """A method that has seen the training labels of a split and no others."""
    model = method(name).estimator(random_state=seed)
    return model.fit(graph, folder.known(split["train"]))


def chosen_by_validation(
    folder: Folder, graph: gramme.MultilayerGraph, name: str, split: Split, seed: int
) -> NDArray[Any]:
    """Predictions where the validation labels may choose."""
    estimator = method(name).estimator
    if name in ("gramme-fusion", "gramme-sg"):
        attention: Any = estimator(random_state=seed, epochs=PUBLISHED_EPOCHS)
        known, validation = folder.known(split["train"]), folder.known(split["val"])
        stopped: NDArray[Any] = attention.fit(graph, known, validation=validation).predict()
        return stopped
    model = fitted(folder, graph, name, split, seed)
    candidates = [model.predict()]
    candidates += [one.predict() for one in getattr(model, "models_", {}).values()]
    return max(candidates, key=lambda guess: folder.scores(guess, split["val"])[0])


def measured(run: Callable[[], NDArray[Any]]) -> tuple[NDArray[Any], float]:
    """What a run returns, and its CPU seconds."""
    started = time.process_time()
    return run(), time.process_time() - started


def rows(
    folder: Folder, graph: gramme.MultilayerGraph, name: str, per_class: int, chosen: argparse.Namespace
) -> Iterator[tuple[str, float, float, float]]:
    """Protocol, Macro-F1, Micro-F1 and CPU seconds of one method."""
    for protocol in chosen.protocol:
        found = []
        if protocol == "resampled":
            runs = list(enumerate(folder.resampled(per_class, chosen.repeats)))
        else:
            runs = [(seed, folder.official(per_class)) for seed in range(chosen.seeds)]
        for seed, split in runs:
            if protocol == "published":
                work = lambda: chosen_by_validation(folder, graph, name, split, seed)  # noqa: E731, B023
            else:
                work = lambda: fitted(folder, graph, name, split, seed).predict()  # noqa: E731, B023
            predicted, seconds = measured(work)
            found.append((*folder.scores(predicted, split["test"]), seconds))
        macro, micro, seconds = np.mean(found, axis=0).tolist()
        if protocol == "resampled" and len(found) > 1:
            width = stats.t.ppf(0.975, len(found) - 1) * stats.sem(np.array(found)[:, :2])
            print(
                f"{folder.name} {per_class} {name}: {len(found)} splits, 95 % interval of the mean "
                f"macro ± {width[0]:.2f}, micro ± {width[1]:.2f}",
                file=sys.stderr,
            )
        yield protocol, macro, micro, seconds


def listed(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def protocols(text: str) -> list[str]:
    names = list(PROTOCOLS) if text == "all" else listed(text)
    for name in names:
        if name not in PROTOCOLS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(PROTOCOLS)}")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", required=True, help="a folder")
    parser.add_argument("--view", choices=(*VIEWS, "both"), default="both")
    parser.add_argument("--methods", type=listed, default="gramme-auto,gramme-fusion")
    parser.add_argument("--protocol", type=protocols, default="train-only", help="or all")
    parser.add_argument("--per-class", type=listed, default="20,40,60")
    parser.add_argument("--seeds", type=int, default=1, help="runs on the published splits")
    parser.add_argument("--repeats", type=int, default=20, help="random splits")
    parser.add_argument("--target", help="the kind of node with labels, if it cannot be told")
    chosen = parser.parse_args()
    print(COLUMNS, flush=True)
    failed = 0
    for path in chosen.data:
        try:
            folder = Folder(path, chosen.target)
        except (GrammeError, OSError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed += 1
            continue
        for view, graph in folder.views(chosen.view):
            for per_class in map(int, chosen.per_class):
                for name in chosen.methods:
                    failed += not printed(folder, view, graph, name, per_class, chosen)
    if failed:
        raise SystemExit(f"{failed} of the runs failed, see above")


def printed(
    folder: Folder, view: str, graph: gramme.MultilayerGraph, name: str, per_class: int, chosen: argparse.Namespace
) -> bool:
    """Print the rows of one method; a run that fails is said and does not end the others."""
    try:
        for protocol, macro, micro, seconds in rows(folder, graph, name, per_class, chosen):
            print(
                f"{folder.name},{per_class},{name},{view},{macro:.2f},{micro:.2f},{seconds:.1f},{protocol}", flush=True
            )
    except GrammeError as error:
        print(f"{folder.name} {per_class} {name} {view}: {error}", file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    main()
