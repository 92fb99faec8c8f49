"""Multiple Features: 2,000 handwritten digits, each seen in six ways; a graph of modalities."""

from __future__ import annotations

from gramme.datasets.npz_graph import read_arrays
from gramme.datasets.options import positive_int
from gramme.datasets.record import DataFile, Dataset, DatasetInfo, Paths
from gramme.errors import FileFormatError
from gramme.graph import MultilayerGraph

ARCHIVE = DataFile(
    folder="multiple_features",
    name="views.npz",
    size=2188540,
    sha256="280ffcb92dcc5dd4fceec920bcebf4e78db491c35c803f3dca74de986afbda27",
)
VIEWS = {
    "fou": "fourier",
    "fac": "profiles",
    "kar": "karhunen_loeve",
    "pix": "pixels",
    "zer": "zernike",
    "mor": "morphology",
}


def build(paths: Paths, *, neighbours: int = 10) -> MultilayerGraph:
    """A nearest-neighbour layer per view, each with its own features."""
    neighbours = positive_int(neighbours, "neighbours")
    path = paths[ARCHIVE.name]
    arrays = read_arrays(path)
    try:
        views = {name: arrays[stored] for stored, name in VIEWS.items()}
        labels = arrays["labels"]
    except KeyError as error:
        raise FileFormatError(f"the array {error} is missing", file=path) from error
    return MultilayerGraph.from_views(views, k=neighbours, labels=labels, name=INFO.name)


INFO = DatasetInfo(
    name="multiple_features",
    title="Multiple Features",
    description="2000 handwritten digits in six views: pixels, Fourier, Zernike and others",
    nodes=2000,
    layers=6,
    classes=10,
    recipe="one nearest-neighbour layer per view (10 neighbours, columns standardised), the view "
    "as the layer's own features. Label: the digit",
    citation="R. Duin, Multiple Features, UCI Machine Learning Repository, data set 72, 1998",
    licence="CC BY 4.0, as far as known",
    caveat="Not in the paper. views.npz is a converted file that nobody serves: it must come from a "
    "data folder.",
    files=(ARCHIVE,),
    options={"neighbours": "how many nearest nodes a node is joined to (default: 10)"},
)
DATASET = Dataset(INFO, build)
