"""Cascades against exact probabilities and simulations by hand, and the choice of seeds against all choices."""

import itertools

import numpy as np
import pytest
from tests.ranking.families import florentine_families

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.ops.kernels import derived_seed
from gramme.ranking import influence
from gramme.ranking.influence import activate, reach_of_each, spreading_edges

SEED = derived_seed(0, 9)


def reached(edges, seeds, seed, worlds):
    """How many nodes a set of seeds reaches, itself included, in each of so many worlds."""
    active = np.zeros((worlds, edges.starts.size - 1), dtype=np.bool_)
    return sum(activate(edges, active, node, seed, True) for node in seeds)


def test_a_path_is_reached_as_often_as_the_products_of_its_probabilities_say():
    layers = {"path": EdgeLayer(4, [0, 1, 2], [1, 2, 3])}
    counts = reached(spreading_edges(layers, "cascade", 0.5), [0], SEED, 40_000)
    # 1 + 1/2 + 1/4 + 1/8
    assert counts.mean() == pytest.approx(1.875, abs=0.02)
    assert (counts == 4).mean() == pytest.approx(0.125, abs=0.01)


def test_two_layers_and_weights_are_chances_of_their_own():
    one, other = EdgeLayer(2, [0], [1], [2.0]), EdgeLayer(2, [0], [1])
    edges = spreading_edges({"a": one, "b": other}, "cascade", {"a": 0.3, "b": 0.4})
    counts = reached(edges, [0], SEED, 40_000)
    assert counts.mean() - 1 == pytest.approx(1 - 0.7**2 * 0.6, abs=0.01)


def test_news_goes_to_those_who_listen():
    layers = {"advice": EdgeLayer(2, [0], [1], directed=True)}
    edges = spreading_edges(layers, "cascade", 1.0)
    assert reached(edges, [1], SEED, 3).tolist() == [2, 2, 2]
    assert reached(edges, [0], SEED, 3).tolist() == [1, 1, 1]


def test_groups_spread_like_the_edges_they_imply():
    room = MembershipLayer.from_codes([0, 0, 0, 1, 1])
    for model in ("cascade", "threshold"):
        implied = spreading_edges({"room": room.to_edges()}, model, 0.4)
        counts = reached(spreading_edges({"room": room}, model, 0.4), [0], SEED, 50)
        assert counts.tolist() == reached(implied, [0], SEED, 50).tolist()


def by_hand(graph, seeds, probability, random):
    """An independent cascade as the paper tells it: whoever is new tries each neighbour once."""
    matrices = [layer.to_scipy().toarray() > 0 for layer in graph.layers.values()]
    active, new = set(seeds), list(seeds)
    while new:
        told = new.pop()
        for matrix in matrices:
            for other in np.flatnonzero(matrix[:, told]):
                if other not in active and random.random() < probability:
                    active.add(int(other))
                    new.append(int(other))
    return len(active)


def thresholds_by_hand(graph, seeds, random):
    """Linear thresholds as the paper tells them: join once the shares of those who have exceed a random number."""
    weights = sum(layer.to_scipy().toarray() for layer in graph.layers.values())
    shares = weights / weights.sum(axis=1, keepdims=True)
    threshold = random.random(graph.num_nodes)
    active = np.zeros(graph.num_nodes, dtype=bool)
    active[list(seeds)] = True
    while True:
        joined = active | (shares @ active >= threshold)
        if (joined == active).all():
            return int(active.sum())
        active = joined


@pytest.mark.parametrize("model", ["cascade", "threshold"])
def test_compiled_simulations_reach_as_far_as_ones_by_hand(model):
    graph = florentine_families()
    seeds = graph.positions(["Medici", "Strozzi"]).tolist()
    counts = reached(spreading_edges(graph.layers, model, 0.2), seeds, SEED, 4000)
    random = np.random.default_rng(5)
    expected = [
        by_hand(graph, seeds, 0.2, random) if model == "cascade" else thresholds_by_hand(graph, seeds, random)
        for _ in range(2000)
    ]
    noise = np.sqrt(np.var(expected) / 2000 + counts.var() / 4000)
    assert abs(counts.mean() - np.mean(expected)) < 4 * noise


def test_the_greedy_choice_is_near_the_best_pair():
    graph = florentine_families()
    table = influence(graph, 2, probability=0.2)
    edges = spreading_edges(graph.layers, "cascade", 0.2)
    best = max(reached(edges, pair, SEED, 500).mean() for pair in itertools.combinations(range(15), 2))
    assert table["reach"].iloc[1] > 0.9 * best
    assert table["node"].iloc[0] == "Medici"
    assert (table["reach_low"] <= table["reach"]).all()
    assert (table["reach_high"] >= table["reach"]).all()
    assert table["gain"].sum() == pytest.approx(table["reach"].iloc[-1])


def test_the_same_seed_gives_the_same_table_and_another_does_not():
    graph = florentine_families()
    one = influence(graph, 3, random_state=1)
    assert one.equals(influence(graph, 3, random_state=1))
    assert not one.equals(influence(graph, 3, random_state=2))


def test_lazy_evaluation_chooses_what_looking_at_all_would():
    graph = florentine_families()
    edges = spreading_edges(graph.layers, "cascade", 0.2)
    seed = derived_seed(0, 1)
    chosen: list[int] = []
    for _ in range(4):
        reach = [-1.0 if node in chosen else reached(edges, [*chosen, node], seed, 1000).mean() for node in range(15)]
        chosen.append(int(np.argmax(reach)))
    found = influence(graph, 4, probability=0.2)["node"].tolist()
    assert found == [graph.nodes[node] for node in chosen]


def test_what_cannot_be_spread_is_said():
    graph = florentine_families()
    with pytest.raises(DataError, match="from 1 to 15 seeds"):
        influence(graph, 16)
    with pytest.raises(DataError, match="'cascade' or 'threshold', not 'sir'"):
        influence(graph, 1, model="sir")
    with pytest.raises(DataError, match="probability for layer 'business' must be from 0 to 1"):
        influence(graph, 1, probability=1.5)
    crowd = MultilayerGraph({"all": MembershipLayer.from_codes(np.zeros(10_000, dtype=int))})
    with pytest.raises(DataError, match="choose layers with fewer or smaller groups"):
        influence(crowd, 1)


@pytest.mark.parametrize("model", ["cascade", "threshold"])
@pytest.mark.parametrize("probability", [0.02, 0.15, 0.6])
def test_all_nodes_in_one_search_per_world_reach_what_a_search_from_each_finds(model, probability):
    """Directed, sparse to dense: some nodes reach the pivot, some are below it, some neither."""
    random = np.random.default_rng(3)
    source, target = random.integers(0, 40, (2, 160))
    apart = source != target
    layers = {"talk": EdgeLayer(42, source[apart], target[apart], directed=True)}
    edges = spreading_edges(layers, model, probability)
    nodes, told = np.arange(42), []
    found = reach_of_each(edges, nodes, SEED, 60, lambda done, of: told.append((done, of)))
    each = [reached(edges, [node], SEED, 60).mean() for node in nodes]
    assert found.tolist() == each
    assert (found[40:] == 1).all(), "nobody listens to the last two"
    assert told[-1] == (60, 60)
    assert reach_of_each(edges, nodes[5:8], SEED, 60).tolist() == each[5:8]


def test_seeds_within_noise_are_not_ordered() -> None:
    # two stars of the same size, and one that is much smaller
    source = [0] * 40 + [41] * 40 + [82] * 5
    target = [*range(1, 41), *range(42, 82), *range(83, 88)]
    graph = MultilayerGraph({"talk": EdgeLayer(88, source, target)})
    chosen = influence(graph, 3, probability=0.5)
    assert set(chosen["node"][:2]) == {0, 41}
    assert chosen["order"].tolist() == [1, 1, 3]


def test_the_interval_of_the_reach_is_that_of_a_mean_over_worlds():
    graph = MultilayerGraph({"talk": EdgeLayer(2, [0], [1])})
    row = influence(graph, 1, probability=0.5, worlds=400, random_state=0).iloc[0]
    assert row["reach"] == pytest.approx(1.5, abs=0.1)
    half = 1.96 * 0.5 / np.sqrt(400)  # a coin has a deviation of 0.5
    assert row["reach_high"] - row["reach"] == pytest.approx(half, rel=0.05)
    assert row["reach"] - row["reach_low"] == pytest.approx(half, rel=0.05)
