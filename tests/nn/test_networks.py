from typing import Any

import numpy as np
import pytest
import torch
from tests.nn.slow import slow_fusion, slow_sg, slow_supra_fusion
from tests.ops.cases import GRAPH, STACKS
from torch import Tensor

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.nn import (
    HEAD_WEIGHTS,
    FusionNetwork,
    MemberRandom,
    Network,
    Plan,
    SGNetwork,
    Shape,
    SupraFusion,
    fusion_plan,
    supra_plan,
)

SHAPE = Shape(3, 5, 4, 2, (1, 1, 1), (1, 1, 1))


@pytest.mark.parametrize("feed_forward", [True, False])
@pytest.mark.parametrize("kind", HEAD_WEIGHTS)
def test_equals_the_equations(kind: str, feed_forward: bool) -> None:
    shape = Shape(3, 5, 4, 2, (1, 1, 1), (1, 1, 1), head_weights=kind)
    fusion = SupraFusion(shape, MemberRandom([1, 2]), 5, feed_forward)
    values = torch.randn(3, 7, 2, 4, generator=torch.Generator().manual_seed(0))
    found = fusion(values)
    assert found.shape == (7, 2, 4)
    for member in range(2):
        wanted = slow_supra_fusion(fusion, member, list(values[:, :, member]))
        torch.testing.assert_close(found[:, member], wanted)


def test_layer_factors_are_what_a_layer_alone_contributes() -> None:
    fusion = SupraFusion(SHAPE, MemberRandom([0]), 2, False)
    for layer in range(3):
        values = torch.zeros(3, 1, 1, 4)
        values[layer] = 1
        expected = fusion.layer_factors()[0, layer].expand(4)
        torch.testing.assert_close(fusion(values)[0, 0], expected)


CHOICES = [*STACKS, "absent"]


def graph_of(name: str) -> MultilayerGraph:
    if name == "absent":
        return GRAPH.select_layers(["some nodes absent", "one group each", "directed"])
    return GRAPH.select_layers(STACKS[name])


def shape_of(graph: MultilayerGraph, **changes: Any) -> Shape:
    layers = graph.num_layers
    parts = {
        "layers": layers,
        "in_dim": 6,
        "hidden_dim": 4,
        "classes": 3,
        "heads": (2,) * layers,
        "depth": (2,) * layers,
    }
    return Shape(**(parts | changes))


def fusion(shape: Shape, seeds: Any = (1, 2), **options: Any) -> FusionNetwork:
    chosen = {"fusion_heads": 3, "feed_forward": False, "fuse": "end"} | options
    return FusionNetwork(shape, MemberRandom(seeds), **chosen).double()


def features_for(rows: int, members: int = 2, seed: int = 0) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(rows, members, 6, generator=random, dtype=torch.float64)


def plan_of(network: Network, graph: MultilayerGraph, nodes: Any = None) -> Plan:
    if isinstance(network, FusionNetwork):
        return fusion_plan(graph, network.shape, nodes, fuse=network.fuse)
    return supra_plan(graph, network.shape, nodes)


def classes_of(network: Network, embedding: Tensor, member: int) -> Tensor:
    return embedding @ network.class_weights()[member] + network.bias[member]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("feed_forward", [True, False])
@pytest.mark.parametrize("fuse", ["end", "every hop"])
@pytest.mark.parametrize("name", CHOICES)
def test_fusion_equals_the_equations(name: str, fuse: str, feed_forward: bool, training: bool) -> None:
    graph = graph_of(name)
    shape = shape_of(graph)
    network = fusion(shape, fuse=fuse, feed_forward=feed_forward).train(training)
    features = features_for(graph.num_nodes)
    nodes = np.arange(graph.num_nodes) if training else None
    output = network(features, plan_of(network, graph, nodes))
    for member in range(2):
        wanted = slow_fusion(network, graph, features[:, member], member)
        torch.testing.assert_close(output.embedding[:, member], wanted)
        torch.testing.assert_close(output.scores[:, member], classes_of(network, wanted, member))


@pytest.mark.parametrize("pool", ["end", "every hop"])
@pytest.mark.parametrize("name", CHOICES)
def test_sg_equals_the_equations(name: str, pool: str) -> None:
    graph = graph_of(name)
    shape = shape_of(graph, depth=(3,) * graph.num_layers)
    network = SGNetwork(shape, MemberRandom([1, 2]), pool=pool).double()
    features = features_for(graph.num_nodes * graph.num_layers)
    output = network(features, plan_of(network, graph))
    for member in range(2):
        wanted = slow_sg(network, graph, features[:, member], member)
        torch.testing.assert_close(output.embedding[:, member], wanted)
        torch.testing.assert_close(output.scores[:, member], classes_of(network, wanted, member))


@pytest.mark.parametrize("combine_heads", ["weighted", "concatenate"])
@pytest.mark.parametrize("fuse", ["end", "every hop"])
@pytest.mark.parametrize("name", ["groups", "mixed", "absent"])
def test_the_last_hop_may_give_the_class_scores(name: str, fuse: str, combine_heads: str) -> None:
    graph = graph_of(name)
    shape = shape_of(graph, readout="attention", combine_heads=combine_heads, activation="relu")
    network = fusion(shape, fuse=fuse, feed_forward=True).train()
    with torch.no_grad():
        network.bias.normal_()
    features = features_for(graph.num_nodes)
    nodes = np.arange(graph.num_nodes)
    output = network(features, plan_of(network, graph, nodes))
    assert output.scores.shape == (graph.num_nodes, 2, 3)
    assert (output.embedding < 0).any()  # no activation cuts scores off
    for member in range(2):
        wanted = slow_fusion(network, graph, features[:, member], member)
        torch.testing.assert_close(output.embedding[:, member], wanted)
        torch.testing.assert_close(output.scores[:, member], wanted + network.bias[member])


def test_the_last_hop_of_the_supra_graph_may_give_the_class_scores() -> None:
    graph = graph_of("mixed")
    network = SGNetwork(shape_of(graph, readout="attention"), MemberRandom([1, 2]), pool="end")
    network = network.double()
    features = features_for(graph.num_nodes * graph.num_layers)
    output = network(features, plan_of(network, graph))
    for member in range(2):
        wanted = slow_sg(network, graph, features[:, member], member)
        torch.testing.assert_close(output.scores[:, member], wanted + network.bias[member])


def test_sg_with_features_that_the_copies_share() -> None:
    graph = graph_of("mixed")
    shape = shape_of(graph)
    network = SGNetwork(shape, MemberRandom([1, 2]), pool="end").double()
    plan = plan_of(network, graph)
    features = features_for(graph.num_nodes)
    copied = network(features.repeat(graph.num_layers, 1, 1), plan)
    assert torch.equal(network(features, plan).scores, copied.scores)


@pytest.mark.parametrize("name", ["groups", "mixed"])
def test_layers_of_different_architecture(name: str) -> None:
    graph = graph_of(name)
    count = graph.num_layers
    heads, depth = (1, 3, 1, 2, 3)[:count], (2, 1, 2, 3, 1)[:count]
    shape = shape_of(graph, heads=heads, depth=depth)
    network = fusion(shape)
    features = features_for(graph.num_nodes)
    output = network(features, plan_of(network, graph))
    for member in range(2):
        wanted = slow_fusion(network, graph, features[:, member], member)
        torch.testing.assert_close(output.embedding[:, member], wanted)


def test_fusion_heads_multiply_out_without_a_feed_forward_layer() -> None:
    graph = graph_of("edges")
    shape = shape_of(graph)
    many = fusion(shape, fusion_heads=5)
    one = fusion(shape, fusion_heads=1)
    state = many.state_dict()
    with torch.no_grad():
        factors = many.fusions[0].layer_factors()  # type: ignore[operator]
        state["fusions.0.gamma.raw"] = torch.log(torch.expm1(factors))[:, None]
        state["fusions.0.kappa.raw"] = torch.log(torch.expm1(torch.ones(2, 1)))
    one.load_state_dict(state)
    features = features_for(graph.num_nodes)
    plan = plan_of(many, graph)
    torch.testing.assert_close(one(features, plan).scores, many(features, plan).scores)


@pytest.mark.parametrize("kind", ["fusion", "sg"])
def test_a_node_that_is_in_no_layer_is_heard_by_nobody(kind: str) -> None:
    inside = [0, 1, 2]
    graph = MultilayerGraph(
        {"a": EdgeLayer(4, [0, 1], [1, 2], nodes=inside), "b": MembershipLayer.from_codes([0, 0, 1, -1])}
    )
    shape = shape_of(graph)
    network: Network = (
        fusion(shape) if kind == "fusion" else SGNetwork(shape, MemberRandom([1, 2]), pool="end").double()
    )
    plan = plan_of(network, graph)
    features = features_for(4)
    other = features.clone()
    other[3] += 100.0
    first, second = network(features, plan), network(other, plan)
    torch.testing.assert_close(first.embedding[:3], second.embedding[:3])
    assert not first.embedding[3].any()
    torch.testing.assert_close(first.scores[3], network.bias.detach())


def losses(network: Network, scores: Tensor, labels: Tensor) -> Tensor:
    log = scores.log_softmax(-1)
    return -log.gather(2, labels[:, None, None].expand(-1, log.shape[1], 1)).mean(0).sum()


@pytest.mark.parametrize("kind", ["fusion", "sg"])
@pytest.mark.parametrize("name", ["mixed", "groups", "absent"])
def test_members_learn_together_as_they_would_alone(name: str, kind: str) -> None:
    graph = graph_of(name)
    shape = shape_of(graph, dropout=0.2 if name == "mixed" else 0.0)
    labels = torch.from_numpy(np.arange(graph.num_nodes) % 3)

    def trained(seeds: list[int], features: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        network: Network = (
            fusion(shape, seeds) if kind == "fusion" else SGNetwork(shape, MemberRandom(seeds), pool="end").double()
        )
        plan = plan_of(network, graph)
        optimiser = torch.optim.Adam(network.parameters(), lr=0.05)
        for _ in range(4):
            optimiser.zero_grad()
            losses(network, network(features, plan).scores, labels).backward()
            optimiser.step()
        network.eval()
        return network(features, plan).scores, network.state_dict()

    features = features_for(graph.num_nodes, members=3)
    together, state = trained([4, 5, 6], features)
    for place, seed in enumerate([4, 5, 6]):
        alone, own = trained([seed], features[:, place : place + 1])
        torch.testing.assert_close(together[:, place], alone[:, 0], rtol=1e-6, atol=1e-8)
        for key, value in own.items():
            torch.testing.assert_close(state[key][place], value[0], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", ["fusion", "sg"])
def test_same_seed_same_bits(kind: str) -> None:
    graph = graph_of("mixed")
    shape = shape_of(graph, dropout=0.3, attention_dropout=0.2)

    def scores() -> Tensor:
        network: Network = (
            fusion(shape) if kind == "fusion" else SGNetwork(shape, MemberRandom([1, 2]), pool="end").double()
        )
        return network(features_for(graph.num_nodes), plan_of(network, graph)).scores

    assert torch.equal(scores(), scores())


@pytest.mark.parametrize("option", ["dropout", "attention_dropout"])
def test_dropout_on_groups_acts_node_by_node(option: str) -> None:
    # with a mask of its own for each node, groups cannot stand for their members
    graph = graph_of("groups")
    shape = shape_of(graph, **{option: 0.5})
    network = fusion(shape)
    plan = plan_of(network, graph)
    features = features_for(graph.num_nodes)
    first, second = network(features, plan).scores, network(features, plan).scores
    assert not torch.equal(first, second)
    network.eval()
    wanted = slow_fusion(network, graph, features[:, 0], 0)
    torch.testing.assert_close(network(features, plan).embedding[:, 0], wanted)


def test_single_precision_within_one_in_10_000() -> None:
    graph = graph_of("mixed")
    shape = shape_of(graph)
    network = fusion(shape)
    plan = plan_of(network, graph)
    features = features_for(graph.num_nodes)
    exact = network(features, plan).scores
    found = network.float()(features.float(), plan).scores
    torch.testing.assert_close(found.double(), exact, rtol=1e-4, atol=1e-5)
