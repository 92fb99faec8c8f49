import pytest

from gramme import datasets
from gramme.errors import DataError


def test_every_view_is_its_layers_features(gramme_data):
    graph = datasets.load("multiple_features", neighbours=3)
    widths = {name: matrix.shape[1] for name, matrix in graph.layer_features.items()}
    assert widths == {
        "fourier": 76,
        "profiles": 216,
        "karhunen_loeve": 64,
        "pixels": 240,
        "zernike": 47,
        "morphology": 6,
    }
    assert (graph.summary()["homophily"] > 0.6).all()
    with pytest.raises(DataError, match="neighbours must be a whole number"):
        datasets.load("multiple_features", neighbours=0)
