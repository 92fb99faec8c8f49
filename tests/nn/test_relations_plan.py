"""Plans of networks over relations: which views a graph has, and that left-out rows change nothing."""

import numpy as np
import pytest
import torch

from gramme import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.nn import MemberRandom
from gramme.nn.relations import LabelNetwork, RelationPlan, graph_views, reached, source_names, views_size


def small_graph(seed: int = 0, nodes: int = 30) -> MultilayerGraph:
    random = np.random.default_rng(seed)
    ends = random.integers(0, nodes, (2, 25))
    other = random.integers(0, nodes, (2, 10))
    return MultilayerGraph(
        {
            "leads": EdgeLayer(nodes, *ends, directed=True),
            "joins": EdgeLayer(nodes, *other, random.uniform(0.5, 2, 10)),
            "club": MembershipLayer(nodes, random.integers(0, nodes, 20), random.integers(0, 6, 20)),
            "empty": EdgeLayer(nodes, [], []),
        },
        nodes=[f"n{number}" for number in range(nodes)],
    )


def label_network(graph: MultilayerGraph, hops: int = 3, classes: int = 4) -> LabelNetwork:
    views = graph_views(graph)
    network = LabelNetwork(
        len(views),
        sum(view.groups for view in views),
        classes,
        columns=5,
        hops=hops,
        dropout=0.0,
        score_bound=5.0,
        random=MemberRandom([1]),
    ).double()
    network.eval()
    with torch.no_grad():  # scores are all the same at the start
        network.attention.normal_(generator=torch.Generator().manual_seed(2))
        network.member_attention.normal_(generator=torch.Generator().manual_seed(3))
    return network


def test_directed_edges_are_two_views_and_groups_with_one_member_join_nobody() -> None:
    graph = MultilayerGraph(
        {
            "leads": EdgeLayer(3, [0], [1], directed=True),
            "joins": EdgeLayer(3, [0], [1]),
            "club": MembershipLayer(3, [0, 1, 2], [0, 0, 1]),
        }
    )
    views = graph_views(graph)
    assert [(view.layer, view.backwards, view.groups) for view in views] == [
        (0, False, False),
        (0, True, False),
        (1, False, False),
        (2, False, True),
    ]
    assert views[0].matrix.toarray()[0, 1] == views[1].matrix.toarray()[1, 0] == 1
    assert views[3].matrix.toarray().tolist() == [[1, 0], [1, 0], [0, 0]]
    assert len(source_names(graph, views[3])) == 2
    assert views_size(views) == 3 + 3 + (2 + 2 + 2) + 2 * (2 + 2 + 1)


@pytest.mark.parametrize("nodes", [[4], [0, 7, 19], list(range(30))])
def test_a_plan_for_some_nodes_says_the_same_about_them(nodes: list[int]) -> None:
    graph = small_graph()
    network = label_network(graph)
    shown = torch.arange(0, 30, 2)
    codes = shown % 4
    views = graph_views(graph)
    whole = network((shown, codes), RelationPlan(views, 3))
    part = network((shown, codes), RelationPlan(views, 3, np.array(nodes)))
    torch.testing.assert_close(part.scores, whole.scores[nodes])
    torch.testing.assert_close(part.embedding, whole.embedding[nodes])


def test_rows_that_no_one_asked_about_hears_are_left_out() -> None:
    graph = MultilayerGraph({"path": EdgeLayer(5, [0, 1, 2, 3], [1, 2, 3, 4], directed=True)})
    forwards = graph_views(graph)[:1]
    assert reached(forwards, np.array([1])) is not None
    assert np.asarray(reached(forwards, np.array([1]))).tolist() == [1, 2]
    plan = RelationPlan(forwards, 2, np.array([1]))
    assert plan.start is not None
    assert plan.start.tolist() == [1, 2, 3]
    assert [step.heard.row_counts for step in plan.steps] == [[2], [1]]
    there, places = plan.at_start(torch.tensor([0, 2, 4]))
    assert there.tolist() == [False, True, False]
    assert places.tolist() == [1]


def test_a_graph_without_edges_has_a_plan() -> None:
    graph = MultilayerGraph({"empty": EdgeLayer(1, [], [])})
    network = label_network(graph, hops=2)
    found = network((torch.tensor([0]), torch.tensor([1])), RelationPlan(graph_views(graph), 2))
    assert found.scores.shape == (1, 1, 4)
    assert bool(found.scores.isfinite().all())
