"""Networks of PyG's in the project's loop: the same as a loop written out by hand."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from gramme.methods.peers.base import EdgePlan, OneMember, PygOutput, moved
from gramme.training import History, Settings, Task, train

RANDOM = np.random.default_rng(0)
FEATURES = torch.from_numpy(RANDOM.normal(size=(20, 5)).astype(np.float32))
EDGES = torch.from_numpy(RANDOM.integers(20, size=(2, 60)))
NODES, CODES = np.arange(0, 20, 2), np.arange(10) % 3


class Small(nn.Module):
    """A sum over neighbours between two linear maps, with dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(5, 4), nn.Linear(4, 3)

    def forward(self, features: torch.Tensor, edges: torch.Tensor) -> PygOutput:
        hidden = F.relu(self.first(F.dropout(features, 0.3, self.training)))
        summed = torch.zeros_like(hidden).index_add(0, edges[1], hidden[edges[0]])
        return PygOutput(self.last(summed), summed)


def new() -> Small:
    torch.manual_seed(1)
    return Small()


def test_it_trains_as_a_plain_loop_does():
    by_hand = new()
    optimiser = torch.optim.Adam(by_hand.parameters(), lr=0.01, weight_decay=0.001)
    losses = []
    for _ in range(5):
        by_hand.train()
        optimiser.zero_grad()
        scores = by_hand(FEATURES, EDGES).scores[torch.from_numpy(NODES)]
        loss = F.cross_entropy(scores, torch.from_numpy(CODES))
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    network, history = new(), History()
    task = Task.of(NODES, CODES, np.ones((10, 1)), torch.device("cpu"))
    state = train(
        OneMember(network, 4),
        FEATURES,
        EdgePlan(EDGES, task.nodes),
        task,
        Settings(5, 0.01, 0.001),
        callbacks=[history],
    )
    assert state.epoch == 5
    assert [row["loss"] for row in history.rows] == pytest.approx(losses, rel=1e-5)
    for one, other in zip(network.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_a_plan_is_for_some_nodes_or_for_all():
    member = OneMember(new().eval(), 4)
    plan = EdgePlan(EDGES, torch.tensor([3, 1]))
    some, every = member(FEATURES, plan), member(FEATURES, plan.everywhere)
    assert every.scores.shape == (20, 1, 3)
    assert torch.equal(some.scores, every.scores[[3, 1]])
    assert torch.equal(some.embedding, every.embedding[[3, 1]])


@pytest.mark.parametrize("edges", [EDGES, (EDGES, torch.zeros(60)), {"a": EDGES[:, :40], "b": EDGES[:, 40:]}])
def test_edges_of_every_form_are_moved_and_counted(edges):
    assert OneMember(new(), 4).largest(EdgePlan(moved(edges, "cpu"))) == 240
