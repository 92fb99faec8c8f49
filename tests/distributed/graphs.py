"""Small random graphs of every kind for the tests of this room."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gramme.distributed import assign, write_parts
from gramme.graph import Coupling, EdgeLayer, MembershipLayer, MultilayerGraph

NODES = 23


def edges(seed: int, *, directed: bool = False, weighted: bool = False, absent: bool = False) -> EdgeLayer:
    random = np.random.default_rng(seed)
    count = 3 * NODES
    source, target = random.integers(0, NODES, (2, count))
    present = None
    if absent:
        present = random.random(NODES) < 0.7
        kept = present[source] & present[target]
        source, target = source[kept], target[kept]
    weight = random.uniform(0.5, 3, source.size) if weighted else None
    return EdgeLayer(NODES, source, target, weight, directed=directed, nodes=present)


def groups(seed: int, *, single: bool = True, weighted: bool = False) -> MembershipLayer:
    random = np.random.default_rng(seed)
    if single:
        codes = random.integers(-1, 6, NODES)
        return MembershipLayer.from_codes(codes)
    node, group = random.integers(0, NODES, 40), random.integers(0, 9, 40)
    weight = random.uniform(0.2, 30, 40) if weighted else None
    return MembershipLayer(NODES, node, group, weight=weight)


def related() -> MultilayerGraph:
    """Papers with authors, venues and citations, and what is known of the authors."""
    random = np.random.default_rng(12)
    papers = np.arange(NODES)
    relations = {
        ("paper", "author"): list(zip(*random.integers(0, (NODES, 9), (40, 2)).T, strict=True)),
        ("author", "city"): [(author, author % 4) for author in range(9)],
        ("paper", "venue"): list(zip(papers, random.integers(0, 4, NODES), strict=True)),
        ("paper", "cites", "paper"): list(zip(*random.integers(0, NODES, (2, 30)), strict=True)),
    }
    return MultilayerGraph.from_relations(
        relations,
        target="paper",
        directed=True,
        nodes={"paper": papers, "author": range(9)},
        features={"author": random.normal(size=(9, 2))},
    )


def graph(kind: str) -> MultilayerGraph:
    """A graph by the name of its kind."""
    couplings = features = layer_features = None
    if kind in ("edges", "features"):
        layers = {"a": edges(0), "b": edges(1, weighted=True, absent=True)}
    elif kind == "directed":
        layers = {"a": edges(2, directed=True), "b": edges(3, directed=True, weighted=True)}
    elif kind == "table":
        layers = {name: groups(seed) for seed, name in enumerate("abc")}
    elif kind == "memberships":
        layers = {"a": groups(0, single=False), "b": groups(1, single=False, weighted=True)}
    elif kind == "mixed":
        layers = {"a": edges(4, directed=True), "b": groups(5), "c": edges(6, absent=True)}
    elif kind == "kinds":
        layers = dict(sorted(related().layers.items()))  # a part has its layers in this order
        layer_features = related().layer_features
    else:
        layers = {"a": edges(7), "b": edges(8), "c": groups(9)}
        random = np.random.default_rng(10)
        ends = random.integers(0, NODES, (2, 15))
        ok = layers["c"].present[ends[1]]
        couplings = {
            ("a", "b"): Coupling(NODES, *random.integers(0, NODES, (2, 20)), random.uniform(1, 2, 20)),
            ("a", "c"): Coupling(NODES, ends[0][ok], ends[1][ok], directed=kind == "directed couplings"),
        }
    random = np.random.default_rng(11)
    if kind == "features":
        features = random.normal(size=(NODES, 5)) * [1, 10, 0.01, 3, 1] + 2
        layer_features = {"b": random.normal(size=(NODES, 3))}
    labels = np.array([None, "x", "y", "z"], dtype=object)[random.integers(0, 4, NODES)]
    names = [f"node {number}" for number in range(NODES)]
    return MultilayerGraph(
        layers, nodes=names, labels=labels, couplings=couplings, features=features, layer_features=layer_features
    )


KINDS = ("edges", "directed", "table", "memberships", "mixed", "kinds", "couplings", "directed couplings")


def parts_of(whole: MultilayerGraph, folder: Path, parts: int, how: str = "random") -> Path:
    """A folder of parts of a graph."""
    folder = folder / f"{parts} {how}"
    folder.mkdir(parents=True)
    write_parts(whole, folder, assign(whole, parts, how), parts)
    return folder
