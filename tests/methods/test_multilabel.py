"""Several labels per node: the forms they come in, a model per label, scores, files, and the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, label_ranking_loss

import gramme
from gramme import DataError, EdgeLayer, GrammeRegressor, MembershipLayer, MultiLabelClassifier, MultilayerGraph
from gramme.cli.app import main
from gramme.errors import GrammeWarning
from gramme.methods import LabelPropagation, OneHotLogistic
from gramme.methods.multilabel import compare_label_sets, known_label_sets, multilabel_scores

CODES = np.arange(40) % 4
GRAPH = MultilayerGraph({"club": MembershipLayer.from_codes(CODES)}, nodes=[f"n{place}" for place in range(40)])
WHOLE = [[["even"], [], ["even", "high"], ["high"]][code] for code in CODES]
HALF = [labels if place < 20 else None for place, labels in enumerate(WHOLE)]
TRUTH = np.array([[code % 2 == 0, code > 1] for code in CODES])


def method() -> LabelPropagation:
    return LabelPropagation(random_state=0)


@pytest.fixture(scope="module")
def model() -> MultiLabelClassifier:
    return MultiLabelClassifier(method()).fit(GRAPH, HALF)


def indicator() -> pd.DataFrame:
    frame = pd.DataFrame(TRUTH.astype(float), columns=["even", "high"], index=GRAPH.nodes)
    frame.iloc[20:] = np.nan
    return frame


FORMS = {
    "tuples": lambda: [None if labels is None else tuple(labels) for labels in HALF],
    "by name": lambda: {node: labels for node, labels in zip(GRAPH.nodes, HALF, strict=True) if labels is not None},
    "indicator in another order": lambda: indicator()[::-1],
    "series of sets": lambda: pd.Series([None if one is None else set(one) for one in HALF], index=GRAPH.nodes)[::-1],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_labels_gives_the_same(form, model):
    again = MultiLabelClassifier(method()).fit(GRAPH, FORMS[form]())
    assert again.classes_.tolist() == ["even", "high"]
    np.testing.assert_array_equal(again.predict_proba(), model.predict_proba())


def test_texts_are_split_where_a_separator_is_given():
    texts = [None if labels is None else "; ".join(labels) for labels in HALF]
    known = known_label_sets(GRAPH, texts, separator=";")
    assert (known.nodes == np.arange(20)).all(), "an empty text has no label, which is known"
    np.testing.assert_array_equal(known.indicator, TRUTH[:20])


def test_each_label_is_a_question_of_its_own(model):
    answers = np.full(40, None, dtype=object)
    answers[:20] = TRUTH[:20, 0]
    np.testing.assert_array_equal(model.predict_proba()[:, 0], method().fit(GRAPH, answers).predict_proba()[:, 1])
    np.testing.assert_array_equal(model.predict(), TRUTH)
    assert model.predict_sets()[22] == ("even", "high")
    assert model.score(y=WHOLE) == 1
    assert model.score(y=WHOLE, metric="ranking_loss") == 0


def test_a_label_that_all_or_none_have_needs_no_model():
    y = [None if labels is None else [*labels, "all"] for labels in HALF]
    both = MultiLabelClassifier(method()).fit(GRAPH, y)
    assert both.models_["all"] == 1.0
    assert (both.predict_proba()[:, both.classes_.tolist().index("all")] == 1).all()


def test_scores_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    truth, shares = random.random((50, 4)) < 0.4, random.random((50, 4))
    scores = multilabel_scores(truth, shares)
    assert scores["macro_f1"] == f1_score(truth, shares >= 0.5, average="macro")
    assert scores["micro_f1"] == f1_score(truth, shares >= 0.5, average="micro")
    mixed = truth.any(axis=1) & ~truth.all(axis=1)
    assert scores["ranking_loss"] == label_ranking_loss(truth[mixed], shares[mixed])


def test_it_predicts_other_graphs_and_is_saved(tmp_path: Path):
    fitted = MultiLabelClassifier(OneHotLogistic(random_state=0), threshold=0.4).fit(GRAPH, HALF)
    fitted.save(tmp_path / "model")
    loaded = gramme.load(tmp_path / "model")
    part = GRAPH.subgraph(GRAPH.nodes[5:15])
    for graph in (None, part):
        np.testing.assert_array_equal(loaded.predict(graph), fitted.predict(graph))
    assert loaded.threshold == 0.4
    assert loaded.predictions_frame().equals(fitted.predictions_frame())


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([["a"]] * 39, "39 sets of labels were given for 40 nodes"),
        ({"n0": ["a"], "nobody": ["b"]}, "'nobody', which is no node"),
        ({"n0": ["a"]}, "of 1 nodes are known"),
        ([[]] * 40, "no node has any label"),
        (np.full((40, 2), 2.0), "holds 0 and 1"),
        (np.zeros((3, 2)), "3 rows for 40 nodes"),
    ],
)
def test_mistakes_are_named(y, said):
    with pytest.raises(DataError, match=said):
        MultiLabelClassifier(method()).fit(GRAPH, y)


def test_where_it_cannot_serve_it_says_so(model):
    with pytest.raises(DataError, match="must be a method that predicts classes, not GrammeRegressor"):
        MultiLabelClassifier(GrammeRegressor()).fit(GRAPH, HALF)
    with pytest.raises(DataError, match="learned from, which says nothing"):
        model.score(y=HALF)


def test_sets_hold_the_true_answer_of_each_label_as_often_as_promised():
    random = np.random.default_rng(0)
    codes = random.integers(0, 4, 400)
    graph = MultilayerGraph({"club": MembershipLayer.from_codes(np.where(random.random(400) < 0.8, codes, 0))})
    sets = [[label for label, has in (("even", code % 2 == 0), ("high", code > 1)) if has] for code in codes]
    known = [[*one, "all"] if node < 200 else None for node, one in enumerate(sets)]
    answers = MultiLabelClassifier(OneHotLogistic(random_state=0)).fit(graph, known).predict_set(coverage=0.9)
    assert answers.shape == (400, 3, 2)
    assert (answers[:, 0] == [False, True]).all(), "all have this label"
    truth = np.stack([codes % 2 == 0, codes > 1], axis=1).astype(int)
    held = np.take_along_axis(answers[200:, 1:], truth[200:, :, None], axis=2)
    assert held.mean() > 0.85


def test_methods_are_compared_on_the_same_splits():
    methods = {"spread": method(), "same": method(), "clubs": OneHotLogistic(random_state=0)}
    table = compare_label_sets(GRAPH, methods, WHOLE, train=30, repeats=2)
    assert table["method"].tolist() == ["spread", "same", "clubs"] * 2
    scores = ["macro_f1", "micro_f1", "exact", "ranking_loss"]
    spread, same = (table.loc[table["method"] == name, scores].to_numpy() for name in ("spread", "same"))
    np.testing.assert_array_equal(spread, same)
    assert (table["micro_f1"] > 0.7).all()
    one = np.random.default_rng(1).permutation(40)
    y = [WHOLE[node] if node in one[:12] else None for node in range(40)]
    alone = MultiLabelClassifier(method()).fit(GRAPH, y).score(y=WHOLE)
    assert table["micro_f1"][3] == pytest.approx(alone)


def test_isolated_nodes_and_odd_names():
    layer = EdgeLayer(4, [0], [1])
    graph = MultilayerGraph({"a": layer}, nodes=["ä;b", "\u202e", 3, ("x", 1)])
    fitted = MultiLabelClassifier(method()).fit(graph, [["x"], ["y"], ["x", "y"], None])
    assert np.isfinite(fitted.predict_proba()).all()


def test_the_command_line_writes_a_column_per_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    table = pd.DataFrame({"id": GRAPH.nodes, "club": [f"c{code}" for code in CODES]})
    table["topics"] = [";".join(labels) if labels else None for labels in WHOLE]
    table.to_csv(tmp_path / "people.csv", index=False)
    words = ["fit", str(tmp_path / "people.csv"), "--table", "--id", "id", "--label", "topics", "--method"]
    words += ["one-hot-logistic", "--label-separator", ";", "--holdout", "30%", "--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    found = pd.read_csv(tmp_path / "out" / "predictions.csv").set_index("node")
    assert {"known", "predicted", "probability_even", "probability_high", "held_out"} <= set(found.columns)
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["labels"] == ["even", "high"]
    assert config["estimate"]["nodes"] == found["held_out"].sum() == 9
    assert config["estimate"]["micro_f1"] > 0.9
    assert "macro-F1" in capsys.readouterr().out
    page = (tmp_path / "out" / "report.html").read_text()
    estimate = config["estimate"]
    assert f"macro-F1 {estimate['macro_f1']:.2f}, micro-F1 {estimate['micro_f1']:.2f}</strong> on 9 held-out" in page
    assert main_ends(["report", str(tmp_path / "out"), "--out", str(tmp_path / "again.html")]) == 0
    assert "Least certain rows" in (tmp_path / "again.html").read_text()


def main_ends(words):
    with pytest.raises(SystemExit) as ended:
        main(words)
    return ended.value.code


def test_labels_that_look_alike_are_said():
    with pytest.warns(GrammeWarning, match="the labels 'Chess' and 'chess' differ in case"):
        known_label_sets(GRAPH, [["chess"], ["Chess", "go"]] * 20)
