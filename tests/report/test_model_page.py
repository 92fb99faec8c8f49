import numpy as np
import pandas as pd
from tests.methods.graphs import half_known, planted

from gramme import MultilayerGraph
from gramme.methods import LabelPropagation, OneHotLogistic
from gramme.methods.out_of_fold import OutOfFold
from gramme.report.model_page import model_estimate, write_model_page

GRAPH = planted()


def test_the_estimate_is_that_of_the_labels_predicted_unseen():
    model = OneHotLogistic(random_state=0).fit(GRAPH, half_known(GRAPH))
    assert model_estimate(model).kind == "none"
    seen = model.out_of_fold()
    estimate = model_estimate(model)
    assert estimate.accuracy == (seen.probabilities.argmax(1) == seen.codes).mean()
    assert estimate.labels == list(GRAPH.labels[seen.nodes])


def test_labels_of_classes_nobody_knows_do_no_harm(tmp_path):
    model = OneHotLogistic(random_state=0).fit(GRAPH, half_known(GRAPH))
    codes = np.array([0, 1, -1])
    model.keep_out_of_fold(OutOfFold(np.arange(3), codes, model.predict_proba()[:3]))
    assert len(model_estimate(model).labels) == 2
    text = write_model_page(tmp_path / "p.html", model, GRAPH).read_text()
    assert "cross-validated" in text


def test_couplings_stay_what_they_are(tmp_path):
    rows = [("a", f"a{k}", "a", f"a{k + 1}") for k in range(5)]
    rows += [("b", f"b{k}", "b", f"b{k + 1}") for k in range(5)]
    rows += [("a", f"a{k}", "b", f"b{k}") for k in range(6)]
    table = pd.DataFrame(rows, columns=["source_layer", "source", "target_layer", "target"])
    graph = MultilayerGraph.from_edges(table)
    model = LabelPropagation().fit(graph, {"a0": "x", "b0": "x", "a5": "y", "b5": "y"})
    page = model.report(tmp_path / "page.html").read_text()
    assert "Dashed lines join two layers." in page
