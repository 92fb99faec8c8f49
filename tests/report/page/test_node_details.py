"""Which groups mattered: those through which most of the log-odds came, for the class that they speak for."""

import base64
from typing import Any

import numpy as np
import pytest
from tests.report.page.graphs import HOSTILE, hostile_graph, section, two_blocks, unpacked

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import GrammeFusion, LabelPropagation, OneHotLogistic
from gramme.methods.explain import reasons
from gramme.report.page import node_details as neighbours
from gramme.report.page import node_details as page_why
from gramme.report.page.html import pack_integers
from gramme.report.page.node_details import (
    HELD_OUT,
    LEARNED,
    UNLABELLED,
    NodeTable,
    leading_groups,
    neighbourhoods,
    node_table,
    packed_sets,
    why,
)


@pytest.fixture(scope="module")
def graph() -> MultilayerGraph:
    return two_blocks()


@pytest.fixture(scope="module")
def known(graph: MultilayerGraph) -> np.ndarray:
    """The labels but for two that are held out."""
    labels = graph.labels.copy()
    labels[[3, 4]] = None
    return labels


@pytest.fixture(scope="module")
def model(graph, known) -> LabelPropagation:
    return LabelPropagation().fit(graph, known)


def test_each_node_has_what_the_model_says(model, graph, known) -> None:
    table = node_table(model, graph, known, None)
    labels = np.array(["", *table.labels])
    assert labels[table.predicted].tolist() == model.predict().tolist()
    assert np.allclose(table.probability, model.predict_proba().max(axis=1))
    assert labels[table.label[:24]].tolist() == graph.labels[:24].tolist()
    assert table.use[[0, 3, 30]].tolist() == [LEARNED, HELD_OUT, UNLABELLED]
    assert not table.judged.any(), "the model that learned from a label is not a judge of it"
    assert not table.doubtful.any()


def test_a_label_that_models_without_it_contradict_is_in_doubt(model, graph, known) -> None:
    predictions = {
        name: {"predicted": label, "probability": 0.9, "own": 0.9, "suggested": None}
        for name, label in zip(graph.nodes[:24], graph.labels[:24], strict=True)
    }
    other = {"left": "right", "right": "left"}[graph.labels[5]]
    predictions["node 5"] |= {"predicted": other, "probability": 0.6, "own": 0.4}
    assert not node_table(model, graph, known, predictions).doubtful.any()
    predictions["node 5"] |= {"probability": 0.98, "own": 0.02, "suggested": other}
    table = node_table(model, graph, known, predictions)
    assert np.flatnonzero(table.doubtful).tolist() == [5]
    assert table.labels[table.judged[5] - 1] == other
    assert (table.judged_probability[5], table.own[5]) == (0.98, 0.02)


def test_a_label_outside_the_classes_is_kept(model, graph, known) -> None:
    other = graph.replace(labels=[*graph.labels[:59], "centre"])
    table = node_table(model, other, known, None)
    assert table.labels == ["left", "right", "centre"]
    assert table.labels[table.label[59] - 1] == "centre"


def test_distinct_sets_are_named_once() -> None:
    sets = np.array([[True, False], [True, True], [True, False]])
    found = packed_sets(sets, ["left", "right"])
    assert found["names"] == ["left", "left or right"]
    assert found["of"] == pack_integers(np.array([0, 1, 0]))


def test_a_sample_holds_the_least_certain_and_the_doubtful() -> None:
    count = 5000
    random = np.random.default_rng(0)
    ones = np.ones(count, dtype=np.int64)
    doubtful = np.arange(count) % 100 == 0
    table = NodeTable(
        [str(k) for k in range(count)], ["a", "b"], ones, ones, ones, random.random(count),
        ones, random.random(count), random.random(count), doubtful,
    )  # fmt: skip
    chosen = table.chosen(1000)
    assert chosen.size == np.unique(chosen).size == 1000
    assert set(np.argsort(table.probability)[:250]) <= set(chosen.tolist())
    assert set(range(0, count, 100)) <= set(chosen.tolist())
    assert np.array_equal(chosen, table.chosen(1000))
    assert table.chosen(count).tolist() == list(range(count))


TYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "f32": "<f4"}


def unpack(packed: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed["data"]), dtype=TYPES[packed["type"]])


@pytest.fixture(scope="module")
def model_neighbours(graph) -> GrammeFusion:
    return GrammeFusion(ensemble=2, epochs=20, random_state=0, progress=False).fit(graph)


def test_shares_over_edges_equal_their_definition(model_neighbours, graph) -> None:
    (record,) = neighbourhoods(model_neighbours, graph, np.arange(60), ["friends"])
    heard = model_neighbours.node_attention("friends").to_numpy()
    counts, others = unpack(record["counts"]), unpack(record["neighbours"])
    shares, own = unpack(record["shares"]) / 65535, unpack(record["self"]) / 65535
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(int)
    for node in range(60):
        found, weights = graph.layers["friends"].neighbours(node)
        total = heard[node] + (weights * heard[found]).sum()
        expected = dict(zip(found.tolist(), weights * heard[found] / total, strict=True))
        rows = slice(starts[node], starts[node + 1])
        assert dict(zip(others[rows].tolist(), shares[rows], strict=True)) == pytest.approx(expected, abs=2e-5)
        assert np.all(np.diff(shares[rows]) <= 0)
        assert own[node] == pytest.approx(heard[node] / total, abs=2e-5)


def test_groups_keep_members_sizes_and_sums(model_neighbours, graph) -> None:
    (record,) = neighbourhoods(model_neighbours, graph, np.arange(60), ["clubs"])
    layer = graph.layers["clubs"]
    assert unpack(record["groups"]).tolist() == layer.group.tolist()
    assert unpack(record["counts"]).tolist() == layer.groups_per_node.tolist()
    assert record["names"] == [str(one) for one in layer.group_names]
    heard = model_neighbours.node_attention("clubs").to_numpy()
    expected = [heard[members].sum() for members in layer.members()]
    assert unpack(record["sums"]).tolist() == pytest.approx(expected, rel=1e-5)


def test_a_sample_lists_only_nodes_on_the_page_but_counts_all(model_neighbours, graph) -> None:
    chosen = np.arange(0, 60, 3)
    edges, groups = neighbourhoods(model_neighbours, graph, chosen, ["friends", "clubs"])
    assert unpack(edges["neighbours"]).max() < chosen.size
    assert unpack(edges["degree"]).tolist() == graph.layers["friends"].degrees()[chosen].tolist()
    assert unpack(groups["sizes"]).sum() == graph.layers["clubs"].num_memberships


def test_methods_without_attention_list_neighbours_without_shares(graph) -> None:
    model = LabelPropagation().fit(graph)
    friends, clubs = neighbourhoods(model, graph, np.arange(60), ["friends", "clubs"])
    assert friends["shares"] is None
    assert clubs["attention"] is None
    assert unpack(friends["neighbours"]).size == graph.layers["friends"].num_edges


def test_a_page_holds_only_so_many_layers_and_neighbours(model_neighbours, graph, monkeypatch) -> None:
    monkeypatch.setattr(neighbours, "MAX_NODE_LAYERS", 120)
    monkeypatch.setattr(neighbours, "_MAX_NEIGHBOUR_ENTRIES", 0)
    found = neighbourhoods(model_neighbours, graph, np.arange(60), ["friends", "answer", "clubs"])
    assert [one["name"] for one in found] == ["friends", "answer"]
    assert unpack(found[0]["counts"]).max() <= 3


def test_attention_is_left_out_where_it_would_take_too_long(model_neighbours, graph, monkeypatch) -> None:
    monkeypatch.setattr(neighbours, "_ATTENTION_WORK", 100)
    (record,) = neighbourhoods(model_neighbours, graph, np.arange(60), ["friends"])
    assert record["left_out"]
    assert record["attention"] is record["shares"] is None


def test_edges_are_coloured_by_their_parts_or_by_degree() -> None:
    apart = EdgeLayer(9, [0, 1, 3, 4, 6], [1, 2, 4, 5, 7])
    whole = EdgeLayer(9, range(8), range(1, 9))
    graph = MultilayerGraph({"apart": apart, "whole": whole}, labels=["a", "b", *[None] * 7])
    model = LabelPropagation().fit(graph)
    first, second = neighbourhoods(model, graph, np.arange(9), ["apart", "whole"])
    assert first["colour"]["what"] == "connected parts"
    assert unpack(first["colour"]["codes"]).tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 0]
    assert second["colour"]["what"] == "number of neighbours"
    assert unpack(second["colour"]["codes"]).tolist() == [1, 2, 2, 2, 2, 2, 2, 2, 1]


def test_the_largest_come_first_and_name_groups_and_neighbours_of_the_page() -> None:
    graph = two_blocks()
    model = OneHotLogistic(C=1.0, random_state=0).fit(graph)
    chosen = np.arange(10, 40)
    found = why(model, graph, chosen, reasons(model, graph, chosen))
    (part,) = found["parts"]
    (wanted,) = reasons(model, graph, chosen).parts
    assert unpacked(part["value"]) == pytest.approx(wanted.log_odds, abs=1e-5)
    starts = np.concatenate([[0], np.cumsum(unpacked(part["counts"]))]).astype(int)
    layer, thing, amount = (unpacked(part[key]) for key in ("layer", "thing", "amount"))
    for row in range(chosen.size):
        mine = slice(starts[row], starts[row + 1])
        assert (np.diff(np.abs(amount[mine])) <= 1e-6).all()
        assert len(amount[mine]) <= page_why.MAX_THROUGH_PER_PART
        for place, number, value in zip(layer[mine], thing[mine], amount[mine], strict=True):
            name = found["layers"][place]
            parts = next(one for one in wanted.through if one.layer == name).parts[[row]].toarray()
            if number == 0:
                assert part["kinds"][name], "a neighbour that is not on the page"
                continue
            if part["kinds"][name]:
                column = chosen[number - 1]
            else:
                used = np.unique(graph.layers[name].incidence()[chosen].indices)
                column = used[number - 1]
            assert parts[0, column] == pytest.approx(value, abs=1e-5)


def test_a_large_page_holds_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = two_blocks()
    model = LabelPropagation(random_state=0).fit(graph)
    monkeypatch.setattr(page_why, "MAX_PAGE_THROUGH", 120)
    everyone = np.arange(60)
    (part,) = why(model, graph, everyone, reasons(model, graph, everyone))["parts"]
    assert unpacked(part["counts"]).max() == 2
    nobody = np.zeros(0, dtype=np.int64)
    assert why(model, graph, nobody, None) is None


def papers() -> MultilayerGraph:
    """Papers of two fields; venues tell the field, authors hardly do."""
    random = np.random.default_rng(0)
    field = np.arange(80) % 2
    venues = np.array([["KDD", "ICDM"], ["SIGMOD", "VLDB"]])[field, random.integers(0, 2, 80)]
    authors = random.integers(0, 20, 80)
    return MultilayerGraph.from_relations(
        {
            ("paper", "venue"): [(f"p{k}", venue) for k, venue in enumerate(venues)],
            ("paper", "author"): [(f"p{k}", f"author {one}") for k, one in enumerate(authors)],
        },
        target="paper",
        labels={f"p{k}": ("mining", "databases")[field[k]] for k in range(40)},
    )


@pytest.mark.parametrize("method", [OneHotLogistic, LabelPropagation])
def test_the_venues_that_tell_a_field_are_named_for_it(method: type) -> None:
    graph = papers()
    model = method(random_state=0).fit(graph)
    classes = model.classes_.tolist()
    found = leading_groups(reasons(model, graph), graph, classes)
    assert found is not None
    venue = found["layers"][0]
    assert venue["layer"] == "venue"
    assert venue["groups"] == 4
    assert {one["group"]: one["class"] for one in venue["leading"]} == {
        "KDD": "mining", "ICDM": "mining", "SIGMOD": "databases", "VLDB": "databases"
    }  # fmt: skip
    assert sum(one["share"] for one in venue["leading"]) == pytest.approx(1)
    text = section("fit", "leading_groups")(found)
    first = venue["leading"][0]
    assert f"<strong><bdi>{first['group']}</bdi></strong> {100 * first['share']:.0f} %" in text
    assert f">{venue['amount']:.2f}</td>" in text


def test_amounts_equal_the_sums_of_what_came_through() -> None:
    graph = two_blocks()
    model = OneHotLogistic(C=1.0, random_state=0).fit(graph)
    why = reasons(model, graph)
    found = leading_groups(why, graph, ["left", "right"])
    assert found is not None
    assert {row["layer"] for row in found["layers"]} == {"answer", "clubs"}, "friends are edges"
    for row in found["layers"]:
        parts = next(one for one in why.parts[0].through if one.layer == row["layer"]).parts
        total = np.abs(parts.toarray()).sum(axis=0)
        assert row["amount"] == pytest.approx(total.sum() / 60)
        names = graph.layers[row["layer"]].group_names
        for one in row["leading"]:
            assert one["share"] == pytest.approx(total[names.get_loc(one["group"])] / total.sum())


def test_attention_tells_as_well() -> None:
    graph = two_blocks()
    model = GrammeFusion(ensemble=1, epochs=5, random_state=0, progress=False).fit(graph)
    found = leading_groups(reasons(model, graph), graph, ["left", "right"])
    assert found is not None
    assert {row["layer"] for row in found["layers"]} == {"answer", "clubs"}


def test_names_stay_text_and_nothing_to_tell_is_nothing() -> None:
    graph = hostile_graph()
    model = LabelPropagation(random_state=0).fit(graph)
    found = leading_groups(reasons(model, graph), graph, [str(one) for one in model.classes_])
    text = section("fit", "leading_groups")(found)
    assert "<script" not in text
    assert "<img" not in text
    assert HOSTILE[0] not in text
    assert leading_groups(None, graph, []) is None
    assert section("fit", "leading_groups")(None) == "", "a page from before there were any"
