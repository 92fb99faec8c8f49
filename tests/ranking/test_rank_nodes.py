"""The table of ranks: its columns, per layer, its spread, and what is not a ranking at all."""

import numpy as np
import pandas as pd
import pytest
from tests.graph.permuted import permuted
from tests.ranking.families import florentine_families

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.ranking import DEFAULT_MEASURES, influence, layer_influences, rank
from gramme.ranking.rank_nodes import coinciding_measures, leading_nodes, mean_ranks, middle_ranks, num_steps, thinned


def test_a_row_per_node_and_two_columns_per_measure():
    table = rank(florentine_families())
    assert list(table.index) == list(florentine_families().nodes)
    assert list(table.columns) == [name for measure in DEFAULT_MEASURES for name in (measure, f"{measure}_rank")]
    assert table.loc["Medici", "degree_rank"] == 1


def test_per_layer_columns_are_those_of_the_layer_alone():
    graph = florentine_families()
    table = rank(graph, ["degree", "pagerank"], per_layer=True)
    alone = rank(graph.select_layers(["business"]), ["degree", "pagerank"])
    assert (table["pagerank[business]"] == alone["pagerank"]).all()
    assert (table["degree[marriage]"] + table["degree[business]"] == table["degree"]).all()
    assert table.loc["Medici", "degree[marriage]_rank"] == 1


def test_the_spread_encloses_the_rank_and_is_the_same_every_time():
    graph = florentine_families()
    table = rank(graph, ["degree", "pagerank"], spread=True)
    for name in ("degree", "pagerank"):
        assert (table[f"{name}_rank_low"] <= table[f"{name}_rank"]).all()
        assert (table[f"{name}_rank_high"] >= table[f"{name}_rank"]).all()
        assert (table[f"{name}_rank_low"] < table[f"{name}_rank_high"]).any()
    assert table.equals(rank(graph, ["degree", "pagerank"], spread=True))
    assert table.loc["Medici", "degree_rank_high"] == 1, "nobody else comes near"


def test_the_order_and_names_of_nodes_do_not_matter():
    graph = florentine_families()
    turned = graph.subgraph(graph.nodes[::-1])
    names = ["degree", "pagerank", "eigenvector", "katz", "multirank", "k-shell"]
    one, other = rank(graph, names), rank(turned, names).loc[graph.nodes]
    np.testing.assert_allclose(one, other, atol=1e-7)


def test_a_walk_that_starts_at_a_node_ranks_it_first():
    table = rank(florentine_families(), ["pagerank"], restart=["Pazzi"])
    assert table["pagerank_rank"].idxmin() == "Pazzi"


def test_thinned_layers_lack_about_a_tenth_and_keep_their_nodes():
    random = np.random.default_rng(0)
    edges = EdgeLayer(500, np.arange(499), np.arange(1, 500), directed=True)
    members = MembershipLayer.from_codes(np.arange(500) % 7)
    for layer, count in ((edges, "num_edges"), (members, "num_memberships")):
        thin = thinned(layer, random)
        assert 0.84 < getattr(thin, count) / getattr(layer, count) < 0.96
        assert (thin.present == layer.present).all()
        assert thin.directed == layer.directed


def test_what_cannot_be_ranked_is_said():
    graph = florentine_families()
    with pytest.raises(DataError, match="no measure 'pagernak'; did you mean 'pagerank'"):
        rank(graph, ["pagernak"])
    with pytest.raises(DataError, match="there is no node 'Borgia'"):
        rank(graph, ["pagerank"], restart=["Borgia"])
    with pytest.raises(DataError, match="the layer 'empty' has no edges, so no node matters more than another"):
        rank(MultilayerGraph({"empty": EdgeLayer(3, [], [])}))
    with pytest.raises(DataError, match="coupling between layers must be at least 0"):
        rank(graph, ["pagerank"], coupling=-1)


def test_nodes_and_layers_in_another_order_rank_the_same():
    graph = florentine_families()
    other = permuted(graph, seed=2)
    expected = rank(graph, spread=True, per_layer=True)
    found = rank(other, spread=True, per_layer=True)
    assert list(found.index) == list(other.nodes)
    assert found.loc[expected.index, expected.columns].equals(expected)
    assert found.index[leading_nodes(found)].tolist() == expected.index[leading_nodes(expected)].tolist()
    influences = layer_influences(other)
    assert list(influences.index) == list(other.layers)
    assert influences.to_dict() == layer_influences(graph).to_dict()
    assert influence(other, 3, worlds=50).equals(influence(graph, 3, worlds=50))


def test_measures_that_coincide_count_once_in_the_mean_rank() -> None:
    random = np.random.default_rng(3)
    source, target = np.triu_indices(40, 1)
    linked = random.random(source.size) < 0.15
    graph = MultilayerGraph({"talk": EdgeLayer(40, source[linked], target[linked])})
    found = rank(graph)
    same = coinciding_measures(found)
    assert "strength" in same["degree"], "an undirected graph without weights"
    assert same["eigenvector"] == ["hub", "authority"]
    once = rank(graph, list(same))
    assert mean_ranks(found).tolist() == mean_ranks(once).tolist()
    weighted = graph.replace(
        layers={"talk": EdgeLayer(40, source[linked], target[linked], random.random(linked.sum()))}
    )
    assert "strength" in coinciding_measures(rank(weighted)), "with weights they differ"


def test_one_of_many_that_tie_is_not_first() -> None:
    table = pd.DataFrame({"k-shell_rank": [1, 1, 1, 1, 5]})
    assert middle_ranks(table, ["k-shell"]).ravel().tolist() == [2.5, 2.5, 2.5, 2.5, 5.0]


def test_negative_layers_are_left_out_and_said() -> None:
    like, dislike = EdgeLayer(4, [0, 0], [1, 2]), EdgeLayer(4, [1, 2, 0], [3, 3, 3])
    graph = MultilayerGraph({"like": like, "dislike": dislike})
    with pytest.warns(UserWarning, match="'dislike' is taken to hold negative edges"):
        found = rank(graph, ["degree"])
    assert found["degree"].tolist() == [2, 1, 1, 0]
    assert rank(graph, ["degree"], negative=[])["degree"].tolist() == [3, 2, 2, 3]
    assert rank(graph, ["degree"], negative="like")["degree"].tolist() == [1, 1, 1, 3]
    with pytest.raises(DataError, match="none is left"):
        rank(graph, negative=["like", "dislike"])
    with pytest.raises(DataError, match="blame"):
        rank(graph, negative=["blame"])
    alone = MultilayerGraph({"conflict": dislike})
    assert rank(alone, ["degree"])["degree"].tolist() == [1, 1, 1, 3], "nothing else to rank by"


def test_a_large_star_is_followed_over_fewer_samples():
    leaves = 260_000
    small, star = (
        MultilayerGraph({"star": EdgeLayer(count + 1, np.zeros(count, dtype=int), np.arange(1, count + 1))})
        for count in (50, leaves)
    )
    assert num_steps(small) == (0, 10)
    steps = []
    table = rank(star, ["degree", "katz"], spread=True, tell=lambda done, of: steps.append((done, of)))
    assert steps == [(done, 4) for done in range(1, 5)]
    assert table.loc[0, "katz_rank_high"] == 1
