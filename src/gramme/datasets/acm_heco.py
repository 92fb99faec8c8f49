"""ACM: papers joined by common authors and subjects, with features and a published protocol."""

from __future__ import annotations

from gramme.datasets.heco import VIEW_OPTION, read_split, read_view
from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths, Split
from gramme.graph import MultilayerGraph

ARCHIVE = DataFile(
    folder="acm_heco",
    name="graph.npz",
    size=661985,
    sha256="aaa3d3481e101fb872e554df229ad709e4113b37a7b5fe950d84bc45e87f656b",
)
RELATIONS = DataFile(
    folder="acm_heco",
    name="relations.npz",
    size=52418,
    sha256="0eaa0625b1dd8bdc304cb6a45da7bf4f62bdba97c8043156d311c68ed5bda260",
)


def build(paths: Paths, *, view: str = "edges") -> MultilayerGraph:
    """The graph as stored, or made of the raw relations."""
    return read_view(
        paths[ARCHIVE.name],
        paths[RELATIONS.name],
        INFO.name,
        view,
        target="paper",
        relations={"paper_author": ("paper", "author"), "paper_subject": ("paper", "subject")},
    )


def split(paths: Paths, *, per_class: int = 20) -> Split:
    """20, 40 or 60 training papers per class, 1000 for validation, 1000 for the test."""
    return read_split(paths[ARCHIVE.name], per_class)


INFO = DatasetInfo(
    name="acm_heco",
    title="ACM papers, HeCo's selection",
    description="4019 papers joined by authors (PAP) and subjects (PSP), 1902 features",
    nodes=4019,
    layers=2,
    classes=3,
    recipe="view='edges': two relations as edges, PAP 26,917 and PSP 2,167,097, self loops left "
    "out; view='relations': the layers author (13,407 memberships) and subject (4,019). Label: the "
    "field, numbered as in the source",
    citation="X. Wang et al., Self-supervised Heterogeneous Graph Neural Network with "
    "Co-contrastive Learning, KDD 2021; converted from data/acm of github.com/liun-online/HeCo",
    licence="unknown; the repository states none",
    caveat="Not in the paper. graph.npz and relations.npz are converted files that nobody serves: "
    "they must come from a data folder.",
    files=(ARCHIVE, RELATIONS),
    options={"view": VIEW_OPTION},
)
DATASET = Dataset(INFO, build, split)
