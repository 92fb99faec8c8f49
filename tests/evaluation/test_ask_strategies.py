"""Ways to choose whom to label: what each must give, and that none sees labels it did not ask for."""

import numpy as np
import pytest
from tests.grouping.planted import planted

from gramme.errors import DataError
from gramme.evaluation.ask_strategies import ASK_STRATEGIES, LabelRequest, ask_strategy


def request(graph, group, *, pool=None, count=6, seen=None) -> LabelRequest:
    def answer(nodes):
        if seen is not None:
            seen.append(np.array(nodes))
        return group[nodes]

    pool = np.arange(0, graph.num_nodes, 2) if pool is None else pool
    return LabelRequest(graph, pool, count, 3, answer, np.random.default_rng(0), 0)


@pytest.mark.parametrize("name", ASK_STRATEGIES)
def test_as_many_distinct_nodes_of_the_pool_as_asked_for(name):
    graph, group = planted(nodes=60)
    asked = request(graph, group)
    chosen = ask_strategy(name).choose(asked)
    assert chosen.size == np.unique(chosen).size == 6
    assert np.isin(chosen, asked.pool).all()


@pytest.mark.parametrize("name", [name for name in ASK_STRATEGIES if name != "balanced"])
def test_no_label_is_seen_of_a_node_that_was_not_chosen(name):
    graph, group = planted(nodes=60)
    seen: list[np.ndarray] = []
    chosen = ask_strategy(name).choose(request(graph, group, seen=seen))
    assert not seen or np.isin(np.concatenate(seen), chosen).all()


def test_balanced_has_equally_many_of_each_class():
    graph, group = planted(nodes=60)
    chosen = ask_strategy("balanced").choose(request(graph, group))
    assert np.bincount(group[chosen]).tolist() == [2, 2, 2]


def test_v_optimal_is_greedy_on_the_sum_of_variances():
    graph, group = planted(nodes=24)
    from gramme.evaluation.ask_strategies import NOISE, REGULARISER, mean_step

    covariance = np.linalg.inv((1 + REGULARISER) * np.eye(24) - mean_step(graph))

    def risk(chosen):
        if not chosen:
            return np.trace(covariance)
        inside = covariance[np.ix_(chosen, chosen)] + NOISE * np.eye(len(chosen))
        across = covariance[:, chosen]
        return np.trace(covariance - across @ np.linalg.inv(inside) @ across.T)

    chosen: list[int] = []
    for _ in range(3):
        left = [one for one in range(0, 24, 2) if one not in chosen]
        chosen.append(min(left, key=lambda one: risk([*chosen, one])))
    found = ask_strategy("v-optimal").choose(request(graph, group, count=3))
    assert found.tolist() == chosen


def test_an_unknown_way_is_refused():
    with pytest.raises(DataError, match="there is no way 'covers' to ask"):
        ask_strategy("covers")
