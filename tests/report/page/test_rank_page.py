"""The page of a ranking holds what the table says, and no name of the user's as markup."""

import pytest
from tests.browser import browser
from tests.ranking.families import florentine_families
from tests.report.page.graphs import HOSTILE, section

from gramme.graph import MultilayerGraph
from gramme.ranking import influence, layer_influences, rank
from gramme.report.page.html import render
from gramme.report.page.rank_page import rank_data

disagreement_section = section("rank", "disagreement")
intervals_section = section("rank", "intervals")
layers_section = section("rank", "layers")
leading_section = section("rank", "leading")
repeat_section = section("rank", "repeat")
seeds_section = section("rank", "seeds")


@pytest.fixture
def data():
    def row(node, degree, katz):
        ranks = {
            "degree": {"rank": degree, "low": degree, "high": degree + 2},
            "katz": {"rank": katz, "low": None, "high": None},
        }
        return {"node": node, "ranks": ranks}

    return {
        "name": "families",
        "nodes": 10,
        "config": {"model": "cascade", "probability": 0.1, "versions": {"gramme": "1"}},
        "measures": [
            {"name": "degree", "meaning": "how many <b>ties</b>", "importance": True},
            {"name": "katz", "meaning": "ways that lead there", "importance": True},
        ],
        "leading": [row("Medici", 1, 2), row("<i>Strozzi</i>", 2, 1)],
        "agreement": [[1.0, -0.5], [-0.5, None]],
        "gaps": [{"node": "Pazzi", "best": "katz", "best_rank": 1, "worst": "degree", "worst_rank": 9}],
        "seeds": [{"node": "Medici", "reach": 5.0, "reach_low": 4.0, "reach_high": 6.0}],
        "layers": [{"name": "marriage", "influence": 0.25}, {"name": "business", "influence": 0.75}],
    }


def test_ranks_by_every_measure(data):
    text = leading_section(data)
    assert text.index("Medici") < text.index("Strozzi")
    assert "&lt;i&gt;Strozzi" in text


def test_intervals_only_for_measures_whose_spread_is_known(data):
    text = intervals_section(data)
    assert text.count("<figure>") == 1
    assert "rank 1, from 1 to 3" in text
    for row in data["leading"]:
        row["ranks"]["degree"]["low"] = None
    assert intervals_section(data) == ""


def test_disagreement_needs_two_measures(data):
    text = disagreement_section(data)
    assert '<td class="number wrong heat4">−0.50</td>' in text
    assert "Pazzi" in text
    data["measures"] = data["measures"][:1]
    assert disagreement_section(data) == ""


def test_seeds_layers_and_how_to_repeat(data):
    assert "probability of 0.1 (independent cascade)" in seeds_section(data)
    assert "linear threshold" in seeds_section(data | {"config": {"model": "threshold"}})
    assert seeds_section(data | {"seeds": None}) == ""
    assert "says little" not in seeds_section(data)
    alone = data | {"nodes": 5}
    assert "The first alone reaches nearly all nodes" in seeds_section(alone)
    assert "--probability" in seeds_section(alone)
    assert "--probability" not in seeds_section(alone | {"config": {"model": "threshold"}})
    layers = layers_section(data)
    assert layers.index("business") < layers.index("marriage")
    assert "75.0 %" in layers
    assert layers_section(data | {"layers": data["layers"][:1]}) == ""
    assert "gramme rank families --out ranks" in repeat_section(data)
    assert "&lt;b&gt;ties" in repeat_section(data)


def page_of(graph: MultilayerGraph, **options) -> tuple[dict, str]:
    data = rank_data(
        graph,
        rank(graph, **options),
        seeds=influence(graph, 2, worlds=50),
        layers=layer_influences(graph),
        config={"data": "families", "model": "cascade", "probability": 0.1},
    )
    return data, render(data)


def test_leading_nodes_have_their_ranks_with_intervals() -> None:
    data, text = page_of(florentine_families(), measures=["degree", "pagerank"], spread=True)
    assert data["leading"][0]["node"] == "Medici"
    assert data["leading"][0]["ranks"]["degree"] == {"rank": 1, "tied": False, "low": 1, "high": 1}
    assert data["agreement"][0][1] == data["agreement"][1][0] > 0.8
    for place in ("leading", "sure", "disagree", "seeds", "layers", "repeat"):
        assert f'<section id="{place}"' in text


def test_without_a_spread_or_a_second_measure_those_sections_are_left_out() -> None:
    _, text = page_of(florentine_families(), measures=["degree"])
    assert '<section id="sure"' not in text
    assert '<section id="disagree"' not in text


def test_the_best_mean_rank_is_over_measures_of_importance() -> None:
    _, text = page_of(florentine_families(), measures=["degree", "pagerank", "participation"])
    assert "the best mean rank over the 2 that measure importance" in text
    _, text = page_of(florentine_families(), measures=["degree", "pagerank"])
    assert "mean rank over all of them" in text


@pytest.mark.browser
def test_hostile_names_stay_text_in_a_browser(tmp_path) -> None:
    graph = florentine_families()
    names = [HOSTILE[0], *list(graph.nodes)[1:]]
    path = tmp_path / "page.html"
    path.write_text(page_of(graph.replace(nodes=names), spread=True)[1], encoding="utf-8")
    with browser(tmp_path) as page:
        page.open(path)
        assert page.evaluate("window.__pwned === undefined")
        assert page.evaluate("document.querySelectorAll('#sure svg.chart').length") > 3
