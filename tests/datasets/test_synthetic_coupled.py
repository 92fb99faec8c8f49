import pytest

from gramme import datasets
from gramme.errors import DataError


def test_only_the_couplings_tell_the_classes_of_the_second_network():
    graph = datasets.load("synthetic_coupled", nodes=4000, classes=4, signal=[0.9, 0.0])
    homophily = graph.summary()["homophily"]
    assert homophily["first"] > 0.85
    assert homophily["second"] == pytest.approx(0.25, abs=0.02)
    assert homophily["first~second"] == 1
    first, second = (layer.present for layer in graph.layers.values())
    assert not (first & second).any()
    assert (first | second).all()
    noise = datasets.load("synthetic_coupled", coupling_signal=0.0)
    assert noise.summary()["homophily"]["first~second"] == pytest.approx(1 / 3, abs=0.05)


def test_it_may_have_no_couplings_and_is_the_same_again():
    assert (
        datasets.load("synthetic_coupled", couplings=0).couplings["first", "second"].num_edges == 0
    )
    assert datasets.load("synthetic_coupled") == datasets.load("synthetic_coupled")
    with pytest.raises(DataError, match="2 nodes in a network cannot hold 3 classes"):
        datasets.load("synthetic_coupled", nodes=4)
