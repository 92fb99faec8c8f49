"""The page of a fit in a real browser, used as a person would."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from tests.browser import Page
from tests.report.page.graphs import HOSTILE, hostile_graph, two_blocks

from gramme.evaluation.estimate import set_facts
from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods import GrammeAuto, GrammeFusion, LabelPropagation, OneHotLogistic
from gramme.methods.cross_fitting import OutOfFold
from gramme.report.page import write_fit_page

pytestmark = pytest.mark.browser

WHERE = """(() => {
  const box = document.getElementById("scatter").getBoundingClientRect(), at = gramme.scatter.where(%d);
  return [box.x + at[0], box.y + at[1]];
})()"""
MIDDLE = """(() => {
  const box = document.getElementById("scatter").getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})()"""
PICTURE = "document.getElementById('scatter').toDataURL()"


def unseen(predicted: str, probability: float, own: float, doubtful: bool = False) -> dict:
    """What a model that had not learned from a label says about it."""
    suggested = predicted if doubtful else None
    return {"predicted": predicted, "probability": probability, "own": own, "suggested": suggested}


@pytest.fixture(scope="module")
def graph() -> MultilayerGraph:
    return two_blocks()


@pytest.fixture(scope="module")
def model(graph) -> GrammeFusion:
    return GrammeFusion(ensemble=2, epochs=30, random_state=0, progress=False).fit(graph)


@pytest.fixture(scope="module")
def path(model, graph, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    wrong = {"left": "right", "right": "left"}
    predictions = {f"node {k}": unseen(graph.labels[k], 0.8, 0.8) for k in range(24)}
    predictions["node 7"] = unseen(wrong[graph.labels[7]], 0.95, 0.05, doubtful=True)
    predictions["node 9"] = unseen(wrong[graph.labels[9]], 0.99, 0.01, doubtful=True)
    predictions["node 11"] = unseen(wrong[graph.labels[11]], 0.6, 0.4)  # wrong, but not surely
    estimate = {
        "kind": "cross-validation", "accuracy": 0.9, "accuracy_ci95": [0.8, 0.95], "nodes": 24,
        "confusion": {"classes": ["left", "right"], "counts": [[11, 1], [1, 11]]}, "predictions": predictions,
        "label_thresholds": {"left": 0.8, "right": 0.79},
    }  # fmt: skip
    return write_fit_page(folder / "a.html", model, graph, estimate=estimate, config={"data": "blocks"})


@pytest.fixture
def page(tab: Page, path: Path) -> Page:
    return tab.open(path)


def point_at(page: Page, node: int) -> None:
    page.evaluate("document.getElementById('scatter').scrollIntoView({block: 'center', behavior: 'instant'})")
    page.frames()
    page.mouse("mouseMoved", *page.evaluate(WHERE % node))
    page.frames()


def column(page: Page, number: int) -> list[str]:
    return page.texts(f"#nodes tbody td:nth-child({number})")


def test_it_opens_without_a_word_and_asks_for_nothing(page: Page, path: Path) -> None:
    assert page.requests == [path.resolve().as_uri()]
    assert page.console == []
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0


def test_pointing_at_a_node_tells_its_name_label_prediction_and_probability(page: Page, model, graph) -> None:
    assert not page.evaluate("document.getElementById('tip').checkVisibility()")
    point_at(page, 30)
    text = page.text("#tip")
    name = next(name for name in graph.nodes if text.startswith(f"{name}\n"))
    place = graph.nodes.get_loc(name)
    assert model.predict()[place] in text
    assert f"{100 * model.predict_proba()[place].max():.1f} %" in text
    page.mouse("mouseMoved", 5, 5)
    page.frames()
    assert not page.evaluate("document.getElementById('tip').checkVisibility()")


def test_selecting_a_point_shows_whom_it_hears(page: Page, model, graph) -> None:
    page.type("#search", "node 30")
    page.key("Enter")
    assert page.text("#panel h3") == "node 30"
    assert sorted(page.texts("#panel h5")) == ["answer", "clubs", "friends"]
    point_at(page, 12)
    x, y = page.evaluate(WHERE % 12)
    for kind in ("mousePressed", "mouseReleased"):
        page.mouse(kind, x, y, button="left", clickCount=1)
    page.frames()
    assert page.text("#panel h3") in set(graph.nodes)
    assert "labelled" in page.text("#panel") or "no known label" in page.text("#panel")


@pytest.mark.parametrize("layer", ["answer", "clubs"])
def test_shares_among_members_of_groups_equal_those_over_explicit_edges(page: Page, model, graph, layer) -> None:
    heard = model.node_attention(layer).to_numpy()
    number = page.evaluate(f"gramme.data.neighbourhoods.findIndex(one => one.name === {layer!r})")
    for node in (0, 5, 41):
        found = page.evaluate(f"gramme.neighbourhood(gramme.data.neighbourhoods[{number}]).around({node})")
        others, times = graph.layers[layer].neighbours(node)
        total = heard[node] + (times * heard[others]).sum()
        expected = dict(zip(others.tolist(), times * heard[others] / total, strict=True))
        assert found["own"] == pytest.approx(heard[node] / total, rel=1e-4)
        assert found["total"] == times.sum()
        first = max(expected.values())
        assert found["list"][0]["share"] == pytest.approx(first, rel=1e-4)
        shares = {one["node"]: one["share"] for one in found["list"]}
        assert shares == pytest.approx({node: expected[node] for node in shares}, rel=1e-4)


def test_a_node_is_found_by_part_of_its_name_with_the_keyboard_alone(page: Page) -> None:
    page.type("#search", "de 5")
    found = page.texts("#found li")
    assert found == ["node 5", *[f"node 5{k}" for k in range(10)]]
    page.key("ArrowDown")
    page.key("Enter")
    assert page.text("#panel h3") == "node 50"
    assert page.evaluate("gramme.scatter.view.scale") > 1
    page.evaluate("document.getElementById('search').value = ''")
    page.type("#search", "nobody")
    assert page.texts("#found li") == ["no node of that name"]


def test_the_table_sorts_filters_and_grows(page: Page, model, graph) -> None:
    unsure = model.predict_proba().max(axis=1)
    expected = [f"node {k}" for k in sorted(range(24, 60), key=lambda k: unsure[k])]
    assert column(page, 1)[:5] == expected[:5]
    assert len(column(page, 1)) == 25
    page.click("#more")
    assert len(column(page, 1)) == 36
    page.click("#nodes th:nth-child(1) button")
    assert column(page, 1)[:3] == ["node 24", "node 25", "node 26"]
    page.click("#nodes th:nth-child(1) button")
    assert column(page, 1)[:2] == ["node 59", "node 58"]
    assert page.evaluate("document.querySelector('#nodes th').getAttribute('aria-sort')") == "descending"
    page.type("#filter", "left")
    assert set(column(page, 4)) == {"left"}


def test_why_a_node_is_predicted_adds_up(tab: Page, graph, tmp_path: Path) -> None:
    names = ["label-propagation", "one-hot-logistic", "spectral-logistic"]
    model = GrammeAuto(ingredients=names, random_state=0).fit(graph)
    tab.open(write_fit_page(tmp_path / "a.html", model, graph, config={"data": "x"}))
    number = r"([+−][\d.]+)"
    value = lambda text: float(text.replace("−", "-"))  # noqa: E731
    for node in ("node 3", "node 30", "node 55"):
        tab.evaluate("document.getElementById('search').value = ''")
        tab.type("#search", node)
        tab.key("Enter")
        assert tab.text("#panel h3") == node
        place = graph.nodes.get_loc(node)
        shares = np.sort(model.predict_proba()[place].astype(float))
        total = value(re.search(rf"Log-odds {number}", tab.text("#panel"))[1])
        assert total == pytest.approx(np.log(shares[-1] / shares[-2]), abs=0.011)
        parts = [value(one) for one in tab.texts("#panel .reason > p strong")]
        assert len(parts) == 3
        assert sum(parts) == pytest.approx(total, abs=0.02)
        blocks = tab.evaluate(
            "[...document.querySelectorAll('#panel .reason')].map(block => "
            "[...block.querySelectorAll('li > span:last-child')].map(one => one.textContent))"
        )
        for part, items in zip(parts, blocks, strict=True):
            assert items
            assert sum(map(value, items)) == pytest.approx(part, abs=0.01 * (len(items) + 1))


def test_where_every_node_has_a_label_the_least_likely_labels_come_first(tab: Page, tmp_path: Path) -> None:
    graph = two_blocks(labelled=60)
    model = LabelPropagation().fit(graph)
    predictions = {
        one: unseen(label, 0.5 + k / 200, 0.5 + k / 200)
        for k, (one, label) in enumerate(zip(graph.nodes, graph.labels, strict=True))
    }
    tab.open(write_fit_page(tmp_path / "a.html", model, graph, estimate={"kind": "none", "predictions": predictions}))
    assert column(tab, 1)[:3] == ["node 0", "node 1", "node 2"]
    assert "Every node has a label" in tab.text("#nodes-caption")


def test_plausible_classes_stand_in_the_table_and_the_sorting_follows(tab: Page, tmp_path: Path) -> None:
    graph = two_blocks(labelled=40)
    model = LabelPropagation(random_state=0).fit(graph)
    seen = OutOfFold(np.arange(20), np.zeros(20, dtype=np.int64), np.tile([0.3, 0.7], (20, 1)))
    model.keep_out_of_fold(seen)
    sets = set_facts(model, 0.9)[1]
    config = {"sets": sets}
    tab.open(write_fit_page(tmp_path / "a.html", model, graph, config=config))
    assert tab.text("#nodes thead th:nth-child(6)") == "Plausible"
    expected = {
        str(node): " or ".join(model.classes_[row])
        for node, row in zip(graph.nodes, model.predict_set(coverage=0.9), strict=True)
    }
    shown = dict(zip(column(tab, 1), column(tab, 6), strict=True))
    assert len(shown) == 20  # those without a label
    assert shown == {node: expected[node] for node in shown}
    tab.choose("#view", "doubtful")
    assert not tab.console


def test_labels_in_doubt_are_listed_with_what_is_suggested_the_surest_first(page: Page, graph) -> None:
    page.choose("#view", "doubtful")
    assert column(page, 1) == ["node 9", "node 7"]
    wrong = {"left": "right", "right": "left"}
    assert column(page, 6) == [wrong[graph.labels[9]], wrong[graph.labels[7]]]
    assert column(page, 7) == ["99.0 %", "95.0 %"]
    assert column(page, 8) == ["1.0 %", "5.0 %"]
    told = page.text("#look p")
    assert "a model that had not learned from it" in told
    assert "left 80.0 %, right 79.0 %" in told
    page.click("#nodes tbody button")
    assert page.text("#panel h3") == "node 9"
    assert f"a model says {wrong[graph.labels[9]]} with 99.0 %, so the label looks wrong" in (page.text("#panel"))


def test_the_export_holds_the_rows_shown_and_all_beyond_them(page: Page, model, graph) -> None:
    page.choose("#view", "all")
    page.click("#export")
    rows = list(csv.DictReader(io.StringIO(page.downloaded("nodes.csv").decode("utf-8"))))
    assert [row["node"] for row in rows] == list(graph.nodes)
    assert [row["predicted"] for row in rows] == model.predict().tolist()
    assert [float(row["probability"]) for row in rows] == pytest.approx(model.predict_proba().max(axis=1), abs=1e-4)
    assert [row["label"] or None for row in rows] == list(graph.labels)
    assert rows[0]["label_use"] == "learned from"


def test_every_way_to_colour_changes_the_map_and_its_legend(page: Page, model: GrammeFusion) -> None:
    titles = page.texts("#colour option")
    assert titles[:3] == ["known label", "prediction", "confidence"]
    # known labels lie together in the map, also where a model that had not learned from them would miss them
    for chooser in ("#colour", "#network-colour"):
        assert page.evaluate(f"document.querySelector({chooser!r}).selectedOptions[0].text") == "prediction"
    assert "none" not in page.text("#legend").split()
    assert {"answer", "clubs", "answer · attention received"} <= set(titles)
    assert any(title.startswith("friends · ") for title in titles)
    pictures, legends = [], []
    for number in range(len(titles)):
        page.choose("#colour", str(number))
        page.frames(3)
        pictures.append(page.evaluate(PICTURE))
        legends.append(page.text("#legend"))
    # friends are always of one class, so their parts would look as predictions that are all right; of labelled nodes it
    # is the prediction without their own label that is shown, and those of 7, 9 and 11 are wrong
    shown = ["left" if node in (7, 9, 11) else one for node, one in enumerate(model.predict())]
    left = str(shown.count("left"))
    assert legends[1].split() == ["left", left, "right", str(60 - int(left))]
    assert len(set(pictures)) == len(titles)
    assert len(set(legends[:3] + legends[titles.index("friends · connected parts") :][:2])) == 5
    assert legends[0].split() == ["left", "12", "right", "12", "none", "36"]
    assert "sure" in legends[2]
    assert "yes" in legends[titles.index("answer")]


def test_before_and_after_training_are_two_maps(page: Page) -> None:
    after = page.evaluate("gramme.scatter.where(3)")
    page.click("input[value=before]")
    before = page.evaluate("gramme.scatter.where(3)")
    assert np.abs(np.subtract(before, after)).max() > 1
    page.click("input[value=after]")
    assert page.evaluate("gramme.scatter.where(3)") == after


def test_the_way_between_the_two_maps_glides_for_those_who_like_motion(tab: Page, path: Path) -> None:
    tab.prefer(prefers_reduced_motion="no-preference")
    tab.open(path)
    after = tab.evaluate("gramme.scatter.where(3)")
    tab.click("input[value=before]")
    tab.click("input[value=after]")
    tab.wait(f"String(gramme.scatter.where(3)) === '{after[0]},{after[1]}'")
    assert tab.console == []


def test_wheel_keys_buttons_and_dragging_move_the_map(page: Page) -> None:
    scale = "gramme.scatter.view.scale"
    point_at(page, 0)
    x, y = page.evaluate(WHERE % 0)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200)
    page.wait(f"{scale} > 1.2")
    kept = page.evaluate(WHERE % 0)
    assert np.abs(np.subtract(kept, (x, y))).max() < 25  # the point under the pointer stays there
    page.evaluate("document.getElementById('scatter').focus()")
    page.key("0")
    assert page.evaluate(scale) == 1
    page.key("+")
    assert page.evaluate(scale) == pytest.approx(1.5)
    page.key("ArrowLeft")
    left = page.evaluate("gramme.scatter.view.x")
    assert left < 0.5
    middle = page.evaluate(MIDDLE)
    page.mouse("mousePressed", *middle, button="left", clickCount=1)
    page.mouse("mouseMoved", middle[0] - 40, middle[1], button="left", buttons=1)
    page.mouse("mouseReleased", middle[0] - 40, middle[1], button="left", clickCount=1)
    assert page.evaluate("gramme.scatter.view.x") > left
    page.click("#zoom-all")
    assert page.evaluate(scale) == 1
    page.click("#zoom-in")
    assert page.evaluate(scale) == pytest.approx(1.5)
    page.click("#zoom-out")
    assert page.evaluate(scale) == pytest.approx(1)


def test_two_fingers_zoom(tab: Page, path: Path) -> None:
    tab.size(375, 800, 2, mobile=True)
    tab.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    try:
        tab.open(path)
        point_at(tab, 0)
        x, y = tab.evaluate(MIDDLE)
        for kind, reach in (("touchStart", 20), ("touchMove", 40), ("touchMove", 60), ("touchMove", 80)):
            points = [{"x": x - reach, "y": y, "id": 0}, {"x": x + reach, "y": y, "id": 1}]
            tab.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
            tab.frames()
        tab.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        assert tab.evaluate("gramme.scatter.view.scale") > 1.3
    finally:
        tab.call("Emulation.setTouchEmulationEnabled", enabled=False)


def test_fully_zoomed_out_the_wheel_scrolls_the_page(page: Page) -> None:
    point_at(page, 0)
    before = page.evaluate("scrollY")
    x, y = page.evaluate(WHERE % 0)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=200)
    page.wait(f"scrollY > {before}")


def test_dark_and_light_follow_the_system_until_the_reader_chooses(tab: Page, path: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    tab.prefer(prefers_color_scheme="dark")
    tab.open(path)
    assert tab.evaluate(ground) == "rgb(18, 23, 30)"
    dark = tab.evaluate(PICTURE)
    tab.click("#theme")
    assert tab.evaluate(ground) == "rgb(255, 255, 255)"
    tab.frames(3)
    assert tab.evaluate(PICTURE) != dark
    tab.click("#theme")
    assert tab.evaluate(ground) == "rgb(18, 23, 30)"


CONTRAST = """(() => {
  const light = (c) => { const [r, g, b] = c.map(v => { v /= 255;
      return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * r + .7152 * g + .0722 * b; };
  const parse = (t) => (t.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const over = (top, below) => { const a = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map(k => top[k] * a + below[k] * (1 - a)); };
  const ground = (e) => { const chain = [];
    for (; e; e = e.parentElement) chain.unshift(parse(getComputedStyle(e).backgroundColor));
    return chain.reduce((below, top) => over(top, below), [255, 255, 255]); };
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.tagName === "OPTION" || e.closest("script, noscript, .sr, .skip")) continue;
    const style = getComputedStyle(e), back = ground(e), svg = e instanceof SVGElement;
    const front = over(parse(svg ? style.fill : style.color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) found.push([e.tagName, e.className.baseVal ?? e.className, e.textContent.slice(0, 30), ratio]);
  }
  return found;
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_its_ground(tab: Page, path: Path, scheme: str) -> None:
    tab.prefer(prefers_color_scheme=scheme)
    tab.open(path)
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    tab.type("#search", "node 3")
    tab.key("Enter")
    assert tab.evaluate(CONTRAST) == []


def test_everything_to_press_has_a_name_and_can_be_reached_by_keyboard(page: Page) -> None:
    unnamed = """[...document.querySelectorAll("button, select, input, canvas, [role=region]")].filter(e =>
      e.checkVisibility() && !(e.getAttribute("aria-label") || e.labels?.length || e.innerText?.trim()))
      .map(e => e.outerHTML)"""
    assert page.evaluate(unnamed) == []
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    reached = set()
    for _ in range(150):
        page.key("Tab")
        if page.evaluate("document.activeElement === document.body"):  # past the last one
            break
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.name"))
    else:
        pytest.fail("the keyboard does not come to the end of the page")
    assert {
        "theme",
        "network-layer",
        "network-colour",
        "network-size",
        "network-search",
        "network-canvas",
        "colour",
        "when",
        "search",
        "scatter",
        "zoom-in",
        "view",
        "filter",
        "export",
    } <= reached


@pytest.mark.parametrize("width", [320, 375])
def test_a_phone_needs_no_scrolling_sideways(tab: Page, path: Path, width: int) -> None:
    tab.size(width, 800, 2, mobile=True)
    tab.open(path)
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert tab.evaluate("document.getElementById('scatter').clientWidth") <= width


def test_it_prints(page: Page, tmp_path: Path) -> None:
    page.size(1100, 900)
    assert page.pdf(tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert page.console == []


def test_paper_is_wide_enough_for_the_nodes_with_their_sets(tab: Page, tmp_path: Path) -> None:
    """The table has the most columns where labels were tested and sets were asked for."""
    graph = two_blocks(labelled=40)
    model = LabelPropagation(random_state=0).fit(graph)
    estimate = {
        "kind": "cross-validation", "accuracy": 0.9, "accuracy_ci95": [0.8, 0.95], "nodes": 1,
        "confusion": {"classes": ["left", "right"], "counts": [[1, 0], [0, 0]]},
        "predictions": {"node 7": unseen("left", 0.95, 0.05)}, "label_thresholds": {"left": 0.8, "right": 0.8},
    }  # fmt: skip
    config = {"sets": set_facts(model, 0.9)[1]}
    page = write_fit_page(tmp_path / "a.html", model, graph, config=config, estimate=estimate)
    tab.size(717, 1000)  # A4 between the margins of a browser
    tab.open(page)
    assert len(tab.texts("#nodes thead th")) == 9
    tab.call("Emulation.setEmulatedMedia", media="print")
    assert tab.evaluate("document.documentElement.scrollWidth") == 717
    tab.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.parametrize("kind", ["propagation", "fusion"])
def test_hostile_text_shows_as_text_and_nothing_runs(tab: Page, tmp_path: Path, kind: str) -> None:
    graph = hostile_graph()
    if kind == "fusion":  # random features need names that can be encoded
        graph = graph.subgraph([one for one in graph.nodes if "\ud800" not in one])
    method = LabelPropagation() if kind == "propagation" else GrammeFusion(ensemble=1, epochs=3, progress=False)
    model = method.fit(graph)
    predictions = {one: unseen(HOSTILE[0], 0.9, 0.1, doubtful=True) for one in HOSTILE}
    estimate = {
        "kind": "cross-validation", "note": HOSTILE[2], "accuracy": 0.5, "accuracy_ci95": [0.1, 0.9], "nodes": 3,
        "confusion": {"classes": HOSTILE[:5], "counts": np.eye(5, dtype=int).tolist()}, "predictions": predictions,
        "unequal_classes": True, "balanced_accuracy": 0.5, "guess": {"class": HOSTILE[0], "accuracy": 0.5},
        "against_guess": "no better", "recall": {one: {"nodes": 1, "found": 1, "recall": 1.0} for one in HOSTILE},
        "label_thresholds": dict.fromkeys(HOSTILE, 0.5),
    }  # fmt: skip
    config = {"data": HOSTILE[1], "method": HOSTILE[0], "parameters": {HOSTILE[2]: HOSTILE[0]}, "command": HOSTILE[5]}
    path = write_fit_page(tmp_path / "a.html", model, graph, estimate=estimate, config=config)
    tab.open(path)
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    for number in range(graph.num_nodes):
        tab.evaluate(f"document.getElementById('search').value = gramme.data.nodes.names[{number}]")
        tab.evaluate("document.getElementById('search').dispatchEvent(new Event('input'))")
        tab.evaluate("document.getElementById('search').focus()")
        tab.key("Enter")
    for number in range(len(tab.texts("#colour option"))):
        tab.choose("#colour", str(number))
    for view in ("doubtful", "uncertain", "all"):
        tab.choose("#view", view)
        tab.click("#nodes th:nth-child(1) button")
    for node in range(graph.num_nodes):
        point_at(tab, node)
    tab.click("#export")
    exported = tab.downloaded("nodes.csv").decode("utf-8")
    assert "'=HYPERLINK" in exported
    assert HOSTILE[0] in exported
    assert tab.evaluate("typeof window.__pwned") == "undefined"
    assert tab.dialogs == []
    assert tab.console == []
    assert tab.requests == [path.resolve().as_uri()]
    assert tab.evaluate("document.querySelectorAll('script').length") == 2
    assert tab.evaluate("document.querySelectorAll('img, iframe, svg[onload]').length") == 0
    assert HOSTILE[1] in tab.text("h1")
    for width in (1100, 375):
        tab.size(width, 800)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_script_that_should_not_be_there_is_stopped_by_the_policy(tab: Page, path: Path, tmp_path: Path) -> None:
    """As if escaping had failed: what stands in the file as markup still does not run."""
    broken = tmp_path / "broken.html"
    text = path.read_text(encoding="utf-8")
    broken.write_text(
        text.replace("<main", "<script>window.__pwned = 1</script><img src=x onerror='window.__pwned = 2'><main", 1)
    )
    tab.open(broken)
    assert tab.evaluate("typeof window.__pwned") == "undefined"
    assert len([one for one in tab.console if "Content Security Policy" in one]) >= 2


def test_many_nodes_are_stamped_and_can_be_found(tab: Page, tmp_path: Path) -> None:
    count = 6000
    random = np.random.default_rng(0)
    answers = random.integers(0, 3, (count, 4))
    layers = {f"q{k}": MembershipLayer.from_codes(answers[:, k]) for k in range(4)}
    labels = [f"class {answers[k, 0]}" if k % 10 == 0 else None for k in range(count)]
    graph = MultilayerGraph(layers, labels=labels)
    model = OneHotLogistic().fit(graph)
    tab.open(write_fit_page(tmp_path / "a.html", model, graph))
    coloured = """(() => { const c = document.getElementById("scatter");
      return c.getContext("2d").getImageData(0, 0, c.width, c.height).data
        .filter((v, k) => k % 4 === 3 && v > 0).length; })()"""
    assert tab.evaluate(coloured) > 20
    point_at(tab, 17)
    assert tab.evaluate("document.getElementById('tip').checkVisibility()")
    tab.type("#search", "5999")
    tab.key("Enter")
    assert tab.text("#panel h3") == "5999"
    assert tab.console == []
