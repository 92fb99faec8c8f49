"""Leskovec-Ng: who wrote papers with whom around two researchers, in four spans of five years."""

from __future__ import annotations

from gramme.datasets.authors_edges import REPOSITORY, read_edge_layers
from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths
from gramme.datasets.text_files import read_integers, read_lines
from gramme.graph import MultilayerGraph

RESEARCHERS = 191
LAYERS = ("1995-1999", "2000-2004", "2005-2009", "2010-2014")
# The author index settles the codes: Andrew Ng himself has 0, Jure Leskovec 1.
LABELS = ("Ng", "Leskovec")
EDGES = DataFile(
    folder="leskovec_ng",
    name="Leskovec-Ng.multilayer.edges",
    size=15800,
    sha256="3d3cf03bb4bb5f21ea18e2581e03ab2da159b7343c861d4c2bf18c257e90a305",
    address=f"{REPOSITORY}/leskovec_ng/Leskovec-Ng.multilayer.edges",
)
CODES = DataFile(
    folder="leskovec_ng",
    name="Leskovec-Ng.multilayer.labels",
    size=382,
    sha256="a4b7289cd656921148d2197521d538b10d8df01ce917a8098bdc050f890bcd14",
    address=f"{REPOSITORY}/leskovec_ng/Leskovec-Ng.multilayer.labels",
)
AUTHORS = DataFile(
    folder="leskovec_ng",
    name="authorindex.txt",
    size=2883,
    sha256="c35b6b85e731f8c7d08d5e19cdb0154e4b5c11a09b6f3d7c7257a0180738b1b3",
    address=f"{REPOSITORY}/leskovec_ng/authorindex.txt",
)


def build(paths: Paths) -> MultilayerGraph:
    """Co-authorships as edges; a node is named by the researcher."""
    codes = read_integers(paths[CODES.name], range(len(LABELS)), expected=RESEARCHERS)[:, 0]
    return MultilayerGraph(
        read_edge_layers(paths[EDGES.name], LAYERS, RESEARCHERS),
        nodes=read_lines(paths[AUTHORS.name], expected=RESEARCHERS),
        labels=[LABELS[code] for code in codes],
        name=INFO.name,
    )


INFO = DatasetInfo(
    name="leskovec_ng",
    title="Leskovec-Ng collaboration network",
    description="co-authors of Jure Leskovec or Andrew Ng, one layer per five years, 1995 to 2014",
    nodes=RESEARCHERS,
    layers=4,
    classes=2,
    recipe="edges as published, symmetric (17 + 18 + 285 + 216); the original's weights are not "
    "part of the files. Label: the circle a researcher belongs to, Leskovec or Ng",
    citation="P.-Y. Chen and A. O. Hero, Multilayer Spectral Graph Clustering via Convex Layer "
    "Aggregation: Theory and Algorithms, IEEE TSIPN 3 (2017)",
    licence="all rights reserved by the authors, who ask to be cited; not for redistribution",
    caveat="The paper's 1,836 edges count both directions and one self loop per node and layer. "
    "Leskovec and Ng are nodes themselves: over all layers each is joined to all members of his own "
    "circle, and Ng to one of the other, so knowing these two labels nearly settles the rest. Run "
    "as shipped with 10 % labels, the authors' code had its best test epoch at 88.4, 82.6 and "
    "95.3 % for Fusion (seeds 1 to 3); the paper reports 93.32.",
    files=(EDGES, CODES, AUTHORS),
)
DATASET = Dataset(INFO, build)
