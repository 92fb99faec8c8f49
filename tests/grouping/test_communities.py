"""``gramme.groups``: finds planted groups whatever the order and names, says where there are none, refuses mistakes."""

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.grouping.planted import planted, random_graph

import gramme
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.grouping.communities import agreement, beyond_chance, learned_layer_weights, repeated, together
from gramme.grouping.layer_ties import ties_of
from gramme.grouping.layer_weights import TiedLayers


def test_planted_groups_are_found_beside_a_layer_of_noise():
    graph, group = planted()
    found = gramme.groups(graph)
    assert adjusted_rand_score(group, found.labels_) > 0.95
    assert found.count_ == 3
    assert found.has_groups_
    assert found.seed_agreement_ > 0.95
    assert found.layer_part_.sum() == pytest.approx(1)
    assert found.layer_part_["noise 2"] < 0.02
    assert found.stability_.between(0, 1).all()


def test_random_edges_have_no_groups():
    found = gramme.groups(random_graph())
    assert not found.has_groups_
    assert found.verdict.startswith("The data show no groups")


def test_independent_columns_have_no_groups_and_agreeing_ones_do():
    random = np.random.default_rng(0)
    apart = {f"c{k}": MembershipLayer.from_codes(random.integers(4, size=200)) for k in range(4)}
    assert not gramme.groups(MultilayerGraph(apart)).has_groups_
    group = random.integers(2, size=200)
    alike = {
        f"c{k}": MembershipLayer.from_codes(np.where(random.random(200) < 0.9, group, 1 - group)) for k in range(4)
    }
    found = gramme.groups(MultilayerGraph(alike))
    assert found.has_groups_
    assert adjusted_rand_score(group, found.labels_) > 0.8


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_as_many_groups_as_asked_for(count):
    graph, _ = planted(nodes=60)
    found = gramme.groups(graph, count=count, repeats=2)
    assert found.count_ == count


def test_the_order_of_nodes_and_layers_does_not_matter():
    names = [f"n{one:03d}" for one in range(120)]
    graph, _ = planted(names=names)
    order = np.random.default_rng(3).permutation(120)
    other = graph.subgraph([names[one] for one in order]).select_layers(list(graph.layers)[::-1])
    first, second = gramme.groups(graph), gramme.groups(other)
    assert adjusted_rand_score(first.labels_[order], second.labels_) == 1.0
    assert second.layer_weights_[list(graph.layers)].to_numpy() == pytest.approx(first.layer_weights_.to_numpy())


def test_the_same_seed_gives_the_same_result():
    graph, _ = planted(inside=0.12)
    one, other = gramme.groups(graph, random_state=5), gramme.groups(graph, random_state=5)
    assert (one.labels_ == other.labels_).all()
    assert one.stability_.equals(other.stability_)


def test_isolated_nodes_come_last_each_alone():
    layer = EdgeLayer(8, [0, 0, 1, 4, 4, 5], [1, 2, 2, 5, 6, 6])
    found = gramme.groups(MultilayerGraph({"talk": layer}), repeats=4)
    assert found.isolated_.tolist() == [False, False, False, True, False, False, False, True]
    assert found.count_ == 2
    assert found.labels_[3] != found.labels_[7]
    assert found.labels_[[3, 7]].min() == 2
    assert found.layer_labels_["talk"].isna().tolist() == found.isolated_.tolist()
    assert "2 nodes are joined to nobody" in found.verdict


def test_a_node_may_be_in_another_group_in_one_layer():
    random = np.random.default_rng(0)
    group = np.repeat([0, 1], 30)
    same = group[:, None] == group[None]
    layers = {}
    for name in ("work", "talk", "play"):
        mine = same.copy()
        if name == "play":  # node 0 plays with the others
            mine[0] = mine[:, 0] = ~same[0]
        source, target = np.nonzero(np.triu(mine & (random.random(same.shape) < 0.5), 1))
        layers[name] = EdgeLayer(60, source, target)
    found = gramme.groups(MultilayerGraph(layers), repeats=2)
    rows = found.layer_labels_.astype(int)
    assert rows.loc[0, "work"] == found.labels_[0]
    assert rows.loc[0, "play"] != found.labels_[0]
    assert (rows.loc[1:, "play"].to_numpy() == found.labels_[1:]).all()
    bound = gramme.groups(MultilayerGraph(layers), repeats=2, coupling=1.0)
    assert bound.layer_labels_.loc[0, "play"] == bound.labels_[0]


def test_weights_can_be_given():
    graph, group = planted(noise=1)
    alone = gramme.groups(graph, layer_weights={"layer 0": 1.0}, repeats=2)
    assert alone.layer_part_["layer 0"] == pytest.approx(1.0)
    equal = gramme.groups(graph, layer_weights="equal", repeats=2)
    assert adjusted_rand_score(group, equal.labels_) > 0.5
    assert learned_layer_weights(graph).index.tolist() == list(graph.layers)


def test_couplings_count_as_layers():
    graph = MultilayerGraph(
        {"a": EdgeLayer(6, [0, 1], [1, 2]), "b": EdgeLayer(6, [3, 4], [4, 5])}, couplings={("a", "b"): ([0], [1])}
    )
    assert list(gramme.groups(graph, repeats=2).layer_part_.index) == ["a", "b", "a~b"]


def test_strange_names():
    names = ["=1+1", "Ärger\n", "\u202eabc", "", "a,b", "🐟"]
    layer = EdgeLayer(6, [0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    found = gramme.groups(MultilayerGraph({"talk": layer}, nodes=names))
    assert found.stability_.index.tolist() == names


def test_leidenalg_finds_the_same():
    pytest.importorskip("leidenalg")
    graph, group = planted()
    found = gramme.groups(graph, engine="leidenalg", repeats=2)
    assert adjusted_rand_score(group, found.labels_) > 0.95


def test_leidenalg_is_not_imported_unless_asked_for():
    code = (
        "import sys, gramme; from gramme.graph import EdgeLayer;"
        "g = gramme.MultilayerGraph({'a': EdgeLayer(3, [0], [1])}); gramme.groups(g, repeats=2);"
        "sys.exit('leidenalg' in sys.modules or 'igraph' in sys.modules)"
    )
    source = str(Path(gramme.__file__).parents[1])
    ended = subprocess.run([sys.executable, "-c", code], check=False, env=os.environ | {"PYTHONPATH": source})
    assert ended.returncode == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"count": 0}, "count must be a whole number from 1"),
        ({"count": 1000}, "count is 1000, but the graph has 120 nodes"),
        ({"count": 2.5}, "count must be a whole number"),
        ({"resolution": 0.0}, "resolution must be a positive number"),
        ({"resolution": float("nan")}, "resolution must be a positive number"),
        ({"coupling": 2}, "coupling must be from 0 to 1"),
        ({"repeats": 1}, "repeats must be at least 2"),
        ({"engine": "louvain"}, "engine must be one of"),
        ({"layer_weights": "learned"}, "layer_weights must be"),
        ({"layer_weights": {"layer 9": 1.0}}, "names the layer 'layer 9'"),
        ({"layer_weights": {"layer 0": -1.0}}, "not negative"),
    ],
)
def test_mistakes(settings, message):
    graph, _ = planted()
    with pytest.raises(DataError, match=message):
        gramme.groups(graph, **settings)


def test_a_graph_without_edges_is_refused():
    with pytest.raises(DataError, match="finding groups needs some"):
        gramme.groups(MultilayerGraph({"a": EdgeLayer(3, [], [])}))


@pytest.mark.dataset
def test_the_school_class_divides_into_boys_and_girls(gramme_data):
    found = gramme.groups(gramme.datasets.load("vickers_chan"))
    assert found.overlap_["adjusted_rand"] == 1.0


def test_a_share_of_pairs_that_stay_together():
    random = np.random.default_rng(0)
    group = random.integers(3, size=12)
    others = [random.integers(4, size=12) for _ in range(3)]
    found = together(group, others)
    for node in range(12):
        mates = [one for one in range(12) if one != node and group[one] == group[node]]
        shares = [np.mean([other[one] == other[node] for one in mates]) for other in others]
        assert found[node] == pytest.approx(np.mean(shares))


def test_a_node_alone_is_stable_where_it_stays_alone():
    assert together(np.array([0, 1, 1]), [np.array([0, 1, 1])]).tolist() == [1, 1, 1]
    assert together(np.array([0, 1, 1]), [np.array([0, 0, 0])])[0] == 0


def test_agreement_of_equal_and_of_single_partitions():
    one = np.array([0, 0, 1, 1])
    assert agreement([one, 1 - one]) == 1.0
    assert agreement([one]) == 1.0


@pytest.mark.parametrize(
    ("quality", "chance", "expected"),
    [(0.5, [0.3, 0.31, 0.29], True), (0.31, [0.3, 0.31, 0.29], False), (0.305, [0.3, 0.3], False)],
)
def test_what_is_beyond_chance(quality, chance, expected):
    assert beyond_chance(quality, np.array(chance)) is expected


def test_repetitions_differ_only_where_data_are_resampled():
    graph, _ = planted(nodes=60, inside=0.5, noise=0)
    random = np.random.default_rng(0)
    ties = ties_of(graph, random)
    layers = TiedLayers.of(ties)
    seen = []

    def partition(given, weights, random):
        seen.append((given is layers, tuple(weights)))
        return given.partition(weights, random)

    by_seed, resampled = repeated(ties, layers, np.ones(2), partition, 7, random)
    assert (len(by_seed), len(resampled)) == (4, 3)
    assert seen[:4] == [(True, (1.0, 1.0))] * 4
    # ties, layers, ties
    assert [one[0] for one in seen[4:]] == [False, True, False]
    assert seen[5][1] != (1.0, 1.0)
    for one, other in combinations(by_seed, 2):
        assert agreement([one, other]) == 1.0
