"""Digits: small images of handwritten digits, joined where a quarter of the image looks alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product
from statistics import median
from typing import Any

import numpy as np

from gramme.datasets.readers import nearest_edges, one_of, positive_int, read_cells
from gramme.datasets.record import Paths
from gramme.errors import DataError, did_you_mean
from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph

# Balance scale: which side of a balance goes down? A formula, so nothing needs to be downloaded.
BALANCE_SCALE_ATTRIBUTES = ("left_weight", "left_distance", "right_weight", "right_distance")


def build_balance_scale(paths: Paths) -> MultilayerGraph:
    """All 5^4 settings in lexicographic order; label by the sign of the torque difference."""
    settings = np.array(list(product(range(1, 6), repeat=4)))
    torque = settings[:, 0] * settings[:, 1] - settings[:, 2] * settings[:, 3]
    node_labels = np.array(["R", "B", "L"], dtype=object)[np.sign(torque) + 1]
    graph_layers: dict[str, Layer] = {
        layer_name: MembershipLayer.from_codes(settings[:, column] - 1, range(1, 6))
        for column, layer_name in enumerate(BALANCE_SCALE_ATTRIBUTES)
    }
    return MultilayerGraph(graph_layers, labels=node_labels, name="balance_scale")


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
PARTIES = {"democrat": "democrat", "republican": "republican"}
ANSWERS = {"y": "y", "n": "n", "?": None}


def build_congress_votes(paths: Paths) -> MultilayerGraph:
    """One membership layer per vote with the groups y and n; who did neither is absent from it."""
    parsers = [one_of(PARTIES), *[one_of(ANSWERS)] * len(VOTES)]
    party, *votes = read_cells(paths["house-votes-84.data"], parsers, expected=MEMBERS)
    graph_layers: dict[str, Layer] = {
        layer_name: MembershipLayer.from_values(column_values)
        for layer_name, column_values in zip(VOTES, votes, strict=True)
    }
    return MultilayerGraph(graph_layers, labels=party, name="congress_votes")


def build_leaky(paths: Paths) -> MultilayerGraph:
    """The party itself as a layer, and the first three votes."""
    honest = build_congress_votes(paths)
    assert honest.labels is not None
    graph_layers: dict[str, Layer] = {"party": MembershipLayer.from_values(honest.labels)}
    graph_layers |= {layer_name: honest.layers[layer_name] for layer_name in VOTES[:3]}
    return honest.replace(layers=graph_layers, name="congress_votes_leaky")


# Mammography: 961 mammographic masses, joined where an attribute has the same value.
MAMMOGRAPHY_ATTRIBUTES = ("bi_rads", "age", "shape", "margin", "density")
AGE_CUTS = (18, 34, 50, 66, 82, 98)
SEVERITY = {"0": "benign", "1": "malignant"}
RECIPES = ("paper", "plain")


def build_mammography(paths: Paths, *, recipe: str = "paper") -> MultilayerGraph:
    """One membership layer per attribute; the recipes differ in what becomes of unknown values."""
    if recipe not in RECIPES:
        raise DataError(f"mammography has no recipe {recipe!r}; {did_you_mean(recipe, RECIPES)}")
    parsers: list[Callable[[str], Any]] = [_age_band if name == "age" else _value for name in MAMMOGRAPHY_ATTRIBUTES]
    parsers.append(one_of(SEVERITY))
    *table_columns, node_labels = read_cells(paths["mammographic_masses.data"], parsers, expected=961)
    graph_layers: dict[str, Layer] = {}
    for layer_name, column_values in zip(MAMMOGRAPHY_ATTRIBUTES, table_columns, strict=True):
        if recipe == "paper":
            filler = "unknown" if layer_name == "age" else _median(column_values)
            column_values = [filler if value is None else value for value in column_values]
        graph_layers[layer_name] = MembershipLayer.from_values(column_values)
    return MultilayerGraph(graph_layers, labels=node_labels, name="mammography")


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


# Wine: chemical measurements of wines from three growers, joined where a measurement is alike.


# The table names one column after the laboratory's dilution test.
RENAMED = {"od280/od315_of_diluted_wines": "od280_od315"}


def build_wine(paths: Paths, *, bins: int = 5) -> MultilayerGraph:
    """One membership layer per measurement, cut at its quantiles into groups of about equal size."""
    bins = positive_int(bins, "bins")
    from sklearn.datasets import load_wine  # slow to import

    source = load_wine()
    graph_layers: dict[str, Layer] = {}
    for feature_name, column_values in zip(source.feature_names, source.data.T, strict=True):
        cuts = np.unique(np.quantile(column_values, np.linspace(0, 1, bins + 1)).round(8))
        group_codes = np.clip(np.searchsorted(cuts, column_values, side="right") - 1, 0, len(cuts) - 2)
        group_names = [f"{low:.10g} to {high:.10g}" for low, high in pairwise(cuts)]
        graph_layers[RENAMED.get(feature_name, feature_name)] = MembershipLayer.from_codes(group_codes, group_names)
    node_labels = [str(source.target_names[number]) for number in source.target]
    return MultilayerGraph(graph_layers, labels=node_labels, name="wine")


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
    node_count = len(source.images)
    graph_layers: dict[str, Layer] = {}
    for layer_name, (table_rows, table_columns) in QUARTERS.items():
        pixels = source.images[:, table_rows, table_columns].reshape(node_count, -1)
        graph_layers[layer_name] = EdgeLayer(node_count, *nearest_edges(pixels, neighbours))
    return MultilayerGraph(graph_layers, labels=source.target, name="digits")
