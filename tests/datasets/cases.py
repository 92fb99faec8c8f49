"""What every dataset must turn out to be; a test fails if a registered one has no case here."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramme import datasets
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph


@dataclass(frozen=True)
class Case:
    name: str
    nodes: int
    edges: dict[str, int]
    """Undirected edges (or directed ones, where kept) by layer, in order."""
    classes: dict[Any, int]
    paper: int | None = None
    """The paper's edge count, where it can be had: see ``counted_as``."""
    counted_as: str = "both directions and self loops"
    features: int | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return " ".join([self.name, *(f"{key}={value}" for key, value in self.options.items())])

    def check(self, graph: MultilayerGraph) -> None:
        assert graph.name == self.name
        assert graph.num_nodes == self.nodes
        assert {name: layer.num_edges for name, layer in graph.layers.items()} == self.edges
        assert list(graph.layers) == list(self.edges)
        assert graph.labels is not None
        assert Counter(graph.labels) == self.classes
        shape = None if graph.features is None else graph.features.shape
        assert shape == (None if self.features is None else (self.nodes, self.features))
        if self.paper is not None:
            assert COUNTS[self.counted_as](graph) == self.paper
        if self.name != "congress_votes_leaky":
            self.check_no_leak(graph)

    def check_no_leak(self, graph: MultilayerGraph) -> None:
        """No layer is the label under another name."""
        labels = MembershipLayer.from_values(graph.labels)
        for layer in graph.layers.values():
            if isinstance(layer, MembershipLayer) and layer.holds_all_nodes:
                assert not np.array_equal(np.sort(layer.sizes), np.sort(labels.sizes))


def both_directions_and_self_loops(graph: MultilayerGraph) -> int:
    """A self loop for every node a layer holds."""
    return sum(2 * layer.num_edges + layer.num_present for layer in graph.layers.values())


def rows_of_the_file(graph: MultilayerGraph) -> int:
    total = 0
    for layer in graph.layers.values():
        assert isinstance(layer, (EdgeLayer, MembershipLayer))
        total += layer.num_edges + layer.self_loops_dropped + layer.duplicates_merged
    return total


COUNTS = {"both directions and self loops": both_directions_and_self_loops, "rows of the file": rows_of_the_file}
PARTIES = {"democrat": 267, "republican": 168}
SEVERITIES = {"benign": 516, "malignant": 445}

FROM_FILES = [
    Case(
        "vickers_chan",
        29,
        {"get_on": 240, "best_friends": 126, "work_with": 152},
        {"boy": 12, "girl": 17},
        paper=740,
        counted_as="rows of the file",
    ),
    Case(
        "vickers_chan",
        29,
        {"get_on": 361, "best_friends": 181, "work_with": 198},
        {"boy": 12, "girl": 17},
        options={"directed": True},
    ),
    Case(
        "congress_votes",
        435,
        {
            "handicapped-infants": 45121,
            "water-project-cost-sharing": 37251,
            "adoption-of-the-budget-resolution": 46413,
            "physician-fee-freeze": 45957,
            "el-salvador-aid": 43894,
            "religious-groups-in-schools": 48332,
            "anti-satellite-test-ban": 44912,
            "aid-to-nicaraguan-contras": 44914,
            "mx-missile": 42436,
            "immigration": 45586,
            "synfuels-corporation-cutback": 45891,
            "education-spending": 41563,
            "superfund-right-to-sue": 41836,
            "crime": 44993,
            "duty-free-exports": 42079,
            "export-administration-act-south-africa": 37937,
        },
        PARTIES,
        paper=1_404_798,
    ),
    Case(
        "congress_votes_leaky",
        435,
        {
            "party": 49539,
            "handicapped-infants": 45121,
            "water-project-cost-sharing": 37251,
            "adoption-of-the-budget-resolution": 46413,
        },
        PARTIES,
        paper=358_317,
    ),
    Case(
        "leskovec_ng",
        191,
        {"1995-1999": 17, "2000-2004": 18, "2005-2009": 285, "2010-2014": 216},
        {"Ng": 104, "Leskovec": 87},
        paper=1836,
    ),
    Case(
        "ckm_social",
        241,
        {"advice": 449, "discussion": 498, "friend": 423},
        {"city 1": 117, "city 2": 48, "city 3": 41, "city 4": 35},
        paper=3825,
        counted_as="rows of the file",
    ),
    Case(
        "mammography",
        961,
        {
            "bi_rads": (422_065 - 961) // 2,
            "age": (266_903 - 961) // 2,
            "shape": (270_573 - 961) // 2,
            "margin": (251_817 - 961) // 2,
            "density": (767_757 - 961) // 2,
        },
        SEVERITIES,
        paper=1_979_115,
    ),
    Case(
        "mammography",
        961,
        {"bi_rads": 209457, "age": 132961, "shape": 131396, "margin": 118732, "density": 319900},
        SEVERITIES,
        options={"recipe": "plain"},
    ),
    Case(
        "cora",
        2708,
        {"citations": 5278},
        {
            "Theory": 351,
            "Reinforcement_Learning": 217,
            "Genetic_Algorithms": 418,
            "Neural_Networks": 818,
            "Probabilistic_Methods": 426,
            "Case_Based": 298,
            "Rule_Learning": 180,
        },
        features=1433,
    ),
    Case("acm3025", 3025, {"PAP": 13_128, "PLP": 1_103_868}, {0: 1061, 1: 965, 2: 999}, features=1870),
    Case(
        "dblp_heco",
        4057,
        {"APA": 3_528, "APCPA": 2_498_219, "APTPA": 3_519_757},
        {0: 1197, 1: 745, 2: 1109, 3: 1006},
        features=334,
    ),
    Case(
        "dblp_heco",
        4057,
        {"paper": 6_572, "venue": 3_225_446, "term": 7_611_879},
        {0: 1197, 1: 745, 2: 1109, 3: 1006},
        features=334,
        options={"view": "relations"},
    ),
    Case("acm_heco", 4019, {"PAP": 26_917, "PSP": 2_167_097}, {0: 1993, 1: 965, 2: 1061}, features=1902),
    Case(
        "acm_heco",
        4019,
        {"author": 30_847, "subject": 2_167_097},
        {0: 1993, 1: 965, 2: 1061},
        features=1902,
        options={"view": "relations"},
    ),
    Case(
        "multiple_features",
        2000,
        {
            "fourier": 14408,
            "profiles": 13996,
            "karhunen_loeve": 14265,
            "pixels": 14062,
            "zernike": 13994,
            "morphology": 12797,
        },
        dict.fromkeys(range(10), 200),
    ),
]
EMBEDDED = [
    Case(
        "balance_scale",
        625,
        dict.fromkeys(["left_weight", "left_distance", "right_weight", "right_distance"], 5 * 125 * 124 // 2),
        {"L": 288, "B": 49, "R": 288},
        paper=312_500,
    ),
    Case(
        "wine",
        178,
        {
            "alcohol": 3082,
            "malic_acid": 3089,
            "ash": 3090,
            "alcalinity_of_ash": 3166,
            "magnesium": 3119,
            "total_phenols": 3085,
            "flavanoids": 3082,
            "nonflavanoid_phenols": 3087,
            "proanthocyanins": 3082,
            "color_intensity": 3080,
            "hue": 3089,
            "od280_od315": 3082,
            "proline": 3080,
        },
        {"class_0": 59, "class_1": 71, "class_2": 48},
    ),
    Case(
        "digits",
        1797,
        {"upper left": 12068, "upper right": 12228, "lower left": 11995, "lower right": 11858},
        {0: 178, 1: 182, 2: 177, 3: 183, 4: 181, 5: 182, 6: 181, 7: 179, 8: 174, 9: 180},
    ),
    Case("synthetic", 1000, {"layer 1": 4930, "layer 2": 4956, "layer 3": 4969}, {0: 334, 1: 333, 2: 333}),
    Case("synthetic_table", 1000, {"column 1": 83337, "column 2": 83365, "column 3": 83324}, {0: 334, 1: 333, 2: 333}),
    Case("synthetic_coupled", 1000, {"first": 2419, "second": 2428}, {0: 334, 1: 334, 2: 332}),
    Case("synthetic_kinds", 1000, {"author": 16506, "venue": 16623}, {0: 334, 1: 333, 2: 333}),
]
# The user's own file: tests/datasets/recipes/test_countries.py makes one.
BROUGHT = ["reinnovation", "wordnet", "debian"]


def check_split(name: str, sizes: tuple[int, int, int], **options: int) -> None:
    """The published split has these sizes, and no node is in two parts of it."""
    split = datasets.official_split(name, **options)
    assert list(split) == ["train", "validation", "test"]
    assert tuple(len(part) for part in split.values()) == sizes
    together = np.concatenate(list(split.values()))
    assert np.unique(together).size == together.size
    nodes = datasets.info(name).nodes
    assert nodes is not None
    assert 0 <= together.min() <= together.max() < nodes
    assert all(part.dtype == np.int64 for part in split.values())


def check_complementary(name: str) -> None:
    """No layer alone settles the label, and a vote over all layers does better than over any one."""
    graph = datasets.load(name)
    one_hot = (graph.labels[:, None] == np.array(graph.classes, dtype=object)).astype(float)
    votes = [matrix @ one_hot for matrix in graph.to_scipy().values()]
    truth = one_hot.argmax(axis=1)
    alone = [(vote.argmax(axis=1) == truth).mean() for vote in votes]
    together = (np.sum(votes, axis=0).argmax(axis=1) == truth).mean()
    assert max(alone) < 0.9 < together
