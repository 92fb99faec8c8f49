"""The page of several labels per node: figures against scikit-learn, the caveat that fits, and names as text."""

import json
import re
from html import unescape

import numpy as np
import pytest
from sklearn.metrics import f1_score

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods import LabelPropagation, MultiLabelClassifier
from gramme.methods.multilabel import known_label_sets, multilabel_scores
from gramme.report.page.html import render
from gramme.report.page.label_sets_page import label_sets_data

CODES = np.arange(60) % 4
SETS = [["<b>even</b>"], [], ["<b>even</b>", "high"], ["high"]]
NAMES = ["<i>Ann</i>", *(f"n{place}" for place in range(1, 60))]
GRAPH = MultilayerGraph({"club": MembershipLayer.from_codes(CODES)}, nodes=NAMES[::-1], name="people")
Y = [SETS[code] if place >= 20 else None for place, code in enumerate(CODES[::-1])][::-1]
MODEL = MultiLabelClassifier(LabelPropagation(random_state=0)).fit(GRAPH, Y)
KNOWN = known_label_sets(GRAPH, Y)
MOSTLY_EVEN = KNOWN.indicator[KNOWN.indicator[:, 0] | ~KNOWN.indicator[:, 1]]


def data_for(shares: np.ndarray, truth: np.ndarray = KNOWN.indicator) -> dict:
    estimate = {"kind": "out_of_fold", "nodes": len(truth)}
    if len(truth):
        estimate |= multilabel_scores(truth, shares)
    unseen = {"training": KNOWN, "truth": truth, "test_probabilities": shares}
    return label_sets_data(MODEL, GRAPH, {"estimate": estimate}, **unseen)


def words_of(data: dict) -> str:
    body = render(data).split("<body>")[1].split('<script type="application/json"')[0]
    return " ".join(unescape(re.sub("<[^>]*>", "", body)).split())


def test_figures_are_those_of_scikit_learn_and_names_are_text() -> None:
    shares = np.random.default_rng(0).uniform(0.2, 0.6, KNOWN.indicator.shape) + 0.3 * KNOWN.indicator
    data = data_for(shares)
    json.dumps(data, allow_nan=False)
    expected = f1_score(KNOWN.indicator, shares >= 0.5, average=None)
    assert [row["f1"] for row in data["labels"]] == expected.tolist()
    assert [row["known"] for row in data["labels"]] == KNOWN.indicator.sum(axis=0).tolist()
    always_both = f1_score(KNOWN.indicator, np.ones_like(KNOWN.indicator), average="micro")
    assert data["guess_micro_f1"] == pytest.approx(always_both)
    page, words = render(data), words_of(data)
    assert "<b>even" not in page
    assert "<i>Ann" not in page
    assert "Which of 2 labels (<b>even</b>, high) the other 20 nodes have" in words
    assert f"macro-F1 {expected.mean():.2f}" in words
    assert "each predicted without its own labels (out of fold)" in words
    assert data["uncertain"][0]["node"] in NAMES
    gaps = [abs(row["probability"] - 0.5) for row in data["uncertain"]]
    assert gaps == sorted(gaps)


@pytest.mark.parametrize(
    ("given", "truth", "caveat"),
    [
        ([1.0, 1.0], KNOWN.indicator[:0], "before they were compared with known labels"),
        ([0.0, 0.0], KNOWN.indicator, "no better than giving every node the same most frequent labels"),
        ([1.0, 0.0], MOSTLY_EVEN, "1 of 2 labels was never predicted correctly: high."),
        ([1.0, 1.0], KNOWN.indicator[:12], "2 of 2 labels were tested on fewer than 10 nodes"),
        ([1.0, 1.0], KNOWN.indicator, "Each label is predicted by itself"),
    ],
    ids=["nothing tested", "no label found", "one label missed", "few tested", "good"],
)
def test_the_caveat_that_matters_is_said(given: list[float], truth: np.ndarray, caveat: str) -> None:
    assert caveat in words_of(data_for(truth * np.array(given), truth))
