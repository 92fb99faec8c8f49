"""Vickers-Chan: 29 pupils of a seventh grade and whom they name as friends and work mates."""

from __future__ import annotations

import numpy as np

from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths
from gramme.datasets.text_files import read_integers
from gramme.graph import EdgeLayer, Layer, MultilayerGraph

PUPILS = 29
BOYS = 12
LAYERS = ("get_on", "best_friends", "work_with")
EDGES = DataFile(
    folder="vickers_chan",
    name="Vickers-Chan-7thGraders_multiplex.edges",
    size=6974,
    sha256="2954ff63f813b47f092b168fa8a36549f96f80377884c6e0b0c5806b578df602",
    address="https://github.com/HKUST-KnowComp/MNE/raw/master/data/"
    "Vickers-Chan-7thGraders_multiplex.edges",
)


def build(paths: Paths, *, directed: bool = False) -> MultilayerGraph:
    """Nominations as edges; a pupil is named by the number in the source, 1 to 29."""
    numbers = range(1, PUPILS + 1)
    rows = read_integers(
        paths[EDGES.name], range(1, 1 + len(LAYERS)), numbers, numbers, range(1, 2)
    )
    layer, source, target, _ = rows.T
    layers: dict[str, Layer] = {
        name: EdgeLayer(
            PUPILS, source[layer == number] - 1, target[layer == number] - 1, directed=directed
        )
        for number, name in enumerate(LAYERS, start=1)
    }
    pupils = np.arange(1, PUPILS + 1)
    labels = ["boy" if pupil <= BOYS else "girl" for pupil in pupils]
    return MultilayerGraph(layers, nodes=pupils, labels=labels, name=INFO.name)


INFO = DatasetInfo(
    name="vickers_chan",
    title="Vickers-Chan 7th graders",
    description="29 pupils and whom they get on with, call best friends, like to work with",
    nodes=PUPILS,
    layers=3,
    classes=2,
    recipe="740 directed nominations (361 + 181 + 198), made symmetric: an edge where either pupil "
    "names the other (240 + 126 + 152 edges). Label: boy (pupils 1-12) or girl (13-29)",
    citation="M. Vickers and S. Chan, Representing Classroom Social Structure, Victoria Institute "
    "of Secondary Education, Melbourne 1981; multiplex version by M. De Domenico, "
    "https://manliodedomenico.com/data.php",
    licence='unknown; the multiplex version is given "as is", no other terms seen',
    caveat="The paper counts 740 edges, the nominations as given (directed=True). Its published "
    "code uses one fixed split of 9 training pupils whatever the percentage. Under uniform splits "
    "at 10 % (3 pupils) a quarter of the draws hold one gender only, so no method that "
    "learns the classes from its training labels can exceed 87.5 % on average; the paper reports 99.21.",
    files=(EDGES,),
    options={"directed": "keep the direction of the nominations (default: False, symmetric)"},
)
DATASET = Dataset(INFO, build)
