"""ACM 3025: papers joined by a common author and by a common subject; a benchmark of scale."""

from __future__ import annotations

from gramme.datasets.npz_graph import read_graph, read_positions
from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths, Split
from gramme.graph import MultilayerGraph

ARCHIVE = DataFile(
    folder="acm3025",
    name="graph.npz",
    size=421357,
    sha256="88f900a2e023574c42bb14df86001b8b333a3736087dc337b7f46ef4c066c69e",
)


def build(paths: Paths) -> MultilayerGraph:
    """The graph as stored."""
    return read_graph(paths[ARCHIVE.name], INFO.name)


def split(paths: Paths) -> Split:
    """600 training, 300 validation and 2125 test papers."""
    path = paths[ARCHIVE.name]
    return read_positions(path, train="train_idx", validation="val_idx", test="test_idx")


INFO = DatasetInfo(
    name="acm3025",
    title="ACM papers",
    description="3025 papers joined by a common author (PAP) or subject (PLP), 1870 word features",
    nodes=3025,
    layers=2,
    classes=3,
    recipe="the two relations that papers on this graph use, as edges: PAP 13,128 and PLP "
    "1,103,868, self loops left out. Label: the field, numbered as in the source",
    citation="X. Wang et al., Heterogeneous Graph Attention Network, WWW 2019; converted from "
    "ACM3025.mat of github.com/googlebaba/WWW2020-O2MAC",
    licence="unknown; the repository states none",
    caveat="Not in the paper; a benchmark of scale. graph.npz is a converted file that nobody "
    "serves: it must come from a data folder. Two further relations of the source (PMP, PTP) are "
    "left out, as is usual.",
    files=(ARCHIVE,),
)
DATASET = Dataset(INFO, build, split)
