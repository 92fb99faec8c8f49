"""Counts of links among candidates: ranks of edges set aside, rates, intervals."""

import numpy as np
import pytest

from gramme import DataError, EdgeLayer, GrammeLinks, MultilayerGraph
from gramme.links.expected import ExpectedLinks, FoundRanks, LinkRates, expected_in_all, missing_links


def made_rates(missing=200, candidates=5000, seed=0):
    """Rates of candidates whose scores are known in truth, those scores, and which of them are links."""
    random = np.random.default_rng(seed)
    linked = np.arange(candidates) < missing
    odds = random.normal(np.where(linked, 2.5, 0.0), 1.0)
    again = random.normal(2.5, 1.0, 4 * missing)  # edges set aside look like those that are missing
    scores, aside = 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(-again))
    rates = LinkRates.of(FoundRanks.of_scores(aside, scores), scores, missing, 50_000)
    return rates, scores, linked


def test_expected_counts_are_those_found_at_each_depth():
    inside = 0
    for seed in range(40):
        rates, scores, linked = made_rates(seed=seed)
        order = np.argsort(-scores)
        for depth in (20, 100, 500):
            stated = rates.expected(rates.probability(scores[order[:depth]]))
            inside += stated.low <= linked[order[:depth]].sum() <= stated.high
            assert stated.shown == depth
            assert stated.low <= stated.count <= stated.high
    assert inside >= 0.9 * 120


def test_probabilities_are_the_share_of_links_among_pairs_of_that_probability():
    told, truth = [], []
    for seed in range(20):
        rates, scores, linked = made_rates(seed=100 + seed)
        told.append(rates.probability(scores))
        truth.append(linked)
    told, truth = np.concatenate(told), np.concatenate(truth)
    for low, high in ((0.05, 0.2), (0.2, 0.5), (0.5, 0.9)):
        some = (told >= low) & (told < high)
        assert some.sum() > 100
        assert abs(told[some].mean() - truth[some].mean()) < 0.06


def test_probabilities_keep_the_order_of_scores():
    rates, scores, _ = made_rates()
    order = np.argsort(scores)
    assert (np.diff(rates.probability(scores[order])) > 0).all()
    extreme = rates.probability(np.array([0.0, 1e-12, 1.0]))
    assert (extreme > 0).all()
    assert (extreme < 1).all()


def test_twice_as_many_missing_links_are_twice_as_many_expected_at_the_bottom_of_a_list():
    random = np.random.default_rng(0)
    scores = random.random(10_000)
    ranks = FoundRanks.of_scores(random.random(400), scores)  # scores that say nothing
    few, many = (LinkRates.of(ranks, scores, missing, 20_000) for missing in (100, 200))
    counts = [one.expected(one.probability(scores)).count for one in (few, many)]
    assert counts[1] == pytest.approx(2 * counts[0], rel=0.1)
    assert counts[0] == pytest.approx(100, rel=0.15)


def test_no_list_has_more_links_than_pairs():
    scores = np.linspace(0.1, 0.9, 50)
    ranks = FoundRanks(np.ones(1000), 1000)  # all edges set aside stand before every other pair
    rates = LinkRates.of(ranks, scores, 250.0, 1000)
    stated = rates.expected(rates.probability(scores[-3:]))
    assert stated.count <= 3
    assert stated.high == 3


def test_without_candidates_nothing_is_expected():
    rates = LinkRates.of(FoundRanks(np.zeros(0), 0), np.zeros(0), 1.0, 0)
    assert rates.expected(np.zeros(0)) == ExpectedLinks(0.0, 0, 0, 0)
    assert 0 < rates.probability(np.array([0.5]))[0] < 1


def test_counts_in_words():
    assert str(ExpectedLinks(0.02, 0, 0, 5)) == "of these 5 pairs expect about none (0) to be links"
    assert str(ExpectedLinks(0.3, 0, 1, 1)) == "this pair is a link with a probability of about 30 %"
    assert expected_in_all([ExpectedLinks(3.0, 3, 3, 3)] * 2).high == 6


def test_missing_links_are_no_more_than_there_is_room_for():
    assert missing_links(100, 0.5, 10**6) == 100
    assert missing_links(100, 0.5, 7) == 7


@pytest.fixture(scope="module")
def hidden_graph():
    """Two layers of four groups, and the fifth of the first layer that is hidden."""
    random = np.random.default_rng(5)
    nodes = 80
    group = np.arange(nodes) % 4
    source, target = np.triu_indices(nodes, 1)
    chance = np.where(group[source] == group[target], 0.35, 0.02)
    layers = {}
    for name in ("talk", "mail"):
        linked = random.random(len(source)) < chance
        layers[name] = EdgeLayer(nodes, source[linked], target[linked])
    kept = random.random(layers["talk"].num_edges) >= 0.2
    talk = layers["talk"]
    gone = set(zip(talk.source[~kept].tolist(), talk.target[~kept].tolist(), strict=True))
    return MultilayerGraph({**layers, "talk": talk.with_entries(kept)}), gone


def test_links_that_were_hidden_are_as_many_as_expected(hidden_graph):
    graph, gone = hidden_graph
    model = GrammeLinks(random_state=0).fit(graph, layers=["talk"])
    for top in (50, 200):
        listed = model.candidates("talk", top)
        pairs = zip(listed["source"], listed["target"], strict=True)
        found = sum((a, b) in gone or (b, a) in gone for a, b in pairs)
        stated = model.expected("talk", top)
        assert stated.low <= found <= stated.high
        assert stated.count == pytest.approx(listed["probability"].sum())
        assert stated.high < 0.8 * top, "a list of mostly unlinked pairs is not praised"
    with pytest.raises(DataError, match="top must be at least 1"):
        model.expected("talk", 0)


def test_the_share_that_is_missing_is_the_users_to_say(hidden_graph):
    graph, _ = hidden_graph
    few, many = (GrammeLinks(random_state=0, missing_share=share).fit(graph, layers=["talk"]) for share in (0.05, 0.3))
    assert few.expected("talk", 200).count < 0.4 * many.expected("talk", 200).count
    assert "5 % of a layer's links" in few.explanation_
    with pytest.raises(DataError, match="missing_share"):
        GrammeLinks(missing_share=1.0).fit(graph)


def test_saved_models_give_the_same_chances(hidden_graph, tmp_path):
    graph, _ = hidden_graph
    model = GrammeLinks(random_state=0).fit(graph, layers=["talk"])
    model.save(tmp_path / "links.safetensors")
    again = GrammeLinks.load(tmp_path / "links.safetensors")
    assert again.expected("talk", 30) == model.expected("talk", 30)
    pairs = [(0, 5), (3, 40)]
    assert (again.predict_proba("talk", pairs) == model.predict_proba("talk", pairs)).all()
    scores = model.balanced_scores("talk", pairs)
    assert (np.argsort(scores) == np.argsort(model.predict_proba("talk", pairs))).all()


def test_given_examples_tell_the_rate_too(hidden_graph):
    graph, gone = hidden_graph
    random = np.random.default_rng(0)
    known = graph.layers["talk"].to_scipy().toarray()
    unlinked = [(a, b) for a, b in random.integers(0, 80, (300, 2)) if a != b and not known[a, b]]
    pairs = [*sorted(gone), *unlinked]
    answers = [True] * len(gone) + [False] * len(unlinked)
    model = GrammeLinks(random_state=0).fit(graph, {"talk": (pairs, answers)}, layers=["talk"])
    stated = model.expected("talk", 100)
    assert 0 < stated.low <= stated.count <= stated.high < 100
