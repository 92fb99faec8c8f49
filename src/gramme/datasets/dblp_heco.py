"""DBLP: authors joined by common papers, venues and terms; a benchmark of scale with 6 million edges."""

from __future__ import annotations

from gramme.datasets.heco import VIEW_OPTION, read_split, read_view
from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths, Split
from gramme.graph import MultilayerGraph

ARCHIVE = DataFile(
    folder="dblp_heco",
    name="graph.npz",
    size=2827976,
    sha256="55dc5adae168fd11124dcd88981507ff68eb4cb2817b4cb8585dd40e4a03d79b",
)
RELATIONS = DataFile(
    folder="dblp_heco",
    name="relations.npz",
    size=331282,
    sha256="e0fbbaf26643fd9cda856273791a9b163c1b48eeaa29fc3c1af5e040a28c72b4",
)


def build(paths: Paths, *, view: str = "edges") -> MultilayerGraph:
    """The graph as stored, or made of the raw relations."""
    return read_view(
        paths[ARCHIVE.name],
        paths[RELATIONS.name],
        INFO.name,
        view,
        target="author",
        relations={
            "paper_author": ("paper", "author"),
            "paper_venue": ("paper", "venue"),
            "paper_term": ("paper", "term"),
        },
    )


def split(paths: Paths, *, per_class: int = 20) -> Split:
    """20, 40 or 60 training authors per class, 1000 for validation, 1000 for the test."""
    return read_split(paths[ARCHIVE.name], per_class)


INFO = DatasetInfo(
    name="dblp_heco",
    title="DBLP authors",
    description="4057 authors joined by papers (APA), venues (APCPA), terms (APTPA), 334 features",
    nodes=4057,
    layers=3,
    classes=4,
    recipe="view='edges': three relations as edges, APA 3,528, APCPA 2,498,219 and APTPA "
    "3,519,757, self loops left out; view='relations': the authors' papers, and the venues and "
    "terms of these, weighted by how often. Label: the research area, numbered as in the source",
    citation="X. Wang et al., Self-supervised Heterogeneous Graph Neural Network with "
    "Co-contrastive Learning, KDD 2021; converted from data/dblp of github.com/liun-online/HeCo",
    licence="unknown; the repository states none",
    caveat="Not in the paper; a benchmark of scale. graph.npz and relations.npz are converted "
    "files that nobody serves: they must come from a data folder. APTPA was computed anew from the papers' terms; at "
    "0.32 of its edges inside a class it is close to noise.",
    files=(ARCHIVE, RELATIONS),
    options={"view": VIEW_OPTION},
)
DATASET = Dataset(INFO, build, split)
