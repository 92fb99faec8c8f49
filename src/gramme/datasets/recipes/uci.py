"""Digits: small images of handwritten digits, joined where a quarter of the image looks alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product
from statistics import median
from typing import Any

import numpy as np

from gramme.datasets.readers import nearest_edges, one_of, positive_int, read_cells
from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths
from gramme.errors import DataError, did_you_mean
from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph

# Balance scale: which side of a balance goes down? A formula, so nothing needs to be downloaded.
BALANCE_SCALE_ATTRIBUTES = ("left_weight", "left_distance", "right_weight", "right_distance")


def build_balance_scale(paths: Paths) -> MultilayerGraph:
    """All 5^4 settings in lexicographic order; label by the sign of the torque difference."""
    settings = np.array(list(product(range(1, 6), repeat=4)))
    torque = settings[:, 0] * settings[:, 1] - settings[:, 2] * settings[:, 3]
    labels = np.array(["R", "B", "L"], dtype=object)[np.sign(torque) + 1]
    layers: dict[str, Layer] = {
        name: MembershipLayer.from_codes(settings[:, column] - 1, range(1, 6))
        for column, name in enumerate(BALANCE_SCALE_ATTRIBUTES)
    }
    return MultilayerGraph(layers, labels=labels, name=BALANCE_SCALE_INFO.name)


BALANCE_SCALE_INFO = DatasetInfo(
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
    caveat="The paper's 312,500 edges are 4 x 5 x 125^2: both directions and one self loop per node and layer. The "
    "label is decided by all four attributes together, and each layer alone says little.",
    embedded=True,
)
BALANCE_SCALE_DATASET = Dataset(BALANCE_SCALE_INFO, build_balance_scale)


# Congress votes: 435 members of the US House of 1984, joined where they voted alike.
MEMBERS = 435
# As the description that comes with the data names them, in the order of its columns
VOTES = (
    "handicapped-infants",
    "water-project-cost-sharing",
    "adoption-of-the-budget-resolution",
    "physician-fee-freeze",
    "el-salvador-aid",
    "religious-groups-in-schools",
    "anti-satellite-test-ban",
    "aid-to-nicaraguan-contras",
    "mx-missile",
    "immigration",
    "synfuels-corporation-cutback",
    "education-spending",
    "superfund-right-to-sue",
    "crime",
    "duty-free-exports",
    "export-administration-act-south-africa",
)
LEAKED_VOTES = 3
PARTIES = {"democrat": "democrat", "republican": "republican"}
ANSWERS = {"y": "y", "n": "n", "?": None}
CONGRESS_VOTES_TABLE = DataFile(
    "congress_votes",
    "house-votes-84.data",
    18171,
    "c87c14110a5ba91d4a1e313ec7392824458152bf071fa5f5452340488337936e",
    "https://archive.ics.uci.edu/ml/machine-learning-databases/voting-records/house-votes-84.data",
)


def build_congress_votes(paths: Paths) -> MultilayerGraph:
    """One membership layer per vote with the groups y and n; who did neither is absent from it."""
    parsers = [one_of(PARTIES), *[one_of(ANSWERS)] * len(VOTES)]
    party, *votes = read_cells(paths[CONGRESS_VOTES_TABLE.name], parsers, expected=MEMBERS)
    layers: dict[str, Layer] = {
        name: MembershipLayer.from_values(values) for name, values in zip(VOTES, votes, strict=True)
    }
    return MultilayerGraph(layers, labels=party, name=CONGRESS_VOTES_INFO.name)


def build_leaky(paths: Paths) -> MultilayerGraph:
    """The party itself as a layer, and the first three votes."""
    honest = build_congress_votes(paths)
    assert honest.labels is not None
    layers: dict[str, Layer] = {"party": MembershipLayer.from_values(honest.labels)}
    layers |= {name: honest.layers[name] for name in VOTES[:LEAKED_VOTES]}
    return honest.replace(layers=layers, name=LEAKY_INFO.name)


_CITATION = (
    "J. C. Schlimmer, Concept acquisition through representational adjustment, 1987; "
    "Congressional Voting Records, UCI Machine Learning Repository, doi:10.24432/C5C01P"
)
_LICENCE = "CC BY 4.0 as catalogues state it"

CONGRESS_VOTES_INFO = DatasetInfo(
    name="congress_votes",
    title="Congressional Voting Records 1984",
    description="435 members of the US House joined where they voted alike in 16 votes; party",
    nodes=MEMBERS,
    layers=16,
    classes=2,
    recipe="one membership layer per vote with the groups y and n; a member who did neither (?) is "
    "absent from that layer. Label: democrat or republican",
    citation=_CITATION,
    licence=_LICENCE,
    caveat="The paper's 358,338 edges and its 100 % at 10 % labels cannot be had from the 16 votes: they give "
    "1,404,798 edges (both directions, self loops where voted), and logistic regression on the one-hot votes reaches "
    "about 94 %. Party among the layers would explain both, see congress_votes_leaky; that is likely, not proven.",
    files=(CONGRESS_VOTES_TABLE,),
)
LEAKY_INFO = DatasetInfo(
    name="congress_votes_leaky",
    title="Congressional Voting Records 1984 with the label among the layers",
    description="WARNING, label leak: the party is a layer; only to explain the paper's row",
    nodes=MEMBERS,
    layers=1 + LEAKED_VOTES,
    classes=2,
    recipe="party and the first three votes, one membership layer each. Label: the party again",
    citation=_CITATION,
    licence=_LICENCE,
    caveat="Never quote a result on this variant: one layer is the label itself. Its edges, 358,388 "
    "with both directions and a self loop for every member in every layer or 358,317 with self loops "
    "where voted, come near the paper's 358,338, so a leak in the paper's file is likely but not proven.",
    files=(CONGRESS_VOTES_TABLE,),
)
LEAKY = Dataset(LEAKY_INFO, build_leaky)


# Mammography: 961 mammographic masses, joined where an attribute has the same value.
MASSES = 961
MAMMOGRAPHY_ATTRIBUTES = ("bi_rads", "age", "shape", "margin", "density")
AGE_CUTS = (18, 34, 50, 66, 82, 98)
SEVERITY = {"0": "benign", "1": "malignant"}
RECIPES = ("paper", "plain")
MAMMOGRAPHY_TABLE = DataFile(
    "mammography",
    "mammographic_masses.data",
    12488,
    "4146aaf17c64f43e21af6c85218b4206d25199032a9e411675b94339201e9cd8",
    "https://archive.ics.uci.edu/ml/machine-learning-databases/mammographic-masses/mammographic_masses.data",
)


def build_mammography(paths: Paths, *, recipe: str = "paper") -> MultilayerGraph:
    """One membership layer per attribute; the recipes differ in what becomes of unknown values."""
    if recipe not in RECIPES:
        raise DataError(f"mammography has no recipe {recipe!r}; {did_you_mean(recipe, RECIPES)}")
    parsers: list[Callable[[str], Any]] = [_age_band if name == "age" else _value for name in MAMMOGRAPHY_ATTRIBUTES]
    parsers.append(one_of(SEVERITY))
    *columns, labels = read_cells(paths[MAMMOGRAPHY_TABLE.name], parsers, expected=MASSES)
    layers: dict[str, Layer] = {}
    for name, values in zip(MAMMOGRAPHY_ATTRIBUTES, columns, strict=True):
        if recipe == "paper":
            filler = "unknown" if name == "age" else _median(values)
            values = [filler if value is None else value for value in values]
        layers[name] = MembershipLayer.from_values(values)
    return MultilayerGraph(layers, labels=labels, name=MAMMOGRAPHY_INFO.name)


def _value(cell: str) -> int | None:
    if cell == "?":
        return None
    if not cell.isdecimal():
        raise ValueError(f"{cell!r} must be a whole number or ?")
    return int(cell)


def _age_band(cell: str) -> str | None:
    """Bands that begin at a cut: 18-33, 34-49, 50-65, 66-81, 82-97."""
    age = _value(cell)
    if age is None:
        return None
    for begin, end in pairwise(AGE_CUTS):
        if begin <= age < end:
            return f"{begin}-{end - 1}"
    raise ValueError(f"the age {age} must be from {AGE_CUTS[0]} to {AGE_CUTS[-1] - 1}")


def _median(values: Sequence[int | None]) -> int:
    return int(median(value for value in values if value is not None))


MAMMOGRAPHY_INFO = DatasetInfo(
    name="mammography",
    title="Mammographic Mass",
    description="961 masses joined by equal BI-RADS, age band, shape, margin, density; severity",
    nodes=MASSES,
    layers=5,
    classes=2,
    recipe="one membership layer per attribute. Age in bands that begin at 18, 34, 50, 66 and 82, with unknown ages as "
    "a group of their own; other unknown values take the attribute's median. Label: benign or malignant",
    citation="M. Elter, R. Schulz-Wendtland and T. Wittenberg, The prediction of breast cancer "
    "biopsy outcomes using two CAD approaches that both emphasize an intelligible decision process, "
    "Medical Physics 34 (2007); UCI Machine Learning Repository, doi:10.24432/C53K6Z",
    licence="CC BY 4.0 is usual for UCI; not seen for this set",
    caveat="The recipe is inferred: a search found it to give exactly the paper's 1,979,115 edges (both directions, "
    "self loops), which proves nothing more. BI-RADS is a physician's own verdict on the mass, which its source calls "
    "not predictive; one value, 55, is a typing error for 5 and is kept as a group of its own.",
    files=(MAMMOGRAPHY_TABLE,),
    options={"recipe": '"paper" (default), or "plain": unknown values join nobody, the rest is the same'},
)


# Wine: chemical measurements of wines from three growers, joined where a measurement is alike.


# The table names one column after the laboratory's dilution test.
RENAMED = {"od280/od315_of_diluted_wines": "od280_od315"}


def build_wine(paths: Paths, *, bins: int = 5) -> MultilayerGraph:
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
    return MultilayerGraph(layers, labels=labels, name=WINE_INFO.name)


WINE_INFO = DatasetInfo(
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
    caveat="Not in the paper. The cuts look at all wines, which is fair in transductive learning: no label is used.",
    embedded=True,
    options={"bins": "groups per measurement (default: 5)"},
)


QUARTERS = {
    "upper left": (slice(0, 4), slice(0, 4)),
    "upper right": (slice(0, 4), slice(4, 8)),
    "lower left": (slice(4, 8), slice(0, 4)),
    "lower right": (slice(4, 8), slice(4, 8)),
}


def build_digits(paths: Paths, *, neighbours: int = 10) -> MultilayerGraph:
    """One layer per quarter of the 8 x 8 image: an edge to the nearest images by its 16 pixels."""
    from sklearn.datasets import load_digits  # slow to import

    source = load_digits()
    count = len(source.images)
    layers: dict[str, Layer] = {}
    for name, (rows, columns) in QUARTERS.items():
        pixels = source.images[:, rows, columns].reshape(count, -1)
        layers[name] = EdgeLayer(count, *nearest_edges(pixels, neighbours))
    return MultilayerGraph(layers, labels=source.target, name=DIGITS_INFO.name)


DIGITS_INFO = DatasetInfo(
    name="digits",
    title="Handwritten digits by quarters",
    description="1797 handwritten digits, each layer joins images that look alike in one quarter",
    nodes=1797,
    layers=4,
    classes=10,
    recipe="the 8 x 8 images in four quarters of 16 pixels; per quarter an edge where either image "
    "is among the other's 10 nearest. Label: the digit, 0 to 9",
    citation="E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine "
    "Learning Repository (1998), doi:10.24432/C50P49; as shipped with scikit-learn",
    licence="CC BY 4.0 as catalogues state it; read from the installed scikit-learn",
    caveat="Not in the paper. A quarter of an image leaves many digits open, so the layers need one another.",
    embedded=True,
    options={"neighbours": "nearest images each one is joined to in a layer (default: 10)"},
)
CONGRESS_VOTES_DATASET = Dataset(CONGRESS_VOTES_INFO, build_congress_votes)
MAMMOGRAPHY_DATASET = Dataset(MAMMOGRAPHY_INFO, build_mammography)
WINE_DATASET = Dataset(WINE_INFO, build_wine)
DIGITS_DATASET = Dataset(DIGITS_INFO, build_digits)
