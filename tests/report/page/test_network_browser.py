"""The network in a real browser: one place per node in every picture, one selection with map and table."""

from pathlib import Path

import numpy as np
import pytest
from tests.browser import Page
from tests.report.page.graphs import hostile_graph, two_blocks

from gramme.graph import Coupling, EdgeLayer, MultilayerGraph
from gramme.graph.layout import node_positions
from gramme.methods import LabelPropagation
from gramme.report.page import write_fit_page

pytestmark = pytest.mark.browser

PICTURE = "document.getElementById('network-canvas').toDataURL()"
WHERE = """(() => {
  const box = document.getElementById("network-canvas").getBoundingClientRect(), at = gramme.net.where(%d);
  return [box.x + at[0], box.y + at[1]];
})()"""
COUNT_LINES = """(() => {
  const draw = CanvasRenderingContext2D.prototype.lineTo;
  window.drawnLines = 0;
  CanvasRenderingContext2D.prototype.lineTo = function (...at) { window.drawnLines++; return draw.apply(this, at); };
})()"""


def written(graph: MultilayerGraph, folder: Path) -> Path:
    model = LabelPropagation(random_state=0).fit(graph)
    return write_fit_page(folder / "a.html", model, graph, config={"data": "blocks"})


@pytest.fixture(scope="module")
def graph() -> MultilayerGraph:
    return two_blocks()


@pytest.fixture(scope="module")
def path(graph: MultilayerGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(graph, tmp_path_factory.mktemp("network"))


@pytest.fixture
def page(tab: Page, path: Path) -> Page:
    return tab.open(path)


def show_network(page: Page) -> None:
    page.evaluate("document.getElementById('network-canvas').scrollIntoView({block: 'center', behavior: 'instant'})")
    page.frames()


def test_nodes_lie_where_the_layout_put_them(page: Page, graph: MultilayerGraph) -> None:
    found = page.evaluate("[...gramme.net.places.x].map((x, i) => [x, gramme.net.places.y[i]])")
    assert np.array(found) == pytest.approx(node_positions(graph), abs=1e-4)
    assert page.console == []


def test_pointing_tells_and_selecting_reaches_panel_map_and_table(page: Page) -> None:
    show_network(page)
    page.mouse("mouseMoved", *page.evaluate(WHERE % 17))
    page.frames()
    assert page.text("#network-tip").startswith("node 17")
    before = page.evaluate("document.getElementById('scatter').toDataURL()")
    for kind in ("mousePressed", "mouseReleased"):
        page.mouse(kind, *page.evaluate(WHERE % 17), button="left", clickCount=1)
    page.frames()
    assert page.text("#panel h3") == "node 17"
    assert page.text("#network-chosen").startswith("Selected: node 17")
    assert page.evaluate("document.getElementById('scatter').toDataURL()") != before
    before = page.evaluate(PICTURE)
    page.click("#nodes tbody button.link")
    chosen = page.text("#nodes tbody button.link")
    assert page.text("#panel h3") == chosen
    assert page.evaluate(PICTURE) != before
    assert page.texts("#nodes tr[aria-current=true] button.link") == [chosen]
    other = page.texts("#nodes tbody button.link")[3]
    page.evaluate(f"document.getElementById('network-search').value = {other!r}")
    page.type("#network-search", "")
    page.key("Enter")
    assert page.texts("#nodes tr[aria-current=true] button.link") == [other]


def test_a_node_is_found_from_the_network(page: Page) -> None:
    page.type("#network-search", "node 41")
    page.key("Enter")
    assert page.text("#network-chosen").startswith("Selected: node 41")
    x, y = page.evaluate("gramme.net.where(41)")
    wide, tall = page.evaluate("(e => [e.clientWidth, e.clientHeight])(document.getElementById('network-canvas'))")
    assert 0 < x < wide
    assert 0 < y < tall


def test_layers_are_changed_by_list_picture_and_key(page: Page) -> None:
    pictures = {page.evaluate(PICTURE)}
    assert page.text("#network-shown") == (
        "3 layers. Where edges have a direction, those of the selected node end in an arrow."
    )
    names = page.evaluate("[...document.querySelectorAll('#network-layer option')].map(e => e.text)")
    page.choose("#network-layer", str(names.index("clubs") - 1))
    pictures.add(page.evaluate(PICTURE))
    assert page.text("#network-shown") == "clubs: 6 groups."
    page.click(f"#network-panels figure:nth-child({names.index('friends')}) button")
    pictures.add(page.evaluate(PICTURE))
    assert page.text("#network-shown").startswith("friends: ")
    pressed = "[...document.querySelectorAll('#network-panels button')].map(e => e.ariaPressed)"
    assert page.evaluate(pressed).count("true") == 1
    page.evaluate("document.getElementById('network-canvas').focus()")
    page.evaluate("gramme.net.choose(-1)")
    page.key("]")
    pictures.add(page.evaluate(PICTURE))
    assert page.text("#network-shown").startswith(names[1])
    assert len(pictures) >= 3


def test_colours_are_chosen_for_map_and_network_at_once(page: Page) -> None:
    before = page.evaluate(PICTURE)
    page.choose("#network-colour", "2")
    assert page.evaluate("document.getElementById('colour').value") == "2"
    assert page.evaluate(PICTURE) != before
    assert page.text("#network-legend").startswith("confidence:")
    before = page.evaluate(PICTURE)
    page.choose("#network-size", "1")
    assert page.evaluate(PICTURE) != before


def test_lines_are_drawn_once_and_then_moved(page: Page) -> None:
    show_network(page)
    page.evaluate("new Promise(done => setTimeout(done, 300))")  # the small pictures are drawn when they are seen
    page.evaluate(COUNT_LINES)
    page.evaluate("gramme.net.choose(0)")
    page.frames()
    drawn = page.evaluate("window.drawnLines")
    assert drawn > 0
    for node in (3, 4, 5):
        page.mouse("mouseMoved", *page.evaluate(WHERE % node))
        page.frames()
    assert page.evaluate("window.drawnLines") == drawn, "pointing draws no line anew"
    page.evaluate("gramme.net.zoom(1.4); gramme.net.draw()")
    assert page.evaluate("window.drawnLines") == drawn, "nor does moving"
    page.wait(f"window.drawnLines === {2 * drawn}")


def test_paper_has_a_picture_per_layer_in_light_colours(page: Page) -> None:
    page.prefer(prefers_color_scheme="dark")
    dark = page.evaluate("getComputedStyle(document.querySelector('#network-legend .swatch')).backgroundColor")
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.call("Emulation.setEmulatedMedia", media="print", features=features)
    page.frames(3)
    try:
        visible = "document.querySelector('{}').checkVisibility()"
        assert not page.evaluate(visible.format("#network-canvas"))
        assert page.evaluate(visible.format("#network-panels canvas"))
        assert page.evaluate(visible.format("#network-legend"))
        light = page.evaluate("getComputedStyle(document.querySelector('#network-legend .swatch')).backgroundColor")
        assert light != dark
        filled = """[...document.querySelectorAll('#network-panels canvas')].map(e =>
          e.getContext('2d').getImageData(0, 0, e.width, e.height).data.some(value => value > 0))"""
        assert page.evaluate(filled) == [True] * 3
    finally:
        page.call("Emulation.setEmulatedMedia", media="", features=[])


def test_a_phone_has_no_sideways_scroll(page: Page) -> None:
    page.size(390, 800, 2, mobile=True)
    page.frames()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_names_that_are_code_run_nothing(tab: Page, tmp_path: Path) -> None:
    page = tab.open(written(hostile_graph(), tmp_path))
    for number in range(3):
        page.choose("#network-layer", str(number))
    page.evaluate("for (let i = 0; i < 18; i++) gramme.net.select(i)")
    page.type("#network-search", "<script>")
    page.key("Enter")
    assert page.evaluate("typeof window.__pwned") == "undefined"
    assert page.console == []
    assert page.dialogs == []


def test_couplings_and_nodes_without_anybody_are_drawn(tab: Page, tmp_path: Path) -> None:
    layers = {
        "power": EdgeLayer(8, [0, 1], [1, 2], nodes=[0, 1, 2]),
        "routers": EdgeLayer(8, [3, 4], [4, 5], nodes=[3, 4, 5]),
        "empty": EdgeLayer(8, [], []),
    }
    graph = MultilayerGraph(
        layers,
        couplings={("power", "routers"): Coupling(8, [0, 1], [3, 4])},
        labels=["a", "b", None, None, None, "a", None, None],
    )
    page = tab.open(written(graph, tmp_path))
    assert page.text("#network-shown") == "3 layers and 1 coupling."
    captions = page.texts("#network-panels figcaption")
    assert "power~routers 2 edges between layers" in captions
    assert "empty 0 edges" in captions
    assert page.console == []
