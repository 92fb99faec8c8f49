import time
import tracemalloc

import numpy as np
import pytest
from tests.sizes import sample

from gramme import datasets
from gramme.datasets import load
from gramme.errors import DataError
from gramme.graph import MembershipLayer


@pytest.mark.parametrize("groups", [3, 7, 30])
def test_a_column_of_full_signal_tells_the_class(groups):
    graph = datasets.load("synthetic_table", nodes=5000, groups=groups, signal=[1.0, 0.0])
    sure, _ = graph.layers.values()
    assert isinstance(sure, MembershipLayer)
    assert sure.num_groups == groups
    assert np.array_equal(sure.group_names[sure.codes()] % 3, graph.labels.astype(int))
    assert graph.summary()["homophily"].iloc[1] == pytest.approx(1 / 3, abs=0.01)


def test_a_table_needs_a_group_for_each_class():
    with pytest.raises(DataError, match="2 groups are too few for 3 classes"):
        datasets.load("synthetic_table", groups=2)


@pytest.mark.parametrize("name", ["synthetic", "synthetic_table"])
def test_the_same_seed_gives_the_same_graph(name):
    assert load(name, random_state=3) == load(name, random_state=3)
    assert load(name, random_state=3) != load(name, random_state=4)
    assert load(name, random_state=None) != load(name, random_state=None)


@pytest.mark.parametrize("name", ["synthetic", "synthetic_table"])
def test_more_layers_leave_the_first_ones_as_they_are(name):
    few = load(name, signal=[0.7, 0.2])
    many = load(name, signal=[0.7, 0.2, 0.9, 0.1])
    assert many.select_layers(list(few.layers)) == few


def test_homophily_follows_the_signal():
    graph = load("synthetic", nodes=20_000, classes=4, signal=[1.0, 0.6, 0.0])
    found = graph.summary()["homophily"].to_numpy()
    assert found == pytest.approx([1.0, 0.6 + 0.4 / 4, 0.25], abs=0.01)


def test_degree_and_classes():
    graph = load("synthetic", nodes=10_001, classes=4, layers=2, degree=6, signal=0.5)
    for layer in graph.layers.values():
        assert layer.degrees().mean() == pytest.approx(6, rel=0.01)
    counts = np.unique(graph.labels.astype(int), return_counts=True)[1]
    assert counts.max() - counts.min() <= 1


def test_layers_without_signals_take_the_default_ones_in_turn():
    assert load("synthetic", layers=4).num_layers == 4
    assert load("synthetic", signal=[0.1, 0.2]).num_layers == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": 0}, "nodes must be a whole number"),
        ({"nodes": 2.5}, "nodes must be a whole number"),
        ({"nodes": 5, "classes": 6, "degree": 1}, "5 nodes cannot hold 6 classes"),
        ({"layers": 2, "signal": [0.1]}, "1 signals were given for 2 layers"),
        ({"signal": [0.1, 1.5]}, "between 0 and 1, not 1.5"),
        ({"signal": float("nan")}, "between 0 and 1"),
        ({"degree": 1000}, "between 0 and nodes - 1 = 999"),
        ({"degree": float("nan")}, "degree must be"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(DataError, match=message):
        load("synthetic", **options)


@pytest.mark.parametrize("name", ["synthetic", "synthetic_table"])
def test_memory_grows_with_the_edges_not_with_nodes_squared(name):
    tracemalloc.start()
    try:
        load(name, nodes=100_000, layers=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6  # 10^5 squared would be 10 GB even at a byte per pair


@pytest.mark.slow
def test_ten_million_nodes():
    nodes = sample(10_000_000)
    begun = time.process_time()
    graph = load("synthetic", nodes=nodes, layers=1, degree=4)
    assert graph.num_edges == pytest.approx(2 * nodes, rel=0.001)
    assert time.process_time() - begun < 120


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
    assert datasets.load("synthetic_coupled", couplings=0).couplings["first", "second"].num_edges == 0
    assert datasets.load("synthetic_coupled") == datasets.load("synthetic_coupled")
    with pytest.raises(DataError, match="2 nodes in a network cannot hold 3 classes"):
        datasets.load("synthetic_coupled", nodes=4)


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
