"""The models of a mixture in its file: each is checked like a model of its own, and refused by name."""

import pytest
from tests.methods.graphs import half_known, planted

from gramme.methods import GrammeAuto
from gramme.methods.auto.ingredients import INGREDIENTS
from gramme.methods.auto.saved_models import SHARED, SavedModels
from gramme.methods.saving import Learned, MisfitError

GRAPH = planted()


@pytest.fixture(scope="module")
def model():
    some = ["label-propagation", "one-hot-logistic"]
    return GrammeAuto(ingredients=some, random_state=0).fit(GRAPH, half_known(GRAPH))


def restored(model, **changes):
    learned = model._learned()
    record = learned.record
    for name, change in changes.items():
        record["models"][name.replace("_", "-")] = change(record["models"][name.replace("_", "-")])
    return GrammeAuto._restored(model.get_params(), Learned(record, learned.tensors))


def test_what_all_models_share_is_saved_once(model):
    record = model._learned().record
    for inner in record["models"].values():
        assert not set(SHARED) & set(inner["learned"])
    assert restored(model).predict_proba().tobytes() == model.predict_proba().tobytes()


def test_a_part_of_a_model_that_does_not_fit_is_named(model):
    def hot(saved):
        return saved | {"learned": saved["learned"] | {"C": -1}}

    with pytest.raises(MisfitError, match="one-hot-logistic: C must be a number of more than 0"):
        restored(model, one_hot_logistic=hot)
    with pytest.raises(MisfitError, match="parameters and what was learned for label-propagation"):
        restored(model, label_propagation=lambda saved: 3)


def test_models_are_those_of_the_table(model):
    learned = model._learned()
    learned.record["models"].pop("one-hot-logistic")
    with pytest.raises(MisfitError, match="ingredients and models are not the same"):
        GrammeAuto._restored(model.get_params(), learned)
    learned = model._learned()
    learned.record["ingredients"]["weight"] = [0.5, 0.1]
    with pytest.raises(MisfitError, match="must sum to 1"):
        GrammeAuto._restored(model.get_params(), learned)


def test_the_field_wants_names_of_ingredients(model):
    field = SavedModels("models", INGREDIENTS)
    with pytest.raises(MisfitError, match="models by the names of ingredients"):
        field.load(model, Learned({"models": {"oracle": {}}}), {})
