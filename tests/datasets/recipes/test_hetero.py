import numpy as np
import pytest
from tests.datasets.cases import check_split

from gramme import datasets
from gramme.errors import DataError


@pytest.mark.parametrize(
    ("name", "meta_paths"),
    [("dblp_heco", {"paper": "APA", "venue": "APCPA"}), ("acm_heco", {"author": "PAP", "subject": "PSP"})],
)
def test_the_relations_imply_the_stored_edges(gramme_data, name, meta_paths):
    relations, edges = datasets.load(name, view="relations"), datasets.load(name)
    assert relations.labels.tolist() == edges.labels.tolist()
    for layer, meta_path in meta_paths.items():
        implied, stored = relations.layers[layer].to_edges(), edges.layers[meta_path]
        assert np.array_equal(implied.source, stored.source)
        assert np.array_equal(implied.target, stored.target)


def test_another_view(gramme_data):
    with pytest.raises(DataError, match="view must be 'edges' or 'relations', not 'both'"):
        datasets.load("acm_heco", view="both")


def test_the_official_split(gramme_data):
    check_split("acm3025", (600, 300, 2125))


def test_layers_are_symmetric_and_have_no_loops(gramme_data):
    for matrix in datasets.load("acm3025").to_scipy().values():
        assert (matrix != matrix.T).nnz == 0
        assert not matrix.diagonal().any()


@pytest.mark.parametrize("per_class", [20, 40, 60])
def test_the_official_splits(gramme_data, per_class):
    check_split("acm_heco", (3 * per_class, 1000, 1000), per_class=per_class)


@pytest.mark.parametrize("per_class", [20, 40, 60])
def test_dblp_heco_the_official_splits(gramme_data, per_class):
    check_split("dblp_heco", (4 * per_class, 1000, 1000), per_class=per_class)


def test_training_nodes_are_equally_many_of_each_class(gramme_data):
    train = datasets.official_split("dblp_heco")["train"]
    labels = datasets.load("dblp_heco", view="relations").labels[train].astype(int)
    assert np.bincount(labels).tolist() == [20] * 4


def test_another_number_per_class(gramme_data):
    with pytest.raises(DataError, match="20, 40 or 60, not 30"):
        datasets.official_split("dblp_heco", per_class=30)


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
