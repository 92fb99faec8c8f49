"""CKM social: physicians of four cities, and whom they ask, talk with and call a friend."""

from __future__ import annotations

from gramme.datasets.authors_edges import REPOSITORY, read_edge_layers
from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths
from gramme.datasets.text_files import read_integers
from gramme.graph import MultilayerGraph

PHYSICIANS = 241
CITIES = 4
LAYERS = ("advice", "discussion", "friend")
EDGES = DataFile(
    folder="ckm_social",
    name="ckm_social.multilayer.edges",
    size=34670,
    sha256="723c98e712d0f8eaa8e70f357f8bc5b51c3ef7d2c9a82e9173cfb41b1f3fdc94",
    address=f"{REPOSITORY}/ckm_social/ckm_social.multilayer.edges",
)
CODES = DataFile(
    folder="ckm_social",
    name="ckm_social.multilayer.labels",
    size=482,
    sha256="19d2878ee0889089a446085ce9826db50873723bba707e47753c00ac0db44e6b",
    address=f"{REPOSITORY}/ckm_social/ckm_social.multilayer.labels",
)


def build(paths: Paths) -> MultilayerGraph:
    """Nominations as undirected edges; nodes are numbered 0 to 240 as in the file."""
    codes = read_integers(paths[CODES.name], range(CITIES), expected=PHYSICIANS)[:, 0]
    return MultilayerGraph(
        read_edge_layers(paths[EDGES.name], LAYERS, PHYSICIANS),
        labels=[f"city {code + 1}" for code in codes],
        name=INFO.name,
    )


INFO = DatasetInfo(
    name="ckm_social",
    title="CKM physicians, social relations",
    description="physicians of four cities: whom they ask for advice, discuss with, are friends of",
    nodes=PHYSICIANS,
    layers=3,
    classes=CITIES,
    recipe="the authors' form: 5 of 246 physicians without any edge left out, nominations made "
    "symmetric, repeated rows merged into one edge. Label: the city, numbered as in the source",
    citation="J. Coleman, E. Katz and H. Menzel, The Diffusion of an Innovation Among Physicians, "
    "Sociometry 20 (1957); multiplex version by M. De Domenico, "
    "https://manliodedomenico.com/data.php",
    licence='unknown; given "as is", no other terms seen',
    caveat="The paper's 3,825 edges count both directions, one self loop per node and layer, and "
    "362 repeated rows (where both physicians name each other). Kept, the repeats would weigh "
    "double in the attention; here an edge counts once. The three layers together have "
    "exactly four connected pieces, the four cities: one label in each settles all the others. Run as "
    "shipped with 10 % labels, the authors' code had its best test epoch at 89.9, 92.2, 71.9 and "
    "87.6 % for Fusion (seeds 0 to 3); the paper reports 98.66.",
    files=(EDGES, CODES),
)
DATASET = Dataset(INFO, build)
