"""A plan for some nodes gives what the whole network says about them, with fewer sums where that pays."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.nn.test_networks import CHOICES, features_for, fusion, graph_of, plan_of, shape_of
from torch import Tensor

from gramme.graph import MembershipLayer
from gramme.nn import MemberRandom, Network, Plan, SGNetwork, fusion_plan, supra_plan
from gramme.nn.plan import Step
from gramme.ops import EdgeSum, GroupSum, MembershipSum
from gramme.ops import neighbourhood as memberships

ASKED = np.array([1, 2, 7, 11])
KINDS = ["end", "every hop", "own architectures", "sg", "sg every hop"]


def network_of(kind: str, graph: Any) -> Network:
    shape = shape_of(graph)
    if kind.startswith("sg"):
        return SGNetwork(shape, MemberRandom([1, 2]), pool=kind[3:] or "end").double()
    if kind == "own architectures":
        shape = shape_of(graph, depth=tuple(1 + i % 2 for i in range(graph.num_layers)))
    return fusion(shape, fuse="every hop" if kind == "every hop" else "end")


def gradients(network: Network, scores: Tensor) -> list[Tensor]:
    network.zero_grad()
    (scores**2).sum().backward()  # type: ignore[no-untyped-call]
    # where a group stands for its members, the attention of later hops cannot matter
    return [torch.zeros_like(one) if one.grad is None else one.grad.clone() for one in network.parameters()]


@pytest.mark.parametrize("nodes", [ASKED, np.arange(12)], ids=["some", "all"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CHOICES)
def test_a_network_says_of_some_nodes_what_it_says_of_them_among_all(name: str, kind: str, nodes: np.ndarray) -> None:
    graph = graph_of(name)
    network = network_of(kind, graph)
    features = features_for(graph.num_nodes)
    plan = plan_of(network, graph, nodes)
    full, some = network(features, plan.everywhere), network(features, plan)
    chosen = torch.from_numpy(nodes)
    torch.testing.assert_close(some.embedding, full.embedding[chosen])
    torch.testing.assert_close(some.scores, full.scores[chosen])
    wanted = gradients(network, full.scores[chosen])
    torch.testing.assert_close(gradients(network, some.scores), wanted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in CHOICES if "groups" in name])
def test_the_last_hop_is_narrowed_where_there_are_many_memberships(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memberships, "MANY_MEMBERSHIPS", 0)
    graph = graph_of(name)
    plan = plan_of(network_of(kind, graph), graph, ASKED)
    last = [plan.steps(place)[-1].sum for place in range(len(plan.chains))]
    sums = [one for one in last if isinstance(one, MembershipSum)]
    assert all(one.outputs == ASKED.size * one.rows // graph.num_nodes for one in sums)
    test_a_network_says_of_some_nodes_what_it_says_of_them_among_all(name, kind, ASKED)


@pytest.mark.parametrize("kind", ["end", "sg"])
@pytest.mark.parametrize("name", CHOICES)
def test_the_last_hop_is_narrowed_where_there_are_edges(name: str, kind: str) -> None:
    graph = graph_of(name)
    plan = plan_of(network_of(kind, graph), graph, ASKED)
    first, last = plan.steps(0)
    only_groups = all(isinstance(layer, MembershipLayer) for layer in graph.layers.values())
    if only_groups:
        assert plan.nodes is not None
        assert plan.nodes.tolist() == ASKED.tolist()
    else:
        assert plan.nodes is None
        assert last.sum is not None
        assert last.sum.outputs == graph.num_layers * ASKED.size
        assert first.sum is plan.everywhere.steps(0)[1].sum, "one sum serves all other hops"


def test_a_plan_for_all_nodes_is_its_own_everywhere() -> None:
    graph = graph_of("mixed")
    plan = supra_plan(graph, shape_of(graph))
    assert plan.everywhere is plan
    assert plan.nodes is None


@pytest.mark.parametrize(("fuse", "dropout"), [("end", 0.0), ("end", 0.5), ("every hop", 0.0)])
def test_groups_stand_for_their_members_to_the_end(fuse: str, dropout: float) -> None:
    graph = graph_of("groups")
    shape = shape_of(graph, depth=(3, 3, 3), dropout=dropout)
    steps = fusion_plan(graph, shape, ASKED, fuse=fuse).steps(0)
    assert isinstance(steps[0].sum, GroupSum)
    stands = fuse == "end" and not dropout
    assert [step.sum is None for step in steps] == [False, stands, stands]
    assert [step.groups is None for step in steps] == [stands, stands, False]


def test_layers_of_several_architectures_have_chains_of_their_own() -> None:
    graph = graph_of("mixed")
    shape = shape_of(graph, depth=(1, 2, 1, 1, 2))
    plan = fusion_plan(graph, shape, fuse="end")
    assert shape.architectures() == [[0, 2, 3], [1, 4]]
    assert [len(plan.steps(place)) for place in range(2)] == [1, 2]


def test_present_copies() -> None:
    graph = graph_of("absent")
    present = np.stack([layer.present for layer in graph.layers.values()])
    plan = fusion_plan(graph, shape_of(graph), ASKED, fuse="end")
    assert plan.present is not None
    assert plan.present_at_end is not None
    np.testing.assert_array_equal(plan.present.numpy(), present)
    np.testing.assert_array_equal(plan.present_at_end.numpy(), present[:, ASKED])
    assert fusion_plan(graph_of("edges"), shape_of(graph_of("edges")), fuse="end").present is None


def test_a_plan_moves_as_a_module_and_saves_nothing() -> None:
    graph = graph_of("absent")
    plan = fusion_plan(graph, shape_of(graph), ASKED, fuse="end")
    assert plan.state_dict() == {}
    assert list(plan.parameters()) == []
    assert {one.device.type for one in plan.to("meta").buffers()} == {"meta"}
    assert plan.everywhere.present is not None
    assert plan.everywhere.present.device.type == "meta"


def test_a_step_keeps_the_rows_that_are_wanted() -> None:
    groups = GroupSum([MembershipLayer.from_codes([0, 1, 0]).incidence()])
    found = torch.tensor([[[1.0], [2.0]]])
    assert Step(groups).at_nodes(found) is found
    assert Step(groups, groups).at_nodes(found).flatten().tolist() == [1.0, 2.0, 1.0]
    kept = Step(groups, groups, np.array([1, 2])).at_nodes(found)
    assert kept.flatten().tolist() == [2.0, 1.0]


def test_which_sum_a_layer_gets() -> None:
    for name, kind in (("edges", EdgeSum), ("groups of both kinds", MembershipSum)):
        graph = graph_of(name)
        plan: Plan = fusion_plan(graph, shape_of(graph), fuse="end")
        assert isinstance(plan.steps(0)[0].sum, kind)
