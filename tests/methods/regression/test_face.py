"""Table, page and short form of a regression."""

import numpy as np
import pytest
from tests.methods.graphs import planted

from gramme import DataError, GrammeRegressor, load

GRAPH = planted(60)
KNOWN = np.where(np.arange(60) % 2 == 0, np.arange(60) % 5 * 1.5, np.nan)


@pytest.fixture(scope="module")
def model():
    quick = GrammeRegressor(ingredients=["propagation", "groups-ridge"], random_state=0)
    return quick.fit(GRAPH, KNOWN)


def test_table_page_and_short_form(model, tmp_path):
    frame = model.predictions_frame(coverage=0.8)
    np.testing.assert_allclose(frame["high"] - frame["low"], 2 * model.half_width(0.8))
    np.testing.assert_array_equal(frame["known"], KNOWN)
    page = model.report(tmp_path / "page.html").read_text()
    assert f"{model.mean_absolute_error_:.4g}</strong> off on average" in page
    assert "propagation" in model._repr_html_()
    assert "not fitted yet" in GrammeRegressor()._repr_html_()
    model.save(tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predictions_frame()["known"], KNOWN)
    with pytest.raises(DataError, match="pass graph="):
        loaded.report(tmp_path / "page.html")
    assert loaded.report(tmp_path / "again.html", graph=GRAPH).is_file()
