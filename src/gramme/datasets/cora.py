"""Cora: machine-learning papers and their citations, one layer, with the split everybody uses."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.datasets.planetoid import read_adjacency, read_classes, read_matrix
from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths, Split
from gramme.datasets.text_files import read_integers
from gramme.errors import FileFormatError
from gramme.graph import EdgeLayer, MultilayerGraph

PAPERS = 2708
TRAIN, VALIDATION, TEST = 140, 500, 1000
# The seven classes differ in size (351, 217, 418, 818, 426, 298, 180), which tells their names.
CLASSES = (
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)
# The graph has no use for x and y, which are the first rows of allx and ally.
_FILES = {
    "allx": (257305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"),
    "ally": (47959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"),
    "tx": (148025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
    "ty": (28135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
    "graph": (59847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"),
    "test.index": (5000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"),
}
_ADDRESS = "https://github.com/kimiyoung/planetoid/raw/master/data"


def build(paths: Paths) -> MultilayerGraph:
    """Citations as undirected edges, the 1433 word features as they are, sparse."""
    order = np.arange(PAPERS)
    # The test rows are stored apart, in the order of test.index.
    test = _test_papers(paths)
    order[test] = order[-TEST:].copy()
    classes = np.concatenate([read_classes(paths[f"ind.cora.{part}"]) for part in ("ally", "ty")])
    features = sp.vstack([read_matrix(paths[f"ind.cora.{part}"]) for part in ("allx", "tx")])
    return MultilayerGraph(
        {"citations": EdgeLayer(PAPERS, *read_adjacency(paths["ind.cora.graph"]))},
        labels=[CLASSES[number] for number in classes[order]],
        features=sp.csr_array(features)[order],
        name=INFO.name,
    )


def split(paths: Paths) -> Split:
    """140 training papers (20 per class), 500 for validation, 1000 for the test."""
    return {
        "train": np.arange(TRAIN),
        "validation": np.arange(TRAIN, TRAIN + VALIDATION),
        "test": np.sort(_test_papers(paths)),
    }


def _test_papers(paths: Paths) -> NDArray[np.int64]:
    """The test papers in the order in which their rows are stored."""
    path = paths["ind.cora.test.index"]
    papers = read_integers(path, range(PAPERS - TEST, PAPERS), expected=TEST)[:, 0]
    if np.unique(papers).size != TEST:
        raise FileFormatError("a paper is listed twice", file=path)
    return papers


INFO = DatasetInfo(
    name="cora",
    title="Cora, Planetoid split",
    description="2708 machine-learning papers and their citations, 1433 word features; topic",
    nodes=PAPERS,
    layers=1,
    classes=7,
    recipe="citations as 5,278 undirected edges; word features raw (0 or 1), sparse. Label: the topic",
    citation="P. Sen et al., Collective Classification in Network Data, AI Magazine 29 (2008); "
    "Z. Yang, W. Cohen and R. Salakhutdinov, Revisiting Semi-Supervised Learning with Graph "
    "Embeddings, ICML 2016",
    licence="MIT for the repository's code; none seen for the data",
    caveat="Not in the paper, and a single layer: here for comparison with published results on "
    'its fixed split, official_split("cora"). One split of one graph says little about a method.',
    files=tuple(
        DataFile(
            "cora", f"ind.cora.{part}", size, sha256, f"{_ADDRESS}/ind.cora.{part}", exact=True
        )
        for part, (size, sha256) in _FILES.items()
    ),
)
DATASET = Dataset(INFO, build, split)
