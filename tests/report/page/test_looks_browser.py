"""What a page looks like on paper and on a phone: colours stay, accuracy comes first, names break between words."""

from pathlib import Path

import numpy as np
import pytest
from tests.browser import Page

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods import LabelPropagation, OneHotLogistic
from gramme.report import page as page_package
from gramme.report.page import write_fit_page

pytestmark = pytest.mark.browser


@pytest.fixture
def page(tab: Page, tmp_path: Path) -> Page:
    codes = np.arange(40) % 2
    names = ("age_group_of_the_respondent", "right_distance")
    layers = {name: MembershipLayer.from_codes(codes) for name in names}
    graph = MultilayerGraph(layers, labels=np.where(np.arange(40) < 20, codes, None))
    estimate = {"kind": "holdout", "accuracy": 0.9, "accuracy_ci95": [0.8, 0.95], "nodes": 20}
    model = LabelPropagation(random_state=0).fit(graph)
    path = write_fit_page(tmp_path / "a.html", model, graph, estimate=estimate, config={"data": "x"})
    return tab.open(path)


def test_paper_keeps_the_colours_of_the_legend(page: Page) -> None:
    page.call("Emulation.setEmulatedMedia", media="print")
    try:
        look = "getComputedStyle(document.querySelector('#legend .swatch'))"
        assert page.evaluate(f"{look}.printColorAdjust") == "exact"
        assert page.evaluate(f"{look}.backgroundColor") not in ("", "rgba(0, 0, 0, 0)")
    finally:
        page.call("Emulation.setEmulatedMedia", media="")


def test_a_phone_shows_the_accuracy_first_and_whole_words(page: Page) -> None:
    page.size(390, 800, 2, mobile=True)
    page.frames()
    top = "document.querySelector('{}').getBoundingClientRect()"
    assert "90.0 %" in page.text(".headline")
    headline = page.evaluate(top.format(".headline") + ".bottom")
    assert headline < page.evaluate(top.format(".lead") + ".top") < 800
    lines = page.evaluate(
        """[...document.querySelectorAll('table.bars th[scope=row] bdi')].map(name => {
          const found = [];
          for (const node of name.childNodes) {
            if (node.nodeType !== 3) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            found.push(new Set([...range.getClientRects()].map(one => Math.round(one.top))).size);
          }
          return found;
        })"""
    )
    assert lines
    assert all(count == 1 for parts in lines for count in parts), "no part is broken within itself"
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_names_stay_whole_and_groups_of_numbers_are_listed_from_low_to_high(tab: Page, tmp_path: Path) -> None:
    cut = ["below 14351", "[14351, 19095)", "[19095, 104980)", "104980 and above"]
    graph = MultilayerGraph(
        {"Income": MembershipLayer.from_codes(np.arange(40) % 4, cut)},
        nodes=[f"P{k:05d}" for k in range(40)],
        labels=[("low", "high")[k % 4 // 2] if k < 20 else None for k in range(40)],
    )
    model = OneHotLogistic(random_state=0).fit(graph)
    said = {"predicted": "low", "probability": 0.6, "own": 0.6, "suggested": None}
    estimate = {
        "kind": "cross-validation", "accuracy": 0.9, "accuracy_ci95": [0.8, 0.95], "nodes": 20,
        "confusion": {"classes": ["low", "high"], "counts": [[9, 1], [1, 9]]},
        "predictions": {f"P{k:05d}": said for k in range(20)}, "label_thresholds": {"low": 0.6, "high": 0.6},
    }  # fmt: skip
    page = tab.open(write_fit_page(tmp_path / "a.html", model, graph, estimate=estimate, config={}))
    lines = "[...document.querySelectorAll('#nodes tbody button.link')].map(e => e.offsetHeight)"
    heights = page.evaluate(lines)
    whole = "(document.querySelector('#nodes tbody button.link').style.whiteSpace = 'nowrap', 1)"
    page.evaluate(whole)
    assert max(heights) == page.evaluate(lines)[0], "no name is broken in its middle"
    page.choose("#colour", "3")
    listed = " ".join(page.texts("#legend li"))
    places = [listed.index(name) for name in cut]
    assert places == sorted(places), listed


def test_names_of_usual_length_stay_whole_in_the_links_of_a_phone(tab: Page, tmp_path: Path) -> None:
    style = (Path(str(page_package.__file__)).parent / "assets" / "page.css").read_text(encoding="utf-8")
    cells = (
        "<td>person113</td><td>person144</td><td>friends</td><td>3.2 %</td><td>60.2 %</td><td>both have many links</td>"
    )
    file = tmp_path / "links.html"
    file.write_text(
        '<!doctype html><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style><main><table class='reasons'><tbody><tr>{cells}</tr></tbody></table></main>",
        encoding="utf-8",
    )
    tab.size(390, 800, 2, mobile=True)
    try:
        tab.open(file)
        for column in (1, 2):
            heights = f"""(() => {{ const range = document.createRange();
              range.selectNodeContents(document.querySelector('td:nth-child({column})'));
              return range.getClientRects().length; }})()"""
            assert tab.evaluate(heights) == 1
    finally:
        tab.size(1200, 900)
