"""Wine: chemical measurements of wines from three growers, joined where a measurement is alike."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gramme.datasets.options import positive_int
from gramme.datasets.record import Dataset, DatasetInfo, Paths
from gramme.graph import Layer, MembershipLayer, MultilayerGraph

# The table names one column after the laboratory's dilution test.
RENAMED = {"od280/od315_of_diluted_wines": "od280_od315"}


def build(paths: Paths, *, bins: int = 5) -> MultilayerGraph:
    """One membership layer per measurement, cut at its quantiles into groups of about equal size."""
    bins = positive_int(bins, "bins")
    from sklearn.datasets import load_wine  # slow to import

    source = load_wine()
    layers: dict[str, Layer] = {}
    for name, values in zip(source.feature_names, source.data.T, strict=True):
        cuts = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)).round(8))
        codes = np.clip(np.searchsorted(cuts, values, side="right") - 1, 0, len(cuts) - 2)
        groups = [f"{low:.10g} to {high:.10g}" for low, high in pairwise(cuts)]
        layers[RENAMED.get(name, name)] = MembershipLayer.from_codes(codes, groups)
    labels = [str(source.target_names[number]) for number in source.target]
    return MultilayerGraph(layers, labels=labels, name=INFO.name)


INFO = DatasetInfo(
    name="wine",
    title="Wine recognition",
    description="178 wines of three growers, joined where one of 13 measurements is alike",
    nodes=178,
    layers=13,
    classes=3,
    recipe="one membership layer per measurement: five groups of about equal size, cut at the "
    "quantiles. Label: the grower",
    citation="S. Aeberhard and M. Forina, Wine, UCI Machine Learning Repository (1991), "
    "doi:10.24432/C5PC7J; as shipped with scikit-learn",
    licence="CC BY 4.0 as catalogues state it; read from the installed scikit-learn",
    caveat="Not in the paper. The cuts look at all wines, which is fair in transductive learning: "
    "no label is used.",
    embedded=True,
    options={"bins": "groups per measurement (default: 5)"},
)
DATASET = Dataset(INFO, build)
