"""The scikit-learn face: its own checks, grid search, and what indices may be."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.methods.graphs import PINNED, planted

from gramme import DataError, GrammeFusion, GrammeSG, GrammeWarning, datasets
from gramme.methods import NodeIndexClassifier

FAST = PINNED | {"epochs": 3, "ensemble": 1, "learning_rate": 0.05}
GRAPH = planted(60, ("no", "yes"), names=list(range(60)))
Y = GRAPH.labels.astype(str)
NODES = np.arange(60)


class FirstColumn(NodeIndexClassifier):
    """Looks at the first column only, since scikit-learn's checks make tables of several columns.

    (Its tag for one-dimensional input does not help: many checks take the first column of what is one already.)
    """

    def _column(self, X):
        return X[:, 0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = False
        return tags


EXPECTED = {
    "check_fit2d_predict1d": "one axis is welcome here",
    "check_positive_only_tag_during_fit": "the negative numbers are in other columns than the first",
    "check_dtype_object": "the error is gramme's own, a ValueError, not a TypeError",
    "check_estimators_nan_inf": "contradicting labels of its two nodes leave a single class",
}


@parametrize_with_checks(
    [FirstColumn(datasets.load("synthetic", nodes=400, degree=4), GrammeFusion(**FAST))],
    expected_failed_checks=lambda estimator: EXPECTED,
)
@pytest.mark.filterwarnings("ignore::gramme.errors.GrammeWarning")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def model(**changes):
    return NodeIndexClassifier(GRAPH, GrammeFusion(**FAST | {"epochs": 25} | changes))


@pytest.mark.parametrize("kind", [GrammeFusion, GrammeSG])
def test_it_is_the_method_with_these_labels_only(kind):
    method = kind(**FAST)
    adapted = NodeIndexClassifier(GRAPH, method).fit(NODES[:20], Y[:20])
    plain = clone(method).fit(GRAPH, dict(zip(NODES[:20].tolist(), Y[:20], strict=True)))
    assert adapted.classes_.tolist() == plain.classes_.tolist()
    assert (adapted.predict_proba(NODES) == plain.predict_proba()).all()
    assert (adapted.predict(NODES[[7, 3, 3]]) == plain.predict()[[7, 3, 3]]).all()
    assert not hasattr(method, "classes_")


def test_grid_search_finds_its_way():
    graph = datasets.load("synthetic", nodes=90, signal=[0.9, 0.8], random_state=0)
    search = GridSearchCV(
        NodeIndexClassifier(graph, GrammeFusion(**FAST)),
        {"estimator__hidden_dim": [2, 8], "estimator__epochs": [1, 30]},
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    )
    search.fit(np.arange(90)[:60], graph.labels[:60].astype(int))
    assert search.best_params_["estimator__epochs"] == 30
    assert search.best_score_ > 0.7
    assert search.score(np.arange(60, 90), graph.labels[60:].astype(int)) > 0.7


def test_folds_hide_labels_not_nodes():
    """Random labels cannot be predicted: if a fold leaked, this would be far from one half."""
    random = np.random.default_rng(0).permutation(Y)
    assert cross_val_score(model(), NODES, random, cv=5).mean() < 0.75
    assert cross_val_score(model(), NODES, Y, cv=3).mean() > 0.8


def test_a_clone_shares_the_graph():
    first = model()
    assert clone(first).graph is GRAPH
    assert clone(first).estimator is not first.estimator
    assert clone(first).get_params()["estimator__epochs"] == 25


@pytest.mark.parametrize(
    "X",
    [
        list(range(20)),
        range(20),
        np.arange(20, dtype=np.uint8),
        np.arange(20.0),
        np.arange(20)[:, None],
        pd.DataFrame({"node": range(20)}),
        pd.Series(range(20)),
        np.arange(20).astype(object),
    ],
)
def test_positions_in_every_form(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names of columns in fit only
        fitted = model(epochs=2).fit(X, Y[:20])
        assert len(fitted.predict(X)) == 20
        assert len(fitted.predict(NODES)) == 60


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([0, -1], "Negative values in data passed to X: it must hold positions of nodes.* not -1"),
        ([0, 60], "whole numbers from 0 to 59, not 60"),
        ([0, 1.5], "whole numbers from 0 to 59, not 1.5"),
        (["n0", "n1"], "X must hold positions of nodes"),
        ([[0, 1], [2, 3]], "X must have one column, the positions of nodes, not 2"),
        ([0, np.nan], "NaN"),
        ([], "minimum of 1 is required"),
    ],
)
def test_what_is_no_position_is_a_clear_error(X, message):
    with pytest.raises(ValueError, match=message):
        model().fit(X, ["no", "yes"])


def test_wrong_parts_are_clear_errors():
    with pytest.raises(DataError, match="graph must be a MultilayerGraph, not ndarray"):
        NodeIndexClassifier(np.eye(3), GrammeFusion()).fit([0, 1], ["a", "b"])
    with pytest.raises(DataError, match="estimator must be a gramme method"):
        NodeIndexClassifier(GRAPH, BaggingClassifier()).fit([0, 1], ["a", "b"])
    with pytest.raises(DataError, match=r"y has one class only, .*'a'.*; at least two are needed"):
        model().fit([0, 1], ["a", "a"])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model().fit([0, 1], ["a", "b", "a"])
    with pytest.raises(NotFittedError):
        model().predict([0])


def test_every_label_is_a_class_also_minus_one():
    fitted = model().fit(NODES[:20], np.where(Y[:20] == "yes", 1, -1))
    assert fitted.classes_.tolist() == [-1, 1]
    assert set(fitted.predict(NODES).tolist()) <= {-1, 1}


def test_a_node_given_twice_counts_once():
    once = model().fit(NODES[:20], Y[:20]).predict_proba(NODES)
    twice = model().fit(np.tile(NODES[:20], 2), np.tile(Y[:20], 2)).predict_proba(NODES)
    assert once.tobytes() == twice.tobytes()
    assert (
        BaggingClassifier(model(), n_estimators=2, random_state=0).fit(NODES[:, None], Y).score(NODES[:, None], Y) > 0.6
    )


def test_contradicting_labels_give_the_most_frequent_one_with_a_warning():
    nodes, labels = np.append(NODES[:20], [0, 0]), np.append(Y[:20], ["other", "other"])
    with pytest.warns(GrammeWarning, match="1 nodes were given with several labels, among them 0"):
        fitted = model().fit(nodes, labels)
    assert fitted.estimator_.transduction_[0] == list(fitted.classes_).index("other")
    once = np.append(Y[:20], "other")
    with pytest.warns(GrammeWarning, match="several labels"):
        fitted = model().fit(np.append(NODES[:20], 0), once)
    assert fitted.predict_proba(NODES).shape == (60, 3)


def test_the_recipe_for_optuna_in_the_docs_runs(capsys):
    pytest.importorskip("optuna")
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "settings.md").read_text(encoding="utf-8")
    found = re.search(r":caption: search\.py\n\n(.*?)```", page, re.DOTALL)
    assert found
    names: dict[str, Any] = {}
    exec(found[1].replace("n_trials=20", "n_trials=1"), names)
    assert set(names["study"].best_params) == {"hidden_dim", "learning_rate"}
