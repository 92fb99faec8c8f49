"""Every sentence of a fit's page held against the numbers it speaks of, over several fits."""

import re
from html import unescape

import numpy as np
import pytest
from tests.methods.auto.test_gramme_auto import fits

from gramme import datasets
from gramme.evaluation import cross_validate, hold_out, holdout_estimate
from gramme.graph import MultilayerGraph
from gramme.methods import GrammeAuto, LabelPropagation, NodeClassifier, OneHotLogistic
from gramme.report.page import fit_data
from gramme.report.page.html import class_text, render

QUICK = ["label-propagation", "one-hot-logistic", "spectral-logistic"]


def text_of(page: str) -> str:
    """What a reader sees of a page without its script."""
    body = page[page.index("<main") : page.index("</main>")]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body))).replace(" ,", ",")


def unequal() -> MultilayerGraph:
    graph = fits()[1]
    labels = graph.labels.copy()
    labels[4:24:2] = 1
    return graph.replace(labels=labels)


CASES = {
    "edges": (fits()[0], GrammeAuto(ingredients=QUICK, folds=2, random_state=0), None),
    "groups": (fits()[1], GrammeAuto(ingredients=QUICK[:2], folds=2, random_state=0), None),
    "both": (fits()[2], LabelPropagation(random_state=0), 0.3),
    "unequal": (unequal(), OneHotLogistic(C=1.0, random_state=0), None),
    "scales": (datasets.load("balance_scale"), OneHotLogistic(C=1.0, random_state=0), 0.5),
}


@pytest.fixture(scope="module", params=CASES, ids=list(CASES))
def case(request) -> tuple[NodeClassifier, MultilayerGraph, dict, str]:
    graph, model, share = CASES[request.param]
    labels = graph.labels
    if share is None:
        model.fit(graph)
        estimate = cross_validate(model, graph, labels, folds=3)
        train = labels
    else:
        split = hold_out(labels, share, 0)
        train = split.train
        model.fit(graph, train)
        estimate = holdout_estimate(split, model.classes_, model.predict_proba())
    record = estimate.record() | {"predictions": estimate.predictions(graph.nodes)}
    data = fit_data(model, graph, known=train, estimate=record, config={"method": "a method"})
    return model, graph, estimate, text_of(render(data))


def found(pattern: str, text: str) -> tuple[str, ...]:
    match = re.search(pattern, text)
    assert match is not None, f"{pattern!r} is nowhere on the page"
    return match.groups()


def test_what_was_learned_from(case) -> None:
    _, graph, estimate, text = case
    learned, nodes = found(r"learned from the labels of (\d+) of (\d+) nodes", text)
    known = sum(label is not None for label in graph.labels)
    assert int(nodes) == graph.num_nodes
    assert int(learned) == known - (len(estimate.labels) if estimate.kind == "holdout" else 0)
    (layers,) = found(r"joined by (\d+) layers? of relations", text)
    assert int(layers) == graph.num_layers


def test_how_good_it_is_and_against_what(case) -> None:
    _, _, estimate, text = case
    recall = estimate.recall()
    value, what, nodes, low, high = found(
        r"([\d.]+) % ((?:balanced )?accuracy) on (\d+) \S+ nodes \(95 % interval ([\d.]+) to ([\d.]+) %\)", text
    )
    assert (what == "balanced accuracy") == recall.unequal
    wanted = recall.balanced_accuracy if recall.unequal else estimate.accuracy
    bounds = recall.balanced_interval if recall.unequal else estimate.interval
    assert [value, low, high] == [f"{100 * one:.1f}" for one in (wanted, *bounds)]
    assert int(nodes) == len(estimate.labels)
    label, share = found(r"Always saying (?:class )?(\S+), the most common class, would be right for (\d+) %", text)
    assert (label, share) == (str(recall.guess[0]), f"{100 * recall.guess[1]:.0f}")
    verdict = recall.verdict(estimate.accuracy, estimate.interval)
    assert ("no better than always saying" in text) == (verdict == "no better")
    assert ("not clearly better than always saying" in text) == (verdict == "unclear")
    assert ("Identified of each" in text) == recall.unequal
    for name, of, size in zip(recall.classes, recall.found, recall.sizes, strict=True):
        if recall.unequal:
            assert f"{class_text(name)} : {of} of {size} (" in text


def test_why_and_which_layers(case) -> None:
    model, _, _, text = case
    shares = model.layer_importance_
    for layer, share in shares.items():
        assert re.search(rf"{layer} .{{0,60}}?{100 * share:.1f} %", text.replace("_ ", "_"))
    if isinstance(model, GrammeAuto):
        assert model.explanation_ in text
        for name, weight in zip(model.models_, model.ingredients_["weight"], strict=True):
            assert re.search(rf"{name} {100 * weight:.1f} %", text)


def test_how_labels_are_judged(case) -> None:
    _, _, estimate, text = case
    for label, bar in estimate.record()["label_thresholds"].items():
        assert f"{label} {100 * bar:.1f} %" in text
    held = estimate.kind == "holdout"
    assert ("Each held-out label was judged" in text) == held
    assert ("Each label that was tested was judged" in text) == (not held)


def test_the_map_says_what_it_shows(case) -> None:
    model, _, _, text = case
    assert ("ingredients of the prediction" in text) == isinstance(model, GrammeAuto)
    assert ("no embedding" in text) == (not isinstance(model, GrammeAuto))


def test_one_case_is_unequal_and_one_is_not() -> None:
    sizes = [np.unique(list(unequal().labels[:24]), return_counts=True)[1]]
    assert sizes[0].max() > 2 * sizes[0].min()
