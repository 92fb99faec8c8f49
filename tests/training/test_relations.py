"""Training with hidden labels: no label reaches its own loss, and held-out labels decide when it ends."""

import numpy as np
import pytest
import torch

from gramme import EdgeLayer, MultilayerGraph
from gramme.nn.plan import Output
from gramme.nn.relations import LabelNetwork, RelationPlan, graph_views
from gramme.training.relations import RelationSettings, RelationTask, train_label_network

NODES, CLASSES = 40, 2


def ring() -> MultilayerGraph:
    nodes = np.arange(NODES)
    return MultilayerGraph({"ring": EdgeLayer(NODES, nodes, (nodes + 2) % NODES)})


def network_for(graph: MultilayerGraph, hops: int = 2) -> LabelNetwork:
    return LabelNetwork(
        len(graph_views(graph)),
        0,
        CLASSES,
        columns=6,
        hops=hops,
        dropout=0.0,
        score_bound=5.0,
        generator=torch.Generator().manual_seed(0),
    )


def task_of(codes: np.ndarray, held_out: np.ndarray) -> RelationTask:
    return RelationTask.of(np.arange(codes.size), codes, np.ones(codes.size), held_out)


class Watched(LabelNetwork):
    """Notes which labels were shown in each step, and what was asked of the scores."""

    def forward(self, plan: RelationPlan, shown: torch.Tensor, codes: torch.Tensor) -> Output:
        if self.training:
            self.steps.append(set(shown.tolist()))
        return super().forward(plan, shown, codes)


def test_a_label_that_is_predicted_is_not_shown_and_held_out_ones_are_never_shown() -> None:
    graph = ring()
    network = network_for(graph)
    network.__class__ = Watched
    network.steps = []
    held_out = np.arange(NODES) >= 35
    task = task_of(np.arange(NODES) % 2, held_out)
    asked: list[set[int]] = []
    select = torch.Tensor.index_select

    def watched(self: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
        if self.shape == (NODES, CLASSES) and self.requires_grad:
            asked.append(set(index.tolist()))
        return select(self, dim, index)

    plan = RelationPlan(graph_views(graph), 2, np.arange(NODES))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "index_select", watched)
        train_label_network(network, plan, task, RelationSettings(12, 0.01, 0.0))
    assert len(asked) == len(network.steps) == 12
    aside = set(range(35, NODES))
    for shown, hidden in zip(network.steps, asked, strict=True):
        assert hidden
        assert not shown & hidden
        assert not (shown | hidden) & aside
    assert len(set(map(frozenset, asked))) > 1  # another part in each step


def test_the_loss_of_a_node_has_no_gradient_from_its_own_label() -> None:
    graph = ring()
    network = network_for(graph)
    plan = RelationPlan(graph_views(graph), 2, np.arange(NODES))
    shown = torch.arange(1, NODES)
    codes = shown % 2
    before = network(plan, shown, codes).scores[0]
    # node 0 is hidden: whatever its label is, nothing that is given to the network tells it
    every = torch.cat([torch.tensor([0]), shown])
    told = network(plan, every, torch.cat([torch.tensor([1]), codes])).scores[0]
    other = network(plan, every, torch.cat([torch.tensor([0]), codes])).scores[0]
    assert not torch.allclose(told, other)  # a label that is shown does count, so hiding it matters
    torch.testing.assert_close(before, network(plan, shown, codes).scores[0])


def test_training_ends_by_itself_with_the_weights_that_were_best() -> None:
    graph = ring()
    network = network_for(graph)
    codes = np.arange(NODES) % 2  # even nodes are joined to even ones
    task = task_of(codes, np.arange(NODES) % 5 == 0)
    plan = RelationPlan(graph_views(graph), 2, np.arange(NODES))
    seen: list[float] = []
    done = train_label_network(
        network,
        plan,
        task,
        RelationSettings(2_000, 0.02, 0.0, every=5, patience=2),
        lambda steps, loss: seen.append(loss),
    )
    assert done.steps < len(done.history) == len(seen) < 2_000
    held = done.history.dropna()
    best = held["validation_loss"].min()
    assert held.loc[held["epoch"] == done.steps, "validation_loss"].item() == best
    right = done.held_out.argmax(1) == codes[np.arange(NODES) % 5 == 0]
    assert right.all()
    assert -done.held_out[np.arange(8), codes[::5]].mean() == pytest.approx(best)


def test_without_held_out_labels_all_steps_are_trained() -> None:
    graph = ring()
    task = task_of(np.arange(NODES) % 2, np.zeros(NODES, dtype=bool))
    plan = RelationPlan(graph_views(graph), 2, np.arange(NODES))
    done = train_label_network(network_for(graph), plan, task, RelationSettings(15, 0.01, 0.0))
    assert done.steps == len(done.history) == 15


def test_a_deadline_ends_the_training_with_something() -> None:
    graph = ring()
    task = task_of(np.arange(NODES) % 2, np.arange(NODES) % 5 == 0)
    plan = RelationPlan(graph_views(graph), 2, np.arange(NODES))
    settings = RelationSettings(500, 0.01, 0.0, deadline=0.0)
    done = train_label_network(network_for(graph), plan, task, settings)
    assert len(done.history) == 1
    assert done.held_out.shape == (8, CLASSES)
