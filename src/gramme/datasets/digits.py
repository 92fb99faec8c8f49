"""Digits: small images of handwritten digits, joined where a quarter of the image looks alike."""

from __future__ import annotations

from gramme.datasets.knn_edges import nearest_edges
from gramme.datasets.record import Dataset, DatasetInfo, Paths
from gramme.graph import EdgeLayer, Layer, MultilayerGraph

QUARTERS = {
    "upper left": (slice(0, 4), slice(0, 4)),
    "upper right": (slice(0, 4), slice(4, 8)),
    "lower left": (slice(4, 8), slice(0, 4)),
    "lower right": (slice(4, 8), slice(4, 8)),
}


def build(paths: Paths, *, neighbours: int = 10) -> MultilayerGraph:
    """One layer per quarter of the 8 x 8 image: an edge to the nearest images by its 16 pixels."""
    from sklearn.datasets import load_digits  # slow to import

    source = load_digits()
    count = len(source.images)
    layers: dict[str, Layer] = {}
    for name, (rows, columns) in QUARTERS.items():
        pixels = source.images[:, rows, columns].reshape(count, -1)
        layers[name] = EdgeLayer(count, *nearest_edges(pixels, neighbours))
    return MultilayerGraph(layers, labels=source.target, name=INFO.name)


INFO = DatasetInfo(
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
    caveat="Not in the paper. A quarter of an image leaves many digits open, so the layers need "
    "one another.",
    embedded=True,
    options={"neighbours": "nearest images each one is joined to in a layer (default: 10)"},
)
DATASET = Dataset(INFO, build)
