"""Balance scale: which side of a balance goes down? A formula, so nothing needs to be downloaded."""

from __future__ import annotations

from itertools import product

import numpy as np

from gramme.datasets.record import Dataset, DatasetInfo, Paths
from gramme.graph import Layer, MembershipLayer, MultilayerGraph

ATTRIBUTES = ("left_weight", "left_distance", "right_weight", "right_distance")


def build(paths: Paths) -> MultilayerGraph:
    """All 5^4 settings in lexicographic order; label by the sign of the torque difference."""
    settings = np.array(list(product(range(1, 6), repeat=4)))
    torque = settings[:, 0] * settings[:, 1] - settings[:, 2] * settings[:, 3]
    labels = np.array(["R", "B", "L"], dtype=object)[np.sign(torque) + 1]
    layers: dict[str, Layer] = {
        name: MembershipLayer.from_codes(settings[:, column] - 1, range(1, 6))
        for column, name in enumerate(ATTRIBUTES)
    }
    return MultilayerGraph(layers, labels=labels, name=INFO.name)


INFO = DatasetInfo(
    name="balance_scale",
    title="Balance Scale",
    description="all settings of a balance with 5 weights and 5 distances; which side goes down",
    nodes=625,
    layers=4,
    classes=3,
    recipe="one membership layer per attribute (left and right weight and distance, 1 to 5 each); "
    "label L, B or R by left weight x left distance against right weight x right distance",
    citation="R. S. Siegler, Three aspects of cognitive development, Cognitive Psychology 8 "
    "(1976); UCI Machine Learning Repository, doi:10.24432/C5488X",
    licence="CC BY 4.0 as catalogues state it; generated here from its rule, no file is copied",
    caveat="The paper's 312,500 edges are 4 x 5 x 125^2: both directions and one self loop per "
    "node and layer. The label is decided by all four attributes together, and each layer alone "
    "says little.",
    embedded=True,
)
DATASET = Dataset(INFO, build)
