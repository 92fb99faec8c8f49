import sys

import pytest
from tests.methods.cases import MethodCase
from tests.methods.graphs import half_known, planted
from tests.processes import in_another_process

from gramme import DataError
from gramme.errors import MissingExtraError
from gramme.methods import DeepWalk, Node2Vec
from gramme.methods.embedding.deepwalk import GRID

FAST = {"walks_per_node": 4, "walk_length": 10, "dim": 16, "epochs": 5, "cache": False}


class TestDeepWalk(MethodCase):
    name = "deepwalk"
    arguments = FAST | {"epochs": 1}
    trained = FAST
    needs = "gensim"


@pytest.mark.parametrize("name", ["dim", "window", "walks_per_node", "walk_length", "epochs", "negative"])
def test_wrong_parameters_are_a_clear_error(name):
    with pytest.raises(DataError, match=name):
        DeepWalk(**{name: 0}).fit(planted())


def test_without_gensim_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(MissingExtraError, match=r"gramme\[walks\]"):
        DeepWalk(random_state=0).fit(planted())


def embedded() -> str:
    return DeepWalk(random_state=0, **FAST).fit(planted()).embedding_.tobytes().hex()


def test_the_same_bits_in_another_process(tmp_path):
    """Whatever Python's hashes are seeded with there."""
    pytest.importorskip("gensim")
    assert in_another_process(embedded, tmp_path) == embedded()


class TestNode2Vec(MethodCase):
    name = "node2vec"
    arguments = FAST | {"p": 0.5, "q": 2.0, "epochs": 1}
    trained = FAST
    needs = "gensim"


def test_p_and_q_are_chosen_where_not_given():
    pytest.importorskip("gensim")
    graph = planted()
    model = Node2Vec(random_state=0, **FAST).fit(graph, half_known(graph))
    assert (model.settings_["p"], model.settings_["q"]) in GRID


def test_with_p_and_q_of_one_it_is_deepwalk():
    pytest.importorskip("gensim")
    graph = planted()
    plain = DeepWalk(random_state=0, **FAST).fit(graph)
    unbiased = Node2Vec(p=1, q=1, random_state=0, **FAST).fit(graph)
    biased = Node2Vec(p=0.25, q=4, random_state=0, **FAST).fit(graph)
    assert unbiased.embedding_.tobytes() == plain.embedding_.tobytes() != biased.embedding_.tobytes()


@pytest.mark.parametrize("wrong", [{"p": 1.0}, {"q": 1.0}, {"p": 0, "q": 1}, {"p": 1, "q": -1}])
def test_wrong_p_and_q_are_a_clear_error(wrong):
    with pytest.raises(DataError, match=r"p|q"):
        Node2Vec(**wrong).fit(planted())
