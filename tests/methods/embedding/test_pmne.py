import pytest
from tests.methods.cases import MethodCase
from tests.methods.embedding.test_deepwalk import FAST
from tests.methods.graphs import planted

from gramme import DataError
from gramme.methods import PMNECoanalysis, PMNENetwork, PMNEResults


class TestPMNENetwork(MethodCase):
    name = "pmne-n"
    arguments = FAST | {"epochs": 1}
    trained = FAST
    needs = "gensim"


class TestPMNEResults(MethodCase):
    name = "pmne-r"
    arguments = FAST | {"epochs": 1}
    trained = FAST
    needs = "gensim"


class TestPMNECoanalysis(MethodCase):
    name = "pmne-c"
    arguments = FAST | {"epochs": 1}
    trained = FAST
    needs = "gensim"


def test_results_stand_side_by_side():
    pytest.importorskip("gensim")
    graph = planted()
    columns = {
        kind: kind(random_state=0, **FAST).fit(graph).embedding_.shape[1]
        for kind in (PMNENetwork, PMNEResults, PMNECoanalysis)
    }
    assert columns == {PMNENetwork: 16, PMNEResults: 32, PMNECoanalysis: 16}


@pytest.mark.parametrize("wrong", [{"hop": 1.1}, {"hop": -0.1}, {"p": 0}, {"q": "x"}])
def test_wrong_parameters_are_a_clear_error(wrong):
    with pytest.raises(DataError, match=next(iter(wrong))):
        PMNECoanalysis(**wrong).fit(planted())
