"""Methods by their names."""

import pytest

from gramme import DataError
from gramme.methods import METHODS, NodeClassifier, method, names


def test_names_lead_to_methods():
    for name in names():
        assert method(name).name == name
        assert issubclass(method(name).estimator, NodeClassifier)
        assert method(name).about
    assert len({one.estimator.__name__ for one in METHODS.values()}) == len(METHODS)


def test_every_method_can_be_made_without_arguments():
    for one in METHODS.values():
        assert one.estimator().get_params() is not None


def test_an_unknown_name_gets_a_hint():
    with pytest.raises(DataError, match="no method 'gramme-fusoin'; did you mean 'gramme-fusion'"):
        method("gramme-fusoin")
