"""What layers tell by themselves: numbers against explicit neighbours, and words that follow from the numbers."""

import numpy as np
import pytest
from tests.report.page.graphs import HOSTILE, hostile_graph, section, two_blocks

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.report.page import layer_comparison as module
from gramme.report.page.layer_comparison import (
    alike_pairs,
    class_shares,
    layer_comparison,
    layer_similarity,
    speaking_layers,
)

stories_section = section("fit", "stories")


def similarity_told(layers, table):
    return section("fit", "similarity_told")(alike_pairs(layers, table))


def mixed_graph(count: int = 25) -> MultilayerGraph:
    random = np.random.default_rng(3)
    some = random.random(count) < 0.7
    member = random.integers(0, count, 60)
    return MultilayerGraph(
        {
            "vote": MembershipLayer.from_codes(np.where(some, random.integers(0, 3, count), -1)),
            "clubs": MembershipLayer(count, member, random.integers(0, 6, 60)),
            "often": MembershipLayer(count, member, random.integers(0, 5, 60), weight=random.uniform(0.1, 4, 60)),
            "friends": EdgeLayer(count, random.integers(0, count, 80), random.integers(0, count, 80)),
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


def codes_of(graph: MultilayerGraph) -> np.ndarray:
    return np.array([{"left": 1, "right": 2}.get(label, 0) for label in graph.labels])


@pytest.mark.parametrize("layer", ["answer", "clubs", "friends"])
def test_shares_of_a_class_equal_those_among_explicit_neighbours(layer: str) -> None:
    graph = two_blocks()
    codes = codes_of(graph)
    share, nodes = class_shares(graph.layers[layer], codes, 2)
    for number in (1, 2):
        found = []
        for node in np.flatnonzero(codes == number):
            others, weights = graph.layers[layer].neighbours(node)
            known = codes[others] > 0
            if known.any():
                same = codes[others] == number
                found.append(weights[same].sum() / weights[known].sum())
        assert share[number - 1] == pytest.approx(np.mean(found))
        assert nodes[number - 1] == len(found)


def test_layers_speak_for_a_class_only_clearly_above_chance() -> None:
    row = {
        "chance": 0.5,
        "layers": [
            {"layer": "weak", "share": 0.55, "nodes": 40},
            {"layer": "strong", "share": 0.8, "nodes": 40},
            {"layer": "strongest", "share": 0.9, "nodes": 40},
            {"layer": "few", "share": 1.0, "nodes": 2},
            {"layer": "against", "share": 0.1, "nodes": 400},
        ],
    }
    assert [layer["layer"] for layer in speaking_layers(row)] == ["strongest", "strong"]


def test_the_section_says_what_the_numbers_say() -> None:
    graph = two_blocks(labelled=60)
    noise = MembershipLayer.from_codes(np.random.default_rng(5).integers(0, 2, 60))
    graph = graph.replace(layers={**graph.layers, "noise": noise})
    order = ["answer", "noise", "friends", "clubs"]
    stories = layer_comparison(graph, order, codes_of(graph), ["left", "right"])
    assert stories["layers"] == order
    assert [row["class"] for row in stories["classes"]] == ["left", "right"]
    assert stories["classes"][0]["chance"] == pytest.approx(29 / 59)
    text = stories_section(stories)
    share = next(one for one in stories["classes"][0]["layers"] if one["layer"] == "answer")
    assert f"<bdi>answer</bdi> {100 * share['share']:.0f} %" in text
    assert "noise</bdi> " not in text.split("speak for which class")[1]
    value = stories["similarity"][0][3]
    assert f"{value:.2f}</td>" in text


def test_words_about_similarity_follow_the_table() -> None:
    table = [[1.0, 0.9, 0.6], [0.9, 1.0, None], [0.6, None, 1.0]]
    words = similarity_told(["a-b", "b", "c"], table)
    assert words == ("Much alike are <bdi>a-b</bdi> and <bdi>b</bdi> (0.90); <bdi>a-b</bdi> and <bdi>c</bdi> (0.60).")
    words = similarity_told(["a-b", "b"], [[1.0, -0.25], [-0.25, 1.0]])
    assert "even the most similar two, <bdi>a-b</bdi> and <bdi>b</bdi>" in words
    assert "of only −0.25" in words
    assert "No two layers can be compared" in similarity_told(["a", "b"], [[None] * 2] * 2)
    many = np.full((5, 5), 0.7).tolist()
    assert "and 6 more pairs." in similarity_told(list("abcde"), many)


def test_names_stay_text_and_hardly_anything_is_survived() -> None:
    graph = hostile_graph()
    codes = np.arange(18) % 2 + 1
    stories = layer_comparison(graph, list(graph.layers), codes, [HOSTILE[0], HOSTILE[2]])
    text = stories_section(stories)
    assert "<script" not in text
    assert "<img" not in text
    for layers, count in (({}, 0), ({"e": EdgeLayer(1, [], [])}, 1), ({"e": EdgeLayer(3, [], [])}, 3)):
        graph = MultilayerGraph(layers, num_nodes=count)
        stories = layer_comparison(graph, list(layers), np.ones(count, dtype=int), ["only"])
        assert "Which layers tell the same" not in stories_section(stories)
    assert stories_section(None) == "", "a page from before there were any"
    nobody = MultilayerGraph({"e": EdgeLayer(3, [], []), "f": EdgeLayer(3, [], [])})
    stories = layer_comparison(nobody, ["e", "f"], np.ones(3, dtype=int), ["only"])
    text = stories_section(stories)
    assert "No two layers can be compared" in text
    assert "correlations" not in text, "there is no number to explain"
