"""Names in a model file: nodes, layers and classes."""

import pytest

from gramme.methods.majority import Majority
from gramme.methods.saved_names import SavedLayerOrder, SavedNames, unique_names
from gramme.methods.saving import Learned, MisfitError


def test_names_must_be_a_list_without_repetition():
    field = SavedNames("names")
    assert unique_names(field, ["a", {"tuple": [1, 2]}]) == ["a", (1, 2)]
    for wrong in ("ab", ["a", "a"], [["a"]]):
        with pytest.raises(MisfitError, match="names must be a list"):
            unique_names(field, wrong)


def test_the_order_of_layers_is_that_of_their_names_as_given_in_older_files():
    model, field = Majority(), SavedLayerOrder("layer_order")
    model.layers_ = ["b", "a"]
    field.load(model, Learned({"layer_order": ["a", "b"]}), {})
    assert model.layer_order_ == ["a", "b"]
    field.load(model, Learned(), {})
    assert model.layer_order_ == ["b", "a"]
    for wrong in (["a"], ["a", "c"], "ab", ["a", 1]):
        with pytest.raises(MisfitError, match="must be the names of the layers"):
            field.load(model, Learned({"layer_order": wrong}), {})
