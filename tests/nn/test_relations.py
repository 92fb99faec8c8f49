"""Networks over relations: each equals its formula, node by node."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch.nn.functional as F

from gramme import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.nn import MemberRandom
from gramme.nn.relations import LabelNetwork, RelationPlan, SparseSum, StackedViews, TableNetwork, View, graph_views

NODES = 12


def mixed_graph() -> MultilayerGraph:
    random = np.random.default_rng(5)
    return MultilayerGraph(
        {
            "leads": EdgeLayer(NODES, *random.integers(0, NODES, (2, 14)), directed=True),
            "club": MembershipLayer(NODES, random.integers(0, NODES, 9), random.integers(0, 3, 9)),
        }
    )


def attended(weights: np.ndarray, said: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """One softmax per listener; zero where nobody is heard."""
    rows = []
    for weight in torch.from_numpy(weights):
        share = weight * scores.exp()
        rows.append((share[:, None] * said).sum(0) / share.sum() if share.sum() > 0 else said[0] * 0)
    return torch.stack(rows)


def heard_by_formula(network: LabelNetwork, views: list[View], state: torch.Tensor, hop: int) -> torch.Tensor:
    groups_seen = 0
    total = state @ network.own[hop] + network.own_bias[hop]
    for place, view in enumerate(views):
        weights, sources = view.matrix.toarray(), state
        if view.groups:
            vector = network.member_attention[hop, groups_seen]
            sources = attended(weights.T, state, 5 * torch.tanh(state @ vector / 5))
            groups_seen += 1
        scores = 5 * torch.tanh(sources @ network.attention[hop, place] / 5)
        total = total + attended(weights, sources, scores) @ network.weight[hop, place]
    return F.elu(total)


def test_labels_as_inputs_follow_the_formula() -> None:
    graph = mixed_graph()
    views = graph_views(graph)
    network = (
        LabelNetwork(len(views), 1, 3, columns=4, hops=2, dropout=0.3, score_bound=5.0, random=MemberRandom([0]))
        .double()
        .eval()
    )
    with torch.no_grad():
        network.attention.normal_()
        network.member_attention.normal_()
        shown, codes = torch.tensor([1, 4, 9]), torch.tensor([0, 2, 2])
        state = torch.zeros(NODES, 4, dtype=torch.float64)
        state[shown] = network.labels[codes]
        states = []
        for hop in range(2):
            state = heard_by_formula(network, views, state, hop)
            states.append(state)
        expected = torch.cat(states, 1) @ network.classifier + network.bias
        found = network((shown, codes), RelationPlan(views, 2))
    torch.testing.assert_close(found.scores[:, 0], expected)


def test_learned_inputs_follow_the_formula_and_a_source_without_a_row_says_nothing() -> None:
    graph = mixed_graph()
    views = graph_views(graph)
    starts = np.cumsum([0, *(view.matrix.shape[1] for view in views)])
    layers = [view.layer for view in views]
    stack = StackedViews([view.matrix for view in views], starts[:-1].tolist(), int(starts[-1]), layers=layers)
    rows = sum(stack.source_counts)
    network = TableNetwork(rows, 3, columns=4, dropout=0.5, score_bound=5.0, random=MemberRandom([0])).double().eval()
    with torch.no_grad():
        network.scores.normal_()
        table, scores = (torch.zeros(int(starts[-1]), 4, dtype=torch.float64), torch.zeros(int(starts[-1])))
        table[stack.sources] = network.table
        scores = scores.double()
        scores[stack.sources] = 5 * torch.tanh(network.scores / 5)
        total = network.hidden_bias.expand(NODES, -1)
        for view, start, stop in zip(views, starts[:-1], starts[1:], strict=True):
            total = total + attended(view.matrix.toarray(), table[start:stop], scores[start:stop])
        expected = F.elu(total) @ network.classifier + network.bias
        found = network(SparseSum(sp.eye_array(rows, dtype=np.float64, format="csr")), stack)
    torch.testing.assert_close(found.scores[:, 0], expected)


def test_a_muted_layer_tells_nodes_apart_no_longer() -> None:
    graph = MultilayerGraph({"joins": EdgeLayer(6, [0, 2, 4], [1, 3, 5])})
    network = LabelNetwork(1, 0, 2, columns=4, hops=1, dropout=0.0, score_bound=None, random=MemberRandom([0])).eval()
    plan = RelationPlan(graph_views(graph), 1)
    shown, codes = torch.tensor([0, 2]), torch.tensor([0, 1])
    with torch.no_grad():
        apart = network((shown, codes), plan).scores
        network.muted = (0,)
        alike = network((shown, codes), plan).scores
    assert not torch.allclose(apart[1], apart[3])
    torch.testing.assert_close(alike[1], alike[3])


def test_in_a_step_a_label_is_shown_or_asked_for_and_never_both(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = mixed_graph()
    views = graph_views(graph)
    network = LabelNetwork(
        len(views), 1, 2, columns=4, hops=2, dropout=0.2, score_bound=None, random=MemberRandom([0])
    ).train()
    plan = RelationPlan(views, 2)
    nodes = torch.arange(0, NODES, 2)
    shown: list[set[int]] = []
    states = LabelNetwork.states

    def watched(self: LabelNetwork, plan: RelationPlan, some: torch.Tensor, codes: torch.Tensor) -> list[torch.Tensor]:
        shown.append(set(some.tolist()))
        return states(self, plan, some, codes)

    monkeypatch.setattr(LabelNetwork, "states", watched)
    asked = []
    for _ in range(12):
        network((nodes, nodes % 2), plan)
        asked.append(set(nodes[network.asked].tolist()))
        assert asked[-1]
        assert not shown[-1] & asked[-1]
        assert shown[-1] | asked[-1] == set(nodes.tolist())
    assert len(set(map(frozenset, asked))) > 1  # another part in each step
    network.eval()((nodes, nodes % 2), plan)
    assert shown[-1] == set(nodes.tolist())


def test_a_label_that_is_shown_counts_and_one_that_is_not_does_not() -> None:
    nodes = np.arange(NODES)
    views = graph_views(MultilayerGraph({"ring": EdgeLayer(NODES, nodes, (nodes + 2) % NODES)}))
    network = LabelNetwork(1, 0, 2, columns=6, hops=2, dropout=0.0, score_bound=5.0, random=MemberRandom([0])).eval()
    plan = RelationPlan(views, 2, nodes)
    every = torch.arange(NODES)
    told, other = (network((every, torch.cat([torch.tensor([own]), every[1:] % 2])), plan).scores[0] for own in (0, 1))
    assert not torch.allclose(told, other)
    hidden = [network((every[1:], every[1:] % 2), plan).scores[0] for _ in range(2)]
    torch.testing.assert_close(*hidden)
