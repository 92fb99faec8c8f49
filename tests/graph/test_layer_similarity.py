"""How alike layers are, against the correlation over explicit pairs of nodes."""

import numpy as np
import pytest

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph import layer_similarity as module
from gramme.graph.layer_similarity import layer_similarity


def mixed_graph(count: int = 25) -> MultilayerGraph:
    random = np.random.default_rng(3)
    some = random.random(count) < 0.7
    member = random.integers(0, count, 60)
    return MultilayerGraph(
        {
            "vote": MembershipLayer.from_codes(np.where(some, random.integers(0, 3, count), -1)),
            "clubs": MembershipLayer(count, member, random.integers(0, 6, 60)),
            "often": MembershipLayer(
                count, member, random.integers(0, 5, 60), weight=random.uniform(0.1, 4, 60)
            ),
            "friends": EdgeLayer(
                count, random.integers(0, count, 80), random.integers(0, count, 80)
            ),
            "asks": EdgeLayer(
                count,
                random.integers(0, count, 90),
                random.integers(0, count, 90),
                random.uniform(0.5, 2, 90),
                directed=True,
            ),
        }
    )


def test_it_equals_the_correlation_over_explicit_pairs() -> None:
    graph = mixed_graph()
    off = ~np.eye(25, dtype=bool)
    pairs = [layer.to_scipy().toarray()[off] for layer in graph.layers.values()]
    found = layer_similarity(graph)
    assert found.nodes == 25
    assert found.table.to_numpy() == pytest.approx(np.corrcoef(pairs))
    assert list(found.table.index) == list(found.table.columns) == list(graph.layers)


def test_layers_are_taken_in_the_order_asked_for() -> None:
    graph = mixed_graph()
    whole = layer_similarity(graph).table
    part = layer_similarity(graph, ["asks", "vote"]).table
    assert part.to_numpy() == pytest.approx(whole.loc[["asks", "vote"], ["asks", "vote"]])


def test_groups_and_their_edges_tell_the_same_story() -> None:
    layer = MembershipLayer.from_codes([0, 0, 0, 1, 1, 2, -1])
    graph = MultilayerGraph({"groups": layer, "edges": layer.to_edges()})
    assert layer_similarity(graph).table.to_numpy() == pytest.approx(np.ones((2, 2)))


def test_a_layer_without_differences_is_like_nothing() -> None:
    layers = {
        "none": EdgeLayer(5, [], []),
        "all": MembershipLayer.from_codes([0] * 5),
        "some": MembershipLayer.from_codes([0, 0, 1, 1, 1]),
    }
    table = layer_similarity(MultilayerGraph(layers)).table
    assert table.isna().to_numpy().sum() == 8
    assert table.loc["some", "some"] == pytest.approx(1)
    assert layer_similarity(MultilayerGraph({}, num_nodes=0)).table.empty
    assert layer_similarity(MultilayerGraph({"a": EdgeLayer(1, [], [])})).table.isna().all().all()


def test_extreme_weights_do_not_spoil_it() -> None:
    huge = MembershipLayer(4, [0, 1, 2, 3], [0, 0, 1, 1], weight=[1e200] * 4)
    tiny = EdgeLayer(4, [0, 2], [1, 3], [1e-200, 1e-200])
    table = layer_similarity(MultilayerGraph({"huge": huge, "tiny": tiny})).table
    assert table.to_numpy() == pytest.approx(np.ones((2, 2)))


def test_of_much_work_a_sample_of_nodes_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    codes = random.integers(0, 4, 1500)
    near = np.where(random.random(1500) < 0.7, codes, random.integers(0, 4, 1500))
    layers = {"a": MembershipLayer.from_codes(codes), "b": MembershipLayer.from_codes(near)}
    graph = MultilayerGraph(layers)
    exact = layer_similarity(graph)
    monkeypatch.setattr(module, "MAX_PRODUCTS", 2400)
    sampled = layer_similarity(graph)
    assert exact.nodes == 1500
    assert sampled.nodes == 600
    assert sampled.table.loc["a", "b"] == pytest.approx(exact.table.loc["a", "b"], abs=0.08)
