"""Several kinds of node: relations and paths are membership layers of the target, equal to the explicit meta-paths."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from gramme.errors import DataError, GrammeWarning
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.graph.relations import chosen_paths, number_relations

KEY = ("paper", "author")


def only(pairs, given=None, sizes=None):
    kinds = number_relations({KEY: pairs}, given or {}, sizes or {})
    return kinds, kinds.matrices[0].toarray().tolist()


@pytest.mark.parametrize(
    "pairs",
    [
        [(1, 2), (3, 2)],
        np.array([[1, 2], [3, 2]]),
        np.array([[1.0, 2.0], [3.0, 2.0]]),
        pd.DataFrame({"source": [1, 3], "target": [2, 2], "note": ["x", "y"]}),
        pd.DataFrame({"a": [1, 3], "b": [2, 2]}),
    ],
)
def test_every_form_of_the_same_pairs(pairs):
    kinds, matrix = only(pairs)
    assert (list(kinds.nodes["paper"]), list(kinds.nodes["author"])) == ([1, 3], [2])
    assert matrix == [[1], [1]]


def test_a_sparse_matrix_states_positions_and_weights():
    _, matrix = only(sp.coo_array([[0, 2.0], [0.5, 0]]))
    assert matrix == [[0, 2.0], [0.5, 0]]


def test_repeated_pairs_count_once_without_weights_and_add_with_them():
    assert only([("a", "x"), ("a", "x")])[1] == [[1]]
    assert only([("a", "x", 1.0), ("a", "x", 2.5)])[1] == [[3.5]]


def test_names_keep_their_order_and_numbers_are_positions_where_a_size_is_known():
    assert list(only([("b", "x"), ("a", "x")])[0].nodes["paper"]) == ["b", "a"]
    assert list(only([(2, 0)], sizes={"paper": 4})[0].nodes["paper"]) == [0, 1, 2, 3]
    assert list(only([("a", "x")], given={"paper": ["c", "a"]})[0].nodes["paper"]) == ["c", "a"]


def test_steps_go_either_way():
    kinds, _ = only([("a", "x"), ("b", "x")])
    assert kinds.steps("paper", "author")[0][1].shape == (2, 1)
    assert kinds.steps("author", "paper")[0][1].shape == (1, 2)
    assert kinds.steps("author", "author") == []
    assert kinds.neighbours("author") == ["paper"]


@pytest.mark.parametrize(
    ("relations", "words"),
    [
        ({}, "must be a mapping"),
        ({"paper": []}, "between two kinds"),
        ({KEY: "text"}, "must be a table, an array or a list"),
        ({KEY: [("a",)]}, "every row must be"),
        ({KEY: [("a", "x"), ("b", "y", 1)]}, "every row must be"),
        ({KEY: np.zeros((2, 4))}, "two or three columns are needed"),
        ({KEY: pd.DataFrame(np.zeros((1, 4)))}, "the table has 4 columns"),
        ({KEY: [("a", None)]}, "row 0 has no target"),
        ({KEY: [("a", "x", 0.0)]}, "row 0 has the weight 0.0"),
    ],
)
def test_what_is_no_relation(relations, words):
    with pytest.raises(DataError, match=words):
        number_relations(relations, {}, {})


def test_a_name_that_is_not_among_those_given():
    with pytest.raises(DataError, match="row 0 names the paper 'a', which is not among the 1"):
        only([("a", "x")], given={"paper": ["b"]})


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
    for path in (("paper", "author"), ("author", "paper"), ("paper", "author", "paper")):
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


from_relations = MultilayerGraph.from_relations

WRITTEN = [("p1", "Ann"), ("p1", "Bo"), ("p2", "Bo"), ("p3", "Cy"), ("p4", "Bo")]
SHOWN = [("p1", "KDD"), ("p2", "ICML"), ("p3", "KDD"), ("p4", "ICML")]
RELATIONS = {("paper", "author"): WRITTEN, ("paper", "venue"): SHOWN}


def test_relations_of_the_target_are_its_layers():
    graph = from_relations(RELATIONS, target="paper", labels={"p1": "x"})
    assert graph.nodes.tolist() == ["p1", "p2", "p3", "p4"]
    assert list(graph.layers) == ["author", "venue"]
    assert list(graph.layers["author"].group_names) == ["Ann", "Bo", "Cy"]
    assert graph.layers["author"].to_edges() == EdgeLayer(4, [0, 0, 1], [1, 3, 3])
    assert not graph.layers["author"].weighted
    assert list(graph.labels) == ["x", None, None, None]


def test_a_kind_behind_another_is_reached_by_a_weighted_path():
    graph = from_relations(RELATIONS, target="author")
    assert list(graph.layers) == ["paper", "venue"]
    venue = graph.layers["venue"]
    assert list(venue.group_names) == ["KDD", "ICML"]
    assert venue.incidence().toarray().tolist() == [[1, 0], [1, 2], [1, 0]]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=15),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=10),
)
def test_a_path_equals_the_explicit_meta_path(written, shown):
    relations = {("paper", "author"): np.array(written), ("paper", "venue"): np.array(shown)}
    papers = sorted({p for p, _ in (*written, *shown)})
    nodes = {"paper": papers, "author": range(5), "venue": range(3)}
    graph = from_relations(relations, target="author", nodes=nodes)
    times = np.zeros((5, 3))
    for author in range(5):
        for venue in range(3):
            times[author, venue] = len({p for p in papers if (p, author) in written and (p, venue) in shown})
    explicit = times @ times.T
    np.fill_diagonal(explicit, 0)
    assert np.array_equal(graph.layers["venue"].to_scipy().toarray(), explicit)


def test_all_forms_of_pairs_are_the_same():
    numbers = [(0, 1), (0, 2), (3, 2)]
    weighted = [(0, 1, 2.0), (0, 2, 1.0), (3, 2, 0.5)]
    forms = [
        weighted,
        np.array(weighted),
        pd.DataFrame(weighted),
        pd.DataFrame(weighted, columns=["target", "source", "weight"])[["source", "target", "weight"]],
    ]
    made = [from_relations({("a", "b"): form}, target="a") for form in forms[:3]]
    assert made[0] == made[1] == made[2]
    turned = from_relations({("b", "a"): forms[3]}, target="a")
    assert turned.layers["b"] == made[0].layers["b"]
    sparse = sp.coo_array(([2.0, 1.0, 0.5], ([0, 0, 3], [1, 2, 2])))
    again = from_relations({("a", "b"): sparse}, target="a")
    assert again.layers["b"] == made[0].layers["b"]
    plain = from_relations({("a", "b"): numbers}, target="a")
    assert not plain.layers["b"].weighted


def test_relations_within_the_target_are_edge_layers():
    relations = {**RELATIONS, ("paper", "cites", "paper"): [("p1", "p2"), ("p3", "p1")]}
    graph = from_relations(relations, target="paper", directed={"cites": True})
    assert list(graph.layers) == ["cites", "author", "venue"]
    assert graph.layers["cites"] == EdgeLayer(4, [0, 2], [1, 0], directed=True)


def test_named_paths_replace_the_default_ones():
    graph = from_relations(RELATIONS, target="author", paths=[("author", "paper", "venue")])
    assert list(graph.layers) == ["venue"]
    whole = ("author", "paper", "venue", "paper", "author")
    assert from_relations(RELATIONS, target="author", paths=[whole]) == graph
    turned = from_relations(RELATIONS, target="author", paths=[("venue", "paper", "author")])
    assert turned == graph


def test_several_relations_between_two_kinds_are_told_apart():
    relations = {
        ("paper", "first", "author"): [("p1", "Ann")],
        ("paper", "last", "author"): [("p1", "Bo"), ("p2", "Ann")],
    }
    graph = from_relations(relations, target="paper")
    assert list(graph.layers) == ["first", "last"]
    assert graph.layers["last"].num_memberships == 2


def test_attributes_of_other_kinds_are_averaged_along_the_relations():
    features = {
        "paper": {"p1": [1.0], "p2": [2.0], "p3": [3.0], "p4": [4.0]},
        "author": pd.DataFrame([[0.0, 1], [2, 3], [4, 5]], index=["Ann", "Bo", "Cy"]),
        "venue": np.array([[10.0], [20.0]]),
    }
    graph = from_relations(RELATIONS, target="paper", features=features)
    assert graph.features.tolist() == [[1], [2], [3], [4]]
    assert graph.layer_features["author"].tolist() == [[1, 2], [2, 3], [4, 5], [2, 3]]
    assert graph.layer_features["venue"].tolist() == [[10], [20], [10], [20]]
    authors = from_relations(RELATIONS, target="author", features=features)
    assert authors.features.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert np.allclose(authors.layer_features["venue"].ravel(), [10, 50 / 3, 10])
    alone = from_relations(RELATIONS, target="author", nodes=["Ann", "Bo", "Cy", "Di"])
    assert alone.layers["paper"].num_present == 3
    named = ["Ann", "Bo", "Cy", "Di"]
    only = from_relations(
        RELATIONS,
        target="author",
        nodes=named,
        paths=[("author", "paper", "venue")],
        features={"paper": features["paper"]},
    )
    assert np.allclose(only.layer_features["venue"][:3].ravel(), [1, 7 / 3, 3])
    assert np.isnan(only.layer_features["venue"][3]).all()


def test_sparse_attributes_stay_sparse():
    eye = sp.eye_array(2, format="csr")
    graph = from_relations(RELATIONS, target="paper", features={"venue": eye})
    assert sp.issparse(graph.layer_features["venue"])
    assert graph.layer_features["venue"].toarray().argmax(axis=1).tolist() == [0, 1, 0, 1]


def test_whole_numbers_are_positions_where_features_say_how_many():
    graph = from_relations({("a", "b"): np.array([[0, 0], [2, 0]])}, target="a", features=np.ones((4, 2)))
    assert graph.num_nodes == 4
    assert graph.layers["b"].num_present == 2


@pytest.mark.parametrize(
    ("relations", "options", "problem"),
    [
        (RELATIONS, {"target": "papers"}, "no relation has the target kind 'papers'; did you mean 'paper'"),
        ({**RELATIONS, ("x", "y"): [(1, 2)]}, {"target": "paper"}, "x-y never reaches the target 'paper'"),
        (RELATIONS, {"target": "paper", "paths": [("paper", "auhtor")]}, "unknown kind 'auhtor'; did you"),
        (RELATIONS, {"target": "paper", "paths": [("author", "venue")]}, "does not start at the target"),
        (RELATIONS, {"target": "author", "paths": [("author", "venue")]}, "but no relation does"),
        (
            RELATIONS,
            {"target": "author", "paths": [("author", "paper", "venue", "author")]},
            "returns by another route",
        ),
        (RELATIONS, {"target": "paper", "features": {"authors": [[1]]}}, "unknown kind 'authors'"),
        (RELATIONS, {"target": "paper", "features": {"author": [[1.0]]}}, "kind 'author': features of shape"),
        (RELATIONS, {"target": "paper", "nodes": ["p1"]}, "names the paper 'p2', which is not among the 1"),
        ({("a",): []}, {"target": "a"}, "between two kinds"),
        ({("a", "b"): [(1, 2, 3, 4)]}, {"target": "a"}, "every row must be"),
        ({("a", "b"): [(1, None)]}, {"target": "a"}, "row 0 has no target"),
        ({("a", "b"): [(1, 2, 0)]}, {"target": "a"}, "row 0 has the weight 0"),
        ({("a", "b"): "pairs"}, {"target": "a"}, "pairs must be a table"),
        ({}, {"target": "a"}, "not empty"),
    ],
)
def test_bad_input_ends_in_one_clear_message(relations, options, problem):
    with pytest.raises(DataError, match=problem):
        from_relations(relations, **options)


def test_a_relation_too_far_away_is_told():
    far = {**RELATIONS, ("venue", "country"): [("KDD", "US")]}
    with pytest.warns(GrammeWarning, match="venue-country is not used"):
        graph = from_relations(far, target="author")
    assert list(graph.layers) == ["paper", "venue"]
    named = from_relations(far, target="author", paths=[("author", "paper", "venue", "country")])
    assert named.layers["country"].sizes.tolist() == [3]
