"""Multiple Features: 2,000 handwritten digits, each seen in six ways; a graph of modalities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gramme.datasets.readers import positive_int, read_arrays, read_graph, read_positions
from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths, Split
from gramme.errors import DataError, FileFormatError
from gramme.graph import MultilayerGraph

# The two graphs of HeCo's repository, as explicit meta-path edges or as the relations they come from.
SPLITS = (20, 40, 60)
ACM3025_VIEWS = ("edges", "relations")
VIEW_OPTION = (
    "'edges' for the meta-paths as edges, 'relations' for the papers, authors and others "
    "themselves, as membership layers that build no edges (default: edges)"
)


def read_view(
    graph_file: Path, relations_file: Path, name: str, view: str, *, target: str, relations: Mapping[str, Sequence[str]]
) -> MultilayerGraph:
    """The stored graph, or one made of the raw relations with the same labels and features.

    ``relations`` has the two kinds that each array of pairs joins.
    """
    if view not in ACM3025_VIEWS:
        raise DataError(f"view must be 'edges' or 'relations', not {view!r}")
    stored = read_graph(graph_file, name)
    if view == "edges":
        return stored
    arrays = read_arrays(relations_file)
    try:
        pairs = {tuple(kinds): arrays[array].T for array, kinds in relations.items()}
        return MultilayerGraph.from_relations(
            pairs, target=target, nodes=stored.nodes, labels=stored.labels, features=stored.features, name=name
        )
    except KeyError as error:
        raise FileFormatError(f"the array {error} is missing", file=relations_file) from error
    except DataError as error:
        raise FileFormatError(str(error), file=relations_file) from error


def read_split(path: Path, per_class: int) -> Split:
    """20, 40 or 60 training nodes per class, 1000 for validation, 1000 for the test."""
    if per_class not in SPLITS:
        raise DataError(f"per_class must be 20, 40 or 60, not {per_class!r}")
    return read_positions(path, train=f"train_{per_class}", validation=f"val_{per_class}", test=f"test_{per_class}")


def _heco(info: DatasetInfo, target: str, *kinds: str) -> Dataset:
    """A dataset of HeCo's, whose papers are related to these kinds of node."""
    archive, relations = info.files

    def build(paths: Paths, *, view: str = "edges") -> MultilayerGraph:
        """The graph as stored, or made of the raw relations."""
        pairs = {f"paper_{kind}": ("paper", kind) for kind in kinds}
        return read_view(paths[archive.name], paths[relations.name], info.name, view, target=target, relations=pairs)

    def split(paths: Paths, *, per_class: int = 20) -> Split:
        """20, 40 or 60 training nodes per class, 1000 for validation, 1000 for the test."""
        return read_split(paths[archive.name], per_class)

    return Dataset(info, build, split)


# ACM 3025: papers joined by a common author and by a common subject; a benchmark of scale.
ACM3025_ARCHIVE = DataFile(
    "acm3025", "graph.npz", 421357, "88f900a2e023574c42bb14df86001b8b333a3736087dc337b7f46ef4c066c69e"
)


def build_acm3025(paths: Paths) -> MultilayerGraph:
    """The graph as stored."""
    return read_graph(paths[ACM3025_ARCHIVE.name], ACM3025_INFO.name)


def split_acm3025(paths: Paths) -> Split:
    """600 training, 300 validation and 2125 test papers."""
    path = paths[ACM3025_ARCHIVE.name]
    return read_positions(path, train="train_idx", validation="val_idx", test="test_idx")


ACM3025_INFO = DatasetInfo(
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
    caveat="Not in the paper; a benchmark of scale. graph.npz is a converted file that nobody serves: it must come "
    "from a data folder. Two further relations of the source (PMP, PTP) are left out, as is usual.",
    files=(ACM3025_ARCHIVE,),
)
ACM3025_DATASET = Dataset(ACM3025_INFO, build_acm3025, split_acm3025)


# ACM: papers joined by common authors and subjects, with features and a published protocol.
ACM_HECO_ARCHIVE = DataFile(
    "acm_heco", "graph.npz", 661985, "aaa3d3481e101fb872e554df229ad709e4113b37a7b5fe950d84bc45e87f656b"
)
ACM_HECO_RELATIONS = DataFile(
    "acm_heco", "relations.npz", 52418, "0eaa0625b1dd8bdc304cb6a45da7bf4f62bdba97c8043156d311c68ed5bda260"
)


ACM_HECO_INFO = DatasetInfo(
    name="acm_heco",
    title="ACM papers, HeCo's selection",
    description="4019 papers joined by authors (PAP) and subjects (PSP), 1902 features",
    nodes=4019,
    layers=2,
    classes=3,
    recipe="view='edges': two relations as edges, PAP 26,917 and PSP 2,167,097, self loops left out; view='relations': "
    "the layers author (13,407 memberships) and subject (4,019). Label: the field, numbered as in the source",
    citation="X. Wang et al., Self-supervised Heterogeneous Graph Neural Network with "
    "Co-contrastive Learning, KDD 2021; converted from data/acm of github.com/liun-online/HeCo",
    licence="unknown; the repository states none",
    caveat="Not in the paper. graph.npz and relations.npz are converted files that nobody serves: "
    "they must come from a data folder.",
    files=(ACM_HECO_ARCHIVE, ACM_HECO_RELATIONS),
    options={"view": VIEW_OPTION},
)
ACM_HECO_DATASET = _heco(ACM_HECO_INFO, "paper", "author", "subject")


# DBLP: authors joined by common papers, venues and terms; a benchmark of scale with 6 million edges.
DBLP_HECO_ARCHIVE = DataFile(
    "dblp_heco", "graph.npz", 2827976, "55dc5adae168fd11124dcd88981507ff68eb4cb2817b4cb8585dd40e4a03d79b"
)
DBLP_HECO_RELATIONS = DataFile(
    "dblp_heco", "relations.npz", 331282, "e0fbbaf26643fd9cda856273791a9b163c1b48eeaa29fc3c1af5e040a28c72b4"
)


DBLP_HECO_INFO = DatasetInfo(
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
    files=(DBLP_HECO_ARCHIVE, DBLP_HECO_RELATIONS),
    options={"view": VIEW_OPTION},
)
DBLP_HECO_DATASET = _heco(DBLP_HECO_INFO, "author", "author", "venue", "term")


MULTIPLE_FEATURES_ARCHIVE = DataFile(
    "multiple_features", "views.npz", 2188540, "280ffcb92dcc5dd4fceec920bcebf4e78db491c35c803f3dca74de986afbda27"
)
MULTIPLE_FEATURES_VIEWS = {
    "fou": "fourier",
    "fac": "profiles",
    "kar": "karhunen_loeve",
    "pix": "pixels",
    "zer": "zernike",
    "mor": "morphology",
}


def build_multiple_features(paths: Paths, *, neighbours: int = 10) -> MultilayerGraph:
    """A nearest-neighbour layer per view, each with its own features."""
    neighbours = positive_int(neighbours, "neighbours")
    path = paths[MULTIPLE_FEATURES_ARCHIVE.name]
    arrays = read_arrays(path)
    try:
        views = {name: arrays[stored] for stored, name in MULTIPLE_FEATURES_VIEWS.items()}
        labels = arrays["labels"]
    except KeyError as error:
        raise FileFormatError(f"the array {error} is missing", file=path) from error
    return MultilayerGraph.from_views(views, k=neighbours, labels=labels, name=MULTIPLE_FEATURES_INFO.name)


MULTIPLE_FEATURES_INFO = DatasetInfo(
    name="multiple_features",
    title="Multiple Features",
    description="2000 handwritten digits in six views: pixels, Fourier, Zernike and others",
    nodes=2000,
    layers=6,
    classes=10,
    recipe="one nearest-neighbour layer per view (10 neighbours, columns standardised), the view "
    "as the layer's own features. Label: the digit",
    citation="R. Duin, Multiple Features, UCI Machine Learning Repository, data set 72, 1998",
    licence="CC BY 4.0, as far as known",
    caveat="Not in the paper. views.npz is a converted file that nobody serves: it must come from a data folder.",
    files=(MULTIPLE_FEATURES_ARCHIVE,),
    options={"neighbours": "how many nearest nodes a node is joined to (default: 10)"},
)
MULTIPLE_FEATURES_DATASET = Dataset(MULTIPLE_FEATURES_INFO, build_multiple_features)
