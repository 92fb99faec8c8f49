import sys

import pytest
from tests.methods.cases import MethodCase
from tests.methods.graphs import planted
from tests.processes import in_another_process

from gramme import DataError
from gramme.errors import MissingExtraError
from gramme.methods import DeepWalk

FAST = {"walks_per_node": 4, "walk_length": 10, "dim": 16, "epochs": 5, "cache": False}


class TestDeepWalk(MethodCase):
    name = "deepwalk"
    arguments = FAST | {"epochs": 1}
    trained = FAST
    needs = "gensim"


@pytest.mark.parametrize(
    "name", ["dim", "window", "walks_per_node", "walk_length", "epochs", "negative"]
)
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
