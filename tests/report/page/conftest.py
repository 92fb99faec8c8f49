"""One browser for all tests of the page, which share a process; each test opens its page anew."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.browser import Page, browser


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def tab(chromium: Page) -> Page:
    """A tab at the size of a desk's screen with nothing noted yet."""
    chromium.console.clear()
    chromium.dialogs.clear()
    chromium.prefer(prefers_color_scheme="light", prefers_reduced_motion="reduce")
    chromium.size(1100, 900)
    for file in chromium.downloads.iterdir():
        file.unlink()
    return chromium
