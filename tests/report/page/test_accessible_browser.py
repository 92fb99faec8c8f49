"""axe-core finds nothing serious on any kind of page, wide and narrow, light and dark; each begins with its answer."""

from pathlib import Path

import pytest
from tests.app.test_page import serious_violations
from tests.browser import Page
from tests.cli.test_links import run

pytestmark = pytest.mark.browser

COMMANDS = {
    "fit": ["fit", "vickers_chan", "--method", "label-propagation", "--holdout", "50%", "--leave-one-layer-out"],
    "numbers": ["fit", "TABLE", "--table", "--label", "height", "--label-kind", "number", "--set", "epochs=5"],
    "links": ["links", "vickers_chan", "--top", "5", "--layer", "get_on"],
    "rank": ["rank", "vickers_chan", "--measures", "degree,pagerank,k-shell", "--seeds", "2"],
    "groups": ["groups", "vickers_chan"],
    "ask": ["ask", "TIES", "--count", "2"],
    "benchmark": ["benchmark", "--datasets", "vickers_chan", "--methods", "majority,label-propagation", "--quick"],
}


@pytest.fixture(scope="module", params=COMMANDS)
def page_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    table = folder / "trees.csv"
    rows = [f"tree{k},{['oak', 'ash', 'elm'][k % 3]},{10 + 5 * (k % 3) + k / 100 if k < 40 else ''}" for k in range(50)]
    table.write_text("name,kind,height\n" + "\n".join(rows))
    ties = folder / "ties.csv"
    ties.write_text("source,target\n" + "\n".join(f"n{k},n{(k * k + 1) % 30}" for k in range(2, 30)))
    files = {"TABLE": str(table), "TIES": str(ties)}
    words = [files.get(word, word) for word in COMMANDS[request.param]]
    if request.param == "benchmark":
        assert run(*words, "--jobs", 1, "--quiet", "--out", folder / "b.sqlite") == 0
        assert run("report", folder / "b.sqlite", "--out", folder / "b.html") == 0
        return folder / "b.html"
    assert run(*words, "--quiet", "--out", folder / "out") == 0
    return folder / "out" / "report.html"


@pytest.mark.dataset
@pytest.mark.app
def test_nothing_serious_and_the_answer_first(tab: Page, page_path: Path) -> None:
    for width, theme in ((1400, "light"), (390, "dark")):
        tab.size(width, 900, mobile=width < 500)
        tab.prefer(prefers_color_scheme=theme)
        tab.open(page_path)
        assert serious_violations(tab) == [], (width, theme)
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        assert tab.evaluate("document.querySelector('main > *:nth-child(2)').className") == "answers"
        assert tab.texts("dl.answers dt")[-1] == "Next"
    assert tab.console == []
    assert page_path.stat().st_size < 4_000_000
