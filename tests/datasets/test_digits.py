import pytest
from tests.datasets.cases import check_complementary

from gramme import datasets
from gramme.errors import DataError


def test_the_layers_complement_each_other():
    check_complementary("digits")


def test_every_image_has_its_neighbours_in_each_quarter():
    for layer in datasets.load("digits", neighbours=3).layers.values():
        assert layer.degrees().min() >= 3


def test_no_neighbours_make_no_sense():
    with pytest.raises(DataError, match="neighbours"):
        datasets.load("digits", neighbours=0)
