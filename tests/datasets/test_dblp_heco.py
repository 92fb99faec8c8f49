import numpy as np
import pytest
from tests.datasets.cases import check_split

from gramme import datasets
from gramme.errors import DataError


@pytest.mark.parametrize("per_class", [20, 40, 60])
def test_the_official_splits(gramme_data, per_class):
    check_split("dblp_heco", (4 * per_class, 1000, 1000), per_class=per_class)


def test_training_nodes_are_equally_many_of_each_class(gramme_data):
    train = datasets.official_split("dblp_heco")["train"]
    labels = datasets.load("dblp_heco", view="relations").labels[train].astype(int)
    assert np.bincount(labels).tolist() == [20] * 4


def test_another_number_per_class(gramme_data):
    with pytest.raises(DataError, match="20, 40 or 60, not 30"):
        datasets.official_split("dblp_heco", per_class=30)
