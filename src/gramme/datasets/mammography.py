"""Mammography: 961 mammographic masses, joined where an attribute has the same value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths
from gramme.datasets.text_files import one_of, read_cells
from gramme.errors import DataError, did_you_mean
from gramme.graph import Layer, MembershipLayer, MultilayerGraph

MASSES = 961
ATTRIBUTES = ("bi_rads", "age", "shape", "margin", "density")
AGE_CUTS = (18, 34, 50, 66, 82, 98)
SEVERITY = {"0": "benign", "1": "malignant"}
RECIPES = ("paper", "plain")
TABLE = DataFile(
    folder="mammography",
    name="mammographic_masses.data",
    size=12488,
    sha256="4146aaf17c64f43e21af6c85218b4206d25199032a9e411675b94339201e9cd8",
    address="https://archive.ics.uci.edu/ml/machine-learning-databases/mammographic-masses/"
    "mammographic_masses.data",
)


def build(paths: Paths, *, recipe: str = "paper") -> MultilayerGraph:
    """One membership layer per attribute; the recipes differ in what becomes of unknown values."""
    if recipe not in RECIPES:
        raise DataError(f"mammography has no recipe {recipe!r}; {did_you_mean(recipe, RECIPES)}")
    parsers: list[Callable[[str], Any]] = [
        _age_band if name == "age" else _value for name in ATTRIBUTES
    ]
    parsers.append(one_of(SEVERITY))
    *columns, labels = read_cells(paths[TABLE.name], parsers, expected=MASSES)
    layers: dict[str, Layer] = {}
    for name, values in zip(ATTRIBUTES, columns, strict=True):
        if recipe == "paper":
            filler = "unknown" if name == "age" else _median(values)
            values = [filler if value is None else value for value in values]
        layers[name] = MembershipLayer.from_values(values)
    return MultilayerGraph(layers, labels=labels, name=INFO.name)


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


INFO = DatasetInfo(
    name="mammography",
    title="Mammographic Mass",
    description="961 masses joined by equal BI-RADS, age band, shape, margin, density; severity",
    nodes=MASSES,
    layers=5,
    classes=2,
    recipe="one membership layer per attribute. Age in bands that begin at 18, 34, 50, 66 and 82, "
    "with unknown ages as a group of their own; other unknown values take the attribute's median. "
    "Label: benign or malignant",
    citation="M. Elter, R. Schulz-Wendtland and T. Wittenberg, The prediction of breast cancer "
    "biopsy outcomes using two CAD approaches that both emphasize an intelligible decision process, "
    "Medical Physics 34 (2007); UCI Machine Learning Repository, doi:10.24432/C53K6Z",
    licence="CC BY 4.0 is usual for UCI; not seen for this set",
    caveat="The recipe is inferred: a search found it to give exactly the paper's 1,979,115 edges "
    "(both directions, self loops), which proves nothing more. BI-RADS is a physician's own verdict "
    "on the mass, which its source calls not predictive; one value, 55, is a typing error for 5 and "
    "is kept as a group of its own.",
    files=(TABLE,),
    options={
        "recipe": '"paper" (default), or "plain": unknown values join nobody, the rest is the same'
    },
)
DATASET = Dataset(INFO, build)
