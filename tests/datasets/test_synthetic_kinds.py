import pytest

from gramme import datasets
from gramme.errors import DataError


def test_authors_and_venues_follow_the_classes():
    graph = datasets.load("synthetic_kinds", nodes=3000, signal=1.0)
    assert graph.summary()["homophily"].tolist() == [1, 1]
    noise = datasets.load("synthetic_kinds", nodes=3000, signal=0.0)
    assert noise.summary()["homophily"]["author"] == pytest.approx(1 / 3, abs=0.03)


def test_sizes_are_as_asked_for():
    graph = datasets.load("synthetic_kinds", nodes=100, authors=50, venues=5, authorships=400)
    author = graph.layers["author"]
    assert author.num_groups <= 50
    assert author.num_memberships + author.duplicates_merged <= 400
    assert graph.layers["venue"].num_memberships == 100
    with pytest.raises(DataError, match="2 venues cannot hold 3 classes"):
        datasets.load("synthetic_kinds", venues=2)
