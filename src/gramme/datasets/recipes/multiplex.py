"""Vickers-Chan: 29 pupils of a seventh grade and whom they name as friends and work mates."""

from __future__ import annotations

import numpy as np

from gramme.datasets.readers import REPOSITORY, read_edge_layers, read_integers, read_lines
from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths
from gramme.graph import EdgeLayer, Layer, MultilayerGraph

# CKM social: physicians of four cities, and whom they ask, talk with and call a friend.
PHYSICIANS = 241
CITIES = 4
CKM_SOCIAL_LAYERS = ("advice", "discussion", "friend")
CKM_SOCIAL_EDGES = DataFile(
    "ckm_social",
    "ckm_social.multilayer.edges",
    34670,
    "723c98e712d0f8eaa8e70f357f8bc5b51c3ef7d2c9a82e9173cfb41b1f3fdc94",
    f"{REPOSITORY}/ckm_social/ckm_social.multilayer.edges",
)
CKM_SOCIAL_CODES = DataFile(
    "ckm_social",
    "ckm_social.multilayer.labels",
    482,
    "19d2878ee0889089a446085ce9826db50873723bba707e47753c00ac0db44e6b",
    f"{REPOSITORY}/ckm_social/ckm_social.multilayer.labels",
)


def build_ckm_social(paths: Paths) -> MultilayerGraph:
    """Nominations as undirected edges; nodes are numbered 0 to 240 as in the file."""
    codes = read_integers(paths[CKM_SOCIAL_CODES.name], range(CITIES), expected=PHYSICIANS)[:, 0]
    return MultilayerGraph(
        read_edge_layers(paths[CKM_SOCIAL_EDGES.name], CKM_SOCIAL_LAYERS, PHYSICIANS),
        labels=[f"city {code + 1}" for code in codes],
        name=CKM_SOCIAL_INFO.name,
    )


CKM_SOCIAL_INFO = DatasetInfo(
    name="ckm_social",
    title="CKM physicians, social relations",
    description="physicians of four cities: whom they ask for advice, discuss with, are friends of",
    nodes=PHYSICIANS,
    layers=3,
    classes=CITIES,
    recipe="the authors' form: 5 of 246 physicians without any edge left out, nominations made "
    "symmetric, repeated rows merged into one edge. Label: the city, numbered as in the source",
    citation="J. Coleman, E. Katz and H. Menzel, The Diffusion of an Innovation Among Physicians, Sociometry 20 "
    "(1957); multiplex version by M. De Domenico, https://manliodedomenico.com/data.php",
    licence='unknown; given "as is", no other terms seen',
    caveat="The paper's 3,825 edges count both directions, one self loop per node and layer, and 362 repeated rows "
    "(where both physicians name each other). Kept, the repeats would weigh double in the attention; here an edge "
    "counts once. The three layers together have exactly four connected pieces, the four cities: one label in each "
    "settles all the others. Run as shipped with 10 % labels, the authors' code had its best test epoch at 89.9, 92.2, "
    "71.9 and 87.6 % for Fusion (seeds 0 to 3); the paper reports 98.66.",
    files=(CKM_SOCIAL_EDGES, CKM_SOCIAL_CODES),
)
CKM_SOCIAL_DATASET = Dataset(CKM_SOCIAL_INFO, build_ckm_social)


# Leskovec-Ng: who wrote papers with whom around two researchers, in four spans of five years.
RESEARCHERS = 191
LESKOVEC_NG_LAYERS = ("1995-1999", "2000-2004", "2005-2009", "2010-2014")
# The author index settles the codes: Andrew Ng himself has 0, Jure Leskovec 1.
LABELS = ("Ng", "Leskovec")
LESKOVEC_NG_EDGES = DataFile(
    "leskovec_ng",
    "Leskovec-Ng.multilayer.edges",
    15800,
    "3d3cf03bb4bb5f21ea18e2581e03ab2da159b7343c861d4c2bf18c257e90a305",
    f"{REPOSITORY}/leskovec_ng/Leskovec-Ng.multilayer.edges",
)
LESKOVEC_NG_CODES = DataFile(
    "leskovec_ng",
    "Leskovec-Ng.multilayer.labels",
    382,
    "a4b7289cd656921148d2197521d538b10d8df01ce917a8098bdc050f890bcd14",
    f"{REPOSITORY}/leskovec_ng/Leskovec-Ng.multilayer.labels",
)
AUTHORS = DataFile(
    "leskovec_ng",
    "authorindex.txt",
    2883,
    "c35b6b85e731f8c7d08d5e19cdb0154e4b5c11a09b6f3d7c7257a0180738b1b3",
    f"{REPOSITORY}/leskovec_ng/authorindex.txt",
)


def build_leskovec_ng(paths: Paths) -> MultilayerGraph:
    """Co-authorships as edges; a node is named by the researcher."""
    codes = read_integers(paths[LESKOVEC_NG_CODES.name], range(len(LABELS)), expected=RESEARCHERS)[:, 0]
    return MultilayerGraph(
        read_edge_layers(paths[LESKOVEC_NG_EDGES.name], LESKOVEC_NG_LAYERS, RESEARCHERS),
        nodes=read_lines(paths[AUTHORS.name], expected=RESEARCHERS),
        labels=[LABELS[code] for code in codes],
        name=LESKOVEC_NG_INFO.name,
    )


LESKOVEC_NG_INFO = DatasetInfo(
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
    caveat="The paper's 1,836 edges count both directions and one self loop per node and layer. Leskovec and Ng are "
    "nodes themselves: over all layers each is joined to all members of his own circle, and Ng to one of the other, so "
    "knowing these two labels nearly settles the rest. Run as shipped with 10 % labels, the authors' code had its best "
    "test epoch at 88.4, 82.6 and 95.3 % for Fusion (seeds 1 to 3); the paper reports 93.32.",
    files=(LESKOVEC_NG_EDGES, LESKOVEC_NG_CODES, AUTHORS),
)


PUPILS = 29
BOYS = 12
VICKERS_CHAN_LAYERS = ("get_on", "best_friends", "work_with")
VICKERS_CHAN_EDGES = DataFile(
    "vickers_chan",
    "Vickers-Chan-7thGraders_multiplex.edges",
    6974,
    "2954ff63f813b47f092b168fa8a36549f96f80377884c6e0b0c5806b578df602",
    "https://github.com/HKUST-KnowComp/MNE/raw/master/data/Vickers-Chan-7thGraders_multiplex.edges",
)


def build_vickers_chan(paths: Paths, *, directed: bool = False) -> MultilayerGraph:
    """Nominations as edges; a pupil is named by the number in the source, 1 to 29."""
    numbers = range(1, PUPILS + 1)
    rows = read_integers(
        paths[VICKERS_CHAN_EDGES.name], range(1, 1 + len(VICKERS_CHAN_LAYERS)), numbers, numbers, range(1, 2)
    )
    layer, source, target, _ = rows.T
    layers: dict[str, Layer] = {
        name: EdgeLayer(PUPILS, source[layer == number] - 1, target[layer == number] - 1, directed=directed)
        for number, name in enumerate(VICKERS_CHAN_LAYERS, start=1)
    }
    pupils = np.arange(1, PUPILS + 1)
    labels = ["boy" if pupil <= BOYS else "girl" for pupil in pupils]
    return MultilayerGraph(layers, nodes=pupils, labels=labels, name=VICKERS_CHAN_INFO.name)


VICKERS_CHAN_INFO = DatasetInfo(
    name="vickers_chan",
    title="Vickers-Chan 7th graders",
    description="29 pupils and whom they get on with, call best friends, like to work with",
    nodes=PUPILS,
    layers=3,
    classes=2,
    recipe="740 directed nominations (361 + 181 + 198), made symmetric: an edge where either pupil "
    "names the other (240 + 126 + 152 edges). Label: boy (pupils 1-12) or girl (13-29)",
    citation="M. Vickers and S. Chan, Representing Classroom Social Structure, Victoria Institute of Secondary "
    "Education, Melbourne 1981; multiplex version by M. De Domenico, https://manliodedomenico.com/data.php",
    licence='unknown; the multiplex version is given "as is", no other terms seen',
    caveat="The paper counts 740 edges, the nominations as given (directed=True). Its published "
    "code uses one fixed split of 9 training pupils whatever the percentage. Under uniform splits "
    "at 10 % (3 pupils) a quarter of the draws hold one gender only, so no method that "
    "learns the classes from its training labels can exceed 87.5 % on average; the paper reports 99.21.",
    files=(VICKERS_CHAN_EDGES,),
    options={"directed": "keep the direction of the nominations (default: False, symmetric)"},
)
LESKOVEC_NG_DATASET = Dataset(LESKOVEC_NG_INFO, build_leskovec_ng)
VICKERS_CHAN_DATASET = Dataset(VICKERS_CHAN_INFO, build_vickers_chan)
