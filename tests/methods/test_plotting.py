import re

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

import gramme
from gramme import DataError
from gramme.methods import LabelPropagation, Majority, OneHotLogistic, TableBoosting

GRAPH = planted()
Y = half_known(GRAPH)


@pytest.fixture(scope="module")
def model():
    return OneHotLogistic(random_state=0).fit(GRAPH, Y)


def test_predictions_as_a_table(model):
    table = model.predictions_frame()
    assert list(table.columns[:3]) == ["known", "predicted", "probability"]
    assert table.loc["n3", "predicted"] == model.predict()[3]
    assert table["known"].tolist() == list(Y)
    np.testing.assert_array_equal(table[[f"probability_{one}" for one in "abc"]], model.predict_proba())
    part = GRAPH.subgraph(GRAPH.nodes[:10])
    other = model.predictions_frame(part, coverage=0.8)
    assert other["known"].isna().all()
    sets = model.predict_set(part, coverage=0.8)
    assert [len(one) for one in other["set"]] == sets.sum(axis=1).tolist()
    assert set(other["set"].iloc[0]) <= {"a", "b", "c"}


def test_a_loaded_model_has_the_same_table(model, tmp_path):
    model.save(tmp_path / "m.safetensors")
    assert gramme.load(tmp_path / "m.safetensors").predictions_frame().equals(model.predictions_frame())


def test_a_page_from_python(model, tmp_path):
    path = LabelPropagation(random_state=0).fit(GRAPH, Y).report(tmp_path / "page.html")
    assert "was not measured" in path.read_text()
    model.out_of_fold()
    path = model.report(tmp_path / "measured.html")
    text = path.read_text()
    assert "accuracy on 18 labelled nodes" in text
    assert "one-hot-logistic" in text
    model.save(tmp_path / "m.safetensors")
    loaded = gramme.load(tmp_path / "m.safetensors")
    with pytest.raises(DataError, match="pass graph="):
        loaded.report(tmp_path / "again.html")
    assert loaded.report(tmp_path / "again.html", graph=GRAPH).is_file()


def test_a_notebook_shows_settings_facts_and_layers(model):
    html = model._repr_html_()
    assert "OneHotLogistic(random_state=0)" in html
    assert "learned from 18 of 36 nodes in 2 layers; 3 classes: a, b, c" in html
    assert html.count("<tr>") == 3
    assert len(html) < 2000
    assert model._repr_mimebundle_() == {"text/plain": repr(model), "text/html": html}
    assert "not fitted yet" in OneHotLogistic()._repr_html_()
    assert "<table" not in Majority().fit(GRAPH, Y)._repr_html_()


def test_a_notebook_shows_trees_as_well():
    numbered = GRAPH.replace(features=np.random.default_rng(0).normal(size=(36, 2)))
    assert "learned from 18 of 36 nodes" in TableBoosting(random_state=0).fit(numbered, Y)._repr_html_()


def test_names_cannot_steer_the_notebook():
    hostile = planted(classes=("<script>alert(1)</script>", "b", "c"))
    layers = {f"<img src=x onerror=alert({n})>": hostile["room"] for n in range(9)}
    html = OneHotLogistic().fit(hostile.replace(layers=layers))._repr_html_()
    assert not re.search(r"<(script|img)", html)
    assert "and 3 more" in html
