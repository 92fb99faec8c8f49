"""Congress votes: 435 members of the US House of 1984, joined where they voted alike."""

from __future__ import annotations

from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths
from gramme.datasets.text_files import one_of, read_cells
from gramme.graph import Layer, MembershipLayer, MultilayerGraph

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
TABLE = DataFile(
    folder="congress_votes",
    name="house-votes-84.data",
    size=18171,
    sha256="c87c14110a5ba91d4a1e313ec7392824458152bf071fa5f5452340488337936e",
    address="https://archive.ics.uci.edu/ml/machine-learning-databases/voting-records/"
    "house-votes-84.data",
)


def build(paths: Paths) -> MultilayerGraph:
    """One membership layer per vote with the groups y and n; who did neither is absent from it."""
    parsers = [one_of(PARTIES), *[one_of(ANSWERS)] * len(VOTES)]
    party, *votes = read_cells(paths[TABLE.name], parsers, expected=MEMBERS)
    layers: dict[str, Layer] = {
        name: MembershipLayer.from_values(values) for name, values in zip(VOTES, votes, strict=True)
    }
    return MultilayerGraph(layers, labels=party, name=INFO.name)


def build_leaky(paths: Paths) -> MultilayerGraph:
    """The party itself as a layer, and the first three votes."""
    honest = build(paths)
    assert honest.labels is not None
    layers: dict[str, Layer] = {"party": MembershipLayer.from_values(honest.labels)}
    layers |= {name: honest.layers[name] for name in VOTES[:LEAKED_VOTES]}
    return honest.replace(layers=layers, name=LEAKY_INFO.name)


_CITATION = (
    "J. C. Schlimmer, Concept acquisition through representational adjustment, 1987; "
    "Congressional Voting Records, UCI Machine Learning Repository, doi:10.24432/C5C01P"
)
_LICENCE = "CC BY 4.0 as catalogues state it"

INFO = DatasetInfo(
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
    caveat="The paper's 358,338 edges and its 100 % at 10 % labels cannot be had from the 16 votes: "
    "they give 1,404,798 edges (both directions, self loops where voted), and logistic regression "
    "on the one-hot votes reaches about 94 %. Party among the layers would explain both, see "
    "congress_votes_leaky; that is likely, not proven.",
    files=(TABLE,),
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
    files=(TABLE,),
)
DATASET = Dataset(INFO, build)
LEAKY = Dataset(LEAKY_INFO, build_leaky)
