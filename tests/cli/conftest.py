"""Commands draw the maps of their pages as for larger data: by components, since t-SNE takes longer than the fits.

tests/plots/test_plane.py has both, and the tests of the page draw maps by t-SNE.
"""

import pytest


@pytest.fixture(autouse=True)
def _quick_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gramme.plots.plane.MAX_TSNE_NODES", 0)
