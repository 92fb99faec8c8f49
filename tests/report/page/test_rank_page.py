"""The page of a ranking holds what the table says, and no name of the user's as markup."""

import pytest
from tests.browser import browser
from tests.ranking.families import florentine_families
from tests.report.page.graphs import HOSTILE

from gramme.graph import MultilayerGraph
from gramme.ranking import influence, layer_influences, rank
from gramme.report.page.rank_page import rank_data, render_rank


def page_of(graph: MultilayerGraph, **options) -> tuple[dict, str]:
    data = rank_data(
        graph,
        rank(graph, **options),
        seeds=influence(graph, 2, worlds=50),
        layers=layer_influences(graph),
        config={"data": "families", "model": "cascade", "probability": 0.1},
    )
    return data, render_rank(data)


def test_leading_nodes_have_their_ranks_with_intervals() -> None:
    data, text = page_of(florentine_families(), measures=["degree", "pagerank"], spread=True)
    assert data["leading"][0]["node"] == "Medici"
    assert data["leading"][0]["ranks"]["degree"] == {"rank": 1, "low": 1, "high": 1}
    assert data["agreement"][0][1] == data["agreement"][1][0] > 0.8
    for section in ("leading", "sure", "disagree", "seeds", "layers", "repeat"):
        assert f'<section id="{section}"' in text


def test_without_a_spread_or_a_second_measure_those_sections_are_left_out() -> None:
    _, text = page_of(florentine_families(), measures=["degree"])
    assert '<section id="sure"' not in text
    assert '<section id="disagree"' not in text


def test_the_best_mean_rank_is_over_measures_of_importance() -> None:
    _, text = page_of(florentine_families(), measures=["degree", "pagerank", "participation"])
    assert "by 3 measures. Over the 2 that tell importance, " in text
    _, text = page_of(florentine_families(), measures=["degree", "pagerank"])
    assert "by 2 measures. Over all of them, " in text


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
