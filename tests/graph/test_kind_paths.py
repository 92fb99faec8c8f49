import pytest

from gramme.errors import DataError, GrammeWarning
from gramme.graph.kind_paths import chosen_paths
from gramme.graph.relation_pairs import number_relations

PAPERS = {
    ("paper", "author"): [("p1", "ann"), ("p2", "ann")],
    ("author", "institute"): [("ann", "mit")],
    ("paper", "venue"): [("p1", "nips")],
}


def kinds(**more):
    return number_relations(PAPERS | more.pop("relations", {}), {}, {})


def test_the_default_paths_reach_kinds_at_most_two_steps_away():
    assert chosen_paths(kinds(), "paper", None) == [
        ("paper", "author"),
        ("paper", "venue"),
        ("paper", "author", "institute"),
    ]


def test_a_path_may_be_named_from_either_end_or_there_and_back():
    for path in (
        ("paper", "author"),
        ("author", "paper"),
        ("paper", "author", "paper"),
    ):
        assert chosen_paths(kinds(), "paper", [path]) == [("paper", "author")]


@pytest.mark.parametrize(
    ("target", "paths", "words"),
    [
        ("papr", None, "did you mean 'paper'"),
        ("paper", "author", "paths must be a list of kinds"),
        ("paper", [("paper",)], "at least two kinds"),
        ("paper", [("paper", "autor")], "the unknown kind 'autor'; did you mean 'author'"),
        ("paper", [("author", "institute")], "does not start at the target"),
        ("paper", [("paper", "institute")], "but no relation does"),
        ("paper", [("paper", "author", "venue", "paper")], "returns by another route"),
    ],
)
def test_paths_that_lead_nowhere(target, paths, words):
    with pytest.raises(DataError, match=words):
        chosen_paths(kinds(), target, paths)


def test_a_relation_out_of_reach():
    apart = {("cat", "dog"): [("tom", "rex")]}
    with pytest.raises(DataError, match="cat-dog never reaches the target 'paper'"):
        chosen_paths(kinds(relations=apart), "paper", None)


def test_a_relation_that_no_short_path_needs_is_told():
    far = {("institute", "country"): [("mit", "us")]}
    with pytest.warns(GrammeWarning, match="institute-country is not used"):
        chosen_paths(kinds(relations=far), "paper", None)
