"""The plan of a fit: its stages together are the whole, and the estimate's cost is part of it."""

from types import SimpleNamespace

import pytest

from gramme.cli import fit_plan as module
from gramme.cli.fit_plan import FitPlan
from gramme.datasets import load
from gramme.evaluation.cross_validation import EstimatePlan
from gramme.methods import GrammeAuto, GrammeFusion


def test_the_estimate_is_part_of_the_plan() -> None:
    graph = load("balance_scale")
    plain = FitPlan.of(graph, GrammeFusion(), EstimatePlan(wanted=False))
    folds = FitPlan.of(graph, GrammeFusion(), EstimatePlan())
    assert plain.tests == 0
    assert folds.tests == pytest.approx(5 * plain.fit)
    assert folds.seconds == pytest.approx(6 * plain.fit + plain.page)
    assert sum(map(folds.share, (folds.fit, folds.tests, folds.page))) == pytest.approx(1)
    assert FitPlan.of(graph, GrammeAuto(), EstimatePlan()).tests == 0, "it tests itself"
    assert FitPlan.of(graph, GrammeFusion(), EstimatePlan(share=0.2)).tests == 0
    assert FitPlan.of(graph, GrammeAuto(), EstimatePlan(folds=3)).tests > 0


def test_several_processes_share_a_fit_and_wait_for_each_other(monkeypatch) -> None:
    graph = load("balance_scale")
    alone = FitPlan.of(graph, GrammeFusion(ensemble=100), EstimatePlan())
    monkeypatch.setattr(module, "world_of", lambda graph: SimpleNamespace(size=4))
    four = FitPlan.of(graph, GrammeFusion(ensemble=100), EstimatePlan())
    assert four.fit == pytest.approx(alone.fit / 4 + module.WAITING_SECONDS)
    assert four.tests == pytest.approx(5 * four.fit)
    assert four.page == alone.page, "the first writes alone"


@pytest.mark.parametrize("model", [GrammeAuto(), GrammeFusion()])
def test_before_the_data_are_read_their_size_gives_much_the_same(model) -> None:
    graph = load("balance_scale")
    read = FitPlan.of(graph, model, EstimatePlan()).seconds
    guessed = FitPlan.by_size(graph.num_entries, model, EstimatePlan()).seconds
    assert 0.4 < guessed / read < 2.5


def test_a_budget_bounds_the_plan() -> None:
    bounded = FitPlan.by_size(5e6, GrammeAuto(budget="1m"), EstimatePlan())
    assert bounded.seconds < FitPlan.by_size(5e6, GrammeAuto(), EstimatePlan()).seconds
