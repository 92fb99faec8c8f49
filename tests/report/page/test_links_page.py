"""The page of links holds what was found, and no name of the user's as markup."""

from tests.links.graphs import planted_links
from tests.links.short import short_fits
from tests.report.page.graphs import HOSTILE

from gramme.links import GrammeLinks
from gramme.report.page.html import render
from gramme.report.page.links_page import links_data


def test_links_scores_and_evidence_are_shown_and_names_are_escaped() -> None:
    graph = planted_links(30)
    names = [*HOSTILE[:3], *list(graph.nodes)[3:]]
    with short_fits():
        model = GrammeLinks().fit(graph.replace(nodes=names), layers=["talk"])
    found = model.candidates("talk", top=5, node=HOSTILE[0])
    data = links_data(model, found, config={"data": "friends"})
    text = render(data)
    for section in ("links", "changes", "sure", "why", "repeat"):
        assert f'<section id="{section}"' in text
    assert data["total"] == 5
    body = text[: text.index('<script type="application/json"')]
    assert HOSTILE[0] not in body
