"""Draws the pictures of docs/learn/app.md anew: goes through the app in a real browser, as the page tells it.

python docs/make_app_pictures.py [FOLDER]

Into a folder that is named come pictures of the dark and of a phone as well, to be looked at. All are stored with few
colours to keep them small.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from tests.app.people import team_of, write_office  # noqa: E402
from tests.app.serving import Served, running  # noqa: E402
from tests.app.test_page import drop, fit, give, open_page, select_node  # noqa: E402
from tests.browser import Page, browser  # noqa: E402

COLOURS = 96
PICTURED = "document.documentElement?.dataset.pictured === 'yes'"


def shoot(page: Page, path: Path) -> None:
    page.evaluate("scrollTo(0, 0)")
    page.frames(5)
    time.sleep(0.5)
    page.screenshot(path)
    Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(path)


def draw(page: Page, served: Served, data: Path, out: Path, *, more: bool) -> None:
    paths = write_office(data, labelled=6)
    names = [line.split(",")[0] for line in paths[2].read_text().splitlines()[1:]]
    truth = {name: team_of(place) for place, name in enumerate(names)}
    page.size(1400, 900)
    open_page(page, served)
    drop(page, paths)
    shoot(page, out / "1-open.png")
    page.click("#open-plan")
    page.wait(PICTURED)
    for name in names[6:10]:
        select_node(page, name)
        give(page, truth[name])
    shoot(page, out / "2-label.png")
    page.click("#fit")
    page.wait("document.querySelector('.job progress')?.value > 0.05", 60)
    shoot(page, out / "3-fit.png")
    page.wait("document.querySelector('#fit-accuracy') !== null", 60)
    page.click("#ask")
    page.wait("document.querySelectorAll('#queue li').length >= 5", 60)
    for name in page.texts("#queue li button")[:5]:
        page.wait(f"document.querySelector('#node-name')?.innerText === {name!r}")
        give(page, truth[name])
    fit(page, 2)
    page.wait("document.querySelector('#change-count') !== null")
    page.evaluate("document.querySelector('aside').scrollTop = 0; 1")
    shoot(page, out / "4-changed.png")
    page.click("#tab-send")
    shoot(page, out / "5-send.png")
    page.click("#tab-network")
    if not more:
        return
    for width, scheme, name in ((1400, "dark", "dark"), (390, "light", "phone"), (390, "dark", "phone-dark")):
        page.size(width, 844, 2 if width < 500 else 1, mobile=width < 500)
        page.prefer(prefers_color_scheme=scheme)
        shoot(page, out / f"{name}.png")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "figures" / "app"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with running(folder / "project") as served, browser(folder / "browser") as page:
            draw(page, served, folder, target, more=len(sys.argv) > 1)
