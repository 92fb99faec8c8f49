from tests.datasets.cases import check_split

from gramme import datasets


def test_the_official_split(gramme_data):
    check_split("acm3025", (600, 300, 2125))


def test_layers_are_symmetric_and_have_no_loops(gramme_data):
    for matrix in datasets.load("acm3025").to_scipy().values():
        assert (matrix != matrix.T).nnz == 0
        assert not matrix.diagonal().any()
