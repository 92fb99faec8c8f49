"""Methods by their names, and the names of the room."""

import ast
from pathlib import Path

import pytest

from gramme import DataError, methods
from gramme.methods import METHODS, Majority, Method, NodeClassifier, method, names


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


def test_a_method_of_ones_own_is_a_class():
    assert Method("mine", Majority, "what it does").estimator is Majority


def test_every_class_can_be_imported_from_the_room():
    for one in METHODS.values():
        assert getattr(methods, one.estimator.__name__) is one.estimator
    for name in methods.__all__:
        assert getattr(methods, name) is not None
        assert name in dir(methods)
    assert not hasattr(methods, "nonsense")


def test_type_checkers_see_the_classes_that_are_imported_on_first_use():
    tree = ast.parse(Path(methods.__file__).read_text(encoding="utf-8"))
    for_checkers = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name
        for node in for_checkers.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen <= set(methods.__all__)
    assert {one.estimator.__name__ for one in METHODS.values()} <= seen
