"""Synthetic heterogeneous graph: papers with authors and venues, of any size up to ten million nodes and more."""

from __future__ import annotations

import numpy as np
import pandas as pd

from gramme.datasets.options import layer_signals, positive_int, shuffled_classes, streams
from gramme.datasets.record import Dataset, DatasetInfo, Paths
from gramme.datasets.synthetic_table import tied_groups
from gramme.errors import DataError
from gramme.graph import MultilayerGraph


def build(
    paths: Paths,
    *,
    nodes: int = 1000,
    classes: int = 3,
    authors: int | None = None,
    venues: int = 30,
    authorships: int | None = None,
    signal: float = 0.8,
    random_state: int | None = 0,
) -> MultilayerGraph:
    """The papers are the nodes; time and memory grow with the authorships."""
    nodes = positive_int(nodes, "nodes")
    classes = positive_int(classes, "classes")
    authors = 3 * nodes if authors is None else positive_int(authors, "authors")
    venues = positive_int(venues, "venues")
    authorships = 10 * nodes if authorships is None else positive_int(authorships, "authorships")
    layer_signals([signal], 1)
    for count, what in ((nodes, "nodes"), (authors, "authors"), (venues, "venues")):
        if classes > count:
            raise DataError(f"{count} {what} cannot hold {classes} classes")
    first, second, third = streams(random_state, 3)
    labels = shuffled_classes(nodes, classes, first)
    paper = second.integers(nodes, size=authorships)
    author = tied_groups(labels[paper], classes, authors, signal, second)
    venue = tied_groups(labels, classes, venues, signal, third)
    return MultilayerGraph.from_relations(
        {
            ("paper", "author"): pd.DataFrame({"source": paper, "target": author}),
            ("paper", "venue"): pd.DataFrame({"source": np.arange(nodes), "target": venue}),
        },
        target="paper",
        nodes={
            "paper": pd.RangeIndex(nodes),
            "author": pd.RangeIndex(authors),
            "venue": pd.RangeIndex(venues),
        },
        labels=labels,
        name=INFO.name,
    )


INFO = DatasetInfo(
    name="synthetic_kinds",
    title="Synthetic papers, authors and venues",
    description="random papers with authors and venues, as relations between three kinds of node",
    nodes=1000,
    layers=2,
    classes=3,
    recipe="authors and venues have a class each; a paper's author and venue is of its own class "
    "with probability signal, else any. The papers are the nodes. Label: the class",
    citation="none: defined here",
    licence="none needed: generated",
    caveat="A made-up graph: good for tests of speed, no evidence of how a method does on real "
    "data.",
    embedded=True,
    options={
        "nodes": "number of papers (default: 1000)",
        "classes": "number of classes, equally large (default: 3)",
        "authors": "number of authors (default: three per paper)",
        "venues": "number of venues (default: 30)",
        "authorships": "pairs of a paper and an author (default: ten per paper)",
        "signal": "from 0 to 1, how far authors and venues follow the classes (default: 0.8)",
        "random_state": "seed (default: 0)",
    },
)
DATASET = Dataset(INFO, build)
