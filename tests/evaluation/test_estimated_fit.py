import pytest

from gramme.errors import GrammeWarning
from gramme.evaluation import EstimatePlan, cross_validate, fit_with_estimate, hold_out
from gramme.evaluation import estimated_fit as module
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import GrammeAuto, LabelPropagation, Majority


@pytest.fixture
def graph():
    ring = list(range(12))
    edges = EdgeLayer(12, ring, [*ring[1:], 0])
    return MultilayerGraph({"ring": edges}, labels=[*"aaaaabbbbb", None, None])


def test_labels_set_aside_never_reach_the_fit(graph, monkeypatch):
    seen = []
    fit = Majority.fit
    monkeypatch.setattr(Majority, "fit", lambda model, g, y: seen.append(y) or fit(model, g, y))
    found = fit_with_estimate(Majority(), graph, EstimatePlan(share=0.4), random_state=3)
    aside = hold_out(graph.labels, 0.4, 3, graph.nodes).held_out
    assert found.estimate.tested.tolist() == aside.tolist()
    assert found.estimate.labels == graph.labels[aside].tolist()
    assert all(seen[0][place] is None for place in aside)
    assert [label for label in found.train if label is not None] == [
        label for label in seen[0] if label is not None
    ]


def test_without_a_plan_it_is_the_cross_validation_of_all_labels(graph):
    model = LabelPropagation()
    found = fit_with_estimate(model, graph, random_state=1)
    expected = cross_validate(LabelPropagation(), graph, graph.labels, random_state=1)
    assert found.estimate.record() == expected.record()
    assert sum(label is not None for label in found.train) == 10
    assert sorted(model.out_of_fold().nodes.tolist()) == list(range(10))


def test_nothing_is_estimated_that_is_not_wanted_or_was_interrupted(graph, monkeypatch):
    assert fit_with_estimate(Majority(), graph, EstimatePlan(wanted=False)).estimate.kind == "none"

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "cross_validate", interrupted)
    with pytest.warns(GrammeWarning, match="the accuracy is not estimated"):
        found = fit_with_estimate(Majority(), graph, EstimatePlan(folds=3))
    assert found.estimate.note == "the estimation was interrupted"


def test_how_many_further_fits_an_estimate_takes(graph):
    model = Majority()
    assert EstimatePlan().further_fits(graph, model) == 5
    assert EstimatePlan(folds=3).further_fits(graph, model) == 3
    assert EstimatePlan(share=0.2).further_fits(graph, model) == 0
    assert EstimatePlan(wanted=False).further_fits(graph, model) == 0
    assert EstimatePlan().further_fits(graph, GrammeAuto()) == 0


def test_every_class_counts_alike_where_asked_for(graph):
    model = LabelPropagation()
    fit_with_estimate(model, graph, EstimatePlan(folds=2), balanced=True)
    assert model.class_weights_.shape == (2,)
