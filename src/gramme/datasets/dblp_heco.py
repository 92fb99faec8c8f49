"""DBLP: authors joined by common papers, venues and terms; a benchmark of scale with 6 million edges."""

from __future__ import annotations

from gramme.datasets.npz_graph import read_graph, read_positions
from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths, Split
from gramme.errors import DataError
from gramme.graph import MultilayerGraph

SPLITS = (20, 40, 60)
ARCHIVE = DataFile(
    folder="dblp_heco",
    name="graph.npz",
    size=2827976,
    sha256="55dc5adae168fd11124dcd88981507ff68eb4cb2817b4cb8585dd40e4a03d79b",
)


def build(paths: Paths) -> MultilayerGraph:
    """The graph as stored."""
    return read_graph(paths[ARCHIVE.name], INFO.name)


def split(paths: Paths, *, per_class: int = 20) -> Split:
    """20, 40 or 60 training authors per class, 1000 for validation, 1000 for the test."""
    if per_class not in SPLITS:
        raise DataError(f"per_class must be 20, 40 or 60, not {per_class!r}")
    return read_positions(
        paths[ARCHIVE.name],
        train=f"train_{per_class}",
        validation=f"val_{per_class}",
        test=f"test_{per_class}",
    )


INFO = DatasetInfo(
    name="dblp_heco",
    title="DBLP authors",
    description="4057 authors joined by papers (APA), venues (APCPA), terms (APTPA), 334 features",
    nodes=4057,
    layers=3,
    classes=4,
    recipe="three relations as edges: APA 3,528, APCPA 2,498,219 and APTPA 3,519,757, self loops "
    "left out. Label: the research area, numbered as in the source",
    citation="X. Wang et al., Self-supervised Heterogeneous Graph Neural Network with "
    "Co-contrastive Learning, KDD 2021; converted from data/dblp of github.com/liun-online/HeCo",
    licence="unknown; the repository states none",
    caveat="Not in the paper; a benchmark of scale. graph.npz is a converted file that nobody "
    "serves: it must come from a data folder. APTPA was computed anew from the papers' terms; at "
    "0.32 of its edges inside a class it is close to noise.",
    files=(ARCHIVE,),
)
DATASET = Dataset(INFO, build, split)
