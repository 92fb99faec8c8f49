"""Fitted networks over relations on other graphs, and that what they say adds up."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.methods.graphs import planted

from gramme import MultilayerGraph
from gramme.methods.attention.relation_models import LabelInputs, LearnedInputs, layout_of, matching_views, table_views
from gramme.methods.attention.relations import RelationOptions, fit_relations
from gramme.methods.contributions import Pair
from gramme.methods.labels import known_labels
from gramme.nn.relations import RelationPlan, graph_views
from gramme.training import Settings

OPTIONS = RelationOptions(("labels", "learned"), 1, 8, 5.0, Settings(30, 0.02, 1e-4, 3))


@pytest.fixture(scope="module")
def graph() -> MultilayerGraph:
    # in the order of names, as a model sees it
    return planted(80, names=[f"n{number:02d}" for number in range(80)])


@pytest.fixture(scope="module")
def models(graph: MultilayerGraph) -> dict[str, Any]:
    known = known_labels(graph, np.where(np.arange(80) % 2, graph.labels, None))
    found = {}
    for kind in OPTIONS.kinds:
        options = RelationOptions((kind,), 1, 8, 5.0, Settings(30, 0.02, 1e-4, 3))
        pool, *_ = fit_relations(graph, known, 0, options)
        found[kind] = pool.models[0]
    return found


def pair_of(rows: list[int]) -> Pair:
    count = len(rows)
    return Pair(np.array(rows), np.zeros(count, dtype=int), np.ones(count, dtype=int))


def through_by_row(model: Any, graph: MultilayerGraph, pair: Pair) -> np.ndarray:
    every = model.through(graph, pair, np.ones(pair.rows.size))
    return np.sum([np.asarray(one.parts.sum(axis=1)).ravel() for one in every], axis=0)


def test_what_neighbours_say_to_labels_as_inputs_adds_up_to_the_scores(
    graph: MultilayerGraph, models: dict[str, Any]
) -> None:
    model: LabelInputs = models["labels"]
    pair = pair_of([0, 3, 8, 21])
    network = model.network
    with torch.no_grad():
        plan = RelationPlan(graph_views(graph), network.hops)
        states = network.states(plan, *model.known(graph))
        scores = model.output(graph).scores[:, 0].double()
        last = network.hops - 1
        columns = network.columns
        weights = network.classifier.double()
        contrast = weights[:, 0] - weights[:, 1]
        earlier = torch.cat(states[1:-1], 1).double() @ contrast[: last * columns]
        before = states[-1].double()
        inner = torch.where(before < 0, torch.log1p(before.clamp(max=0)), before)
        quotient = torch.where(inner.abs() < 1e-9, torch.ones_like(inner), before / inner)
        own = (states[-2] @ network.own[last] + network.own_bias[last]).double()
        itself = (own * quotient) @ contrast[last * columns :]
        rest = earlier + itself + (network.bias[0] - network.bias[1]).double()
    expected = (scores[:, 0] - scores[:, 1] - rest)[pair.rows].numpy()
    np.testing.assert_allclose(through_by_row(model, graph, pair), expected, atol=1e-4)


def test_what_neighbours_say_to_learned_rows_adds_up_to_the_scores(
    graph: MultilayerGraph, models: dict[str, Any]
) -> None:
    model: LearnedInputs = models["learned"]
    pair = pair_of([0, 3, 8, 21])
    network = model.network
    with torch.no_grad():
        output = model.output(graph)
        contrast = (network.classifier[:, 0] - network.classifier[:, 1]).double()
        after = output.embedding[:, 0].double()
        inner = torch.where(after < 0, torch.log1p(after.clamp(max=0)), after)
        quotient = torch.where(inner.abs() < 1e-9, torch.ones_like(inner), after / inner)
        rest = (network.hidden_bias.double() * quotient) @ contrast
        rest = rest + (network.bias[0] - network.bias[1]).double()
        scores = output.scores[:, 0].double()
    expected = (scores[:, 0] - scores[:, 1] - rest)[pair.rows].numpy()
    np.testing.assert_allclose(through_by_row(model, graph, pair), expected, atol=1e-4)


def test_on_another_graph_nodes_and_groups_are_known_by_name(graph: MultilayerGraph, models: dict[str, Any]) -> None:
    strangers = graph.replace(nodes=[f"x{number}" for number in range(80)])
    known, _ = models["labels"].known(strangers)
    assert known.numel() == 0
    said = models["labels"].probabilities(strangers)
    assert np.isfinite(said).all()
    # groups keep their names, so learned rows of groups still speak, those of neighbours do not
    there = models["learned"].rows_of(graph, graph_views(graph), table_views(graph_views(graph)))
    fewer = models["learned"].rows_of(strangers, graph_views(strangers), table_views(graph_views(strangers)))
    assert 0 < fewer.heard.members.numel() < there.heard.members.numel()


def test_layer_shares_and_attention_received(graph: MultilayerGraph, models: dict[str, Any]) -> None:
    for model in models.values():
        shares = model.layer_shares(graph)
        assert shares.shape == (2,)
        assert shares.sum() == pytest.approx(1)
        assert model.network.muted == ()
        received = model.received(graph, 1)
        assert received.shape == (2, 80)
        assert np.nanmean(received[0]) == pytest.approx(1)
    assert np.isnan(models["learned"].received(graph, 2)).all()
    assert np.isnan(models["labels"].received(graph, 9)).all()


def test_views_of_the_fit_are_asked_for(graph: MultilayerGraph) -> None:
    layout = layout_of(graph_views(graph))
    assert layout == [(0, False, False), (1, False, True)]
    assert len(matching_views(graph, layout)) == 2


def test_an_empty_graph_gets_empty_predictions(graph: MultilayerGraph, models: dict[str, Any]) -> None:
    nobody = graph.subset([]) if hasattr(graph, "subset") else graph.subgraph([])
    for model in models.values():
        assert model.probabilities(nobody).shape == (0, 3)


def test_some_nodes_tell_the_importance_of_layers_on_a_large_graph(
    graph: MultilayerGraph, models: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {kind: model.layer_shares(graph) for kind, model in models.items()}
    monkeypatch.setattr("gramme.methods.attention.relation_models.MAX_EXPLAINED_NODES", 40)
    for kind, model in models.items():
        assert model.layer_shares(graph) == pytest.approx(whole[kind], abs=0.2)
