"""Which groups mattered: those through which most of the log-odds came, for the class that they speak for."""

import numpy as np
import pytest
from tests.report.page.graphs import HOSTILE, hostile_graph, two_blocks

from gramme.graph import MultilayerGraph
from gramme.methods import GrammeFusion, LabelPropagation, OneHotLogistic
from gramme.methods.reasons import reasons
from gramme.report.page.leading_groups import leading_groups, leading_groups_section


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
    text = leading_groups_section({"leading_groups": found})
    first = venue["leading"][0]
    assert f"<strong><bdi>{first['group']}</bdi></strong> {first['share']:.0%}" in text
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
    text = leading_groups_section({"leading_groups": found})
    assert "<script" not in text
    assert "<img" not in text
    assert HOSTILE[0] not in text
    assert leading_groups(None, graph, []) is None
    assert leading_groups_section({"leading_groups": None}) == ""
    assert leading_groups_section({}) == "", "a page from before there were any"
