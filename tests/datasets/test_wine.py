import pytest
from tests.datasets.cases import check_complementary

from gramme import datasets
from gramme.errors import DataError
from gramme.graph import MembershipLayer


def test_the_layers_complement_each_other():
    check_complementary("wine")


@pytest.mark.parametrize("bins", [1, 2, 100])
def test_any_number_of_bins(bins):
    graph = datasets.load("wine", bins=bins)
    assert graph.num_layers == 13
    for layer in graph.layers.values():
        assert isinstance(layer, MembershipLayer)
        assert layer.num_groups <= bins
        assert layer.holds_all_nodes


def test_no_bins_make_no_sense():
    with pytest.raises(DataError, match="bins"):
        datasets.load("wine", bins=0)
