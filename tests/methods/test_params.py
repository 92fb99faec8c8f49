import ast
import re
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from tests.methods.graphs import PINNED, planted

from gramme import GrammeFusion, GrammeSG
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import METHODS, GrammeAuto, NeighbourhoodLogistic, OneHotLogistic
from gramme.methods.params import (
    SHARE,
    Device,
    Flag,
    Names,
    Number,
    PerLayer,
    WholeNumber,
    check_number_range,
    check_parameters,
    parameter_rules,
    per_layer,
)

GRAPH = planted(12)
WHOLE = ["feature_dim", "hidden_dim", "heads", "depth", "epochs", "ensemble", "patience"]
SHARES = ["dropout", "attention_dropout", "validation_fraction"]
WORDS = {
    "activation": "relu",
    "head_weights": "simplex",
    "combine_heads": "average",
    "readout": "attention",
    "features": "random",
}
BOTH = pytest.mark.parametrize("kind", [GrammeSG, GrammeFusion])


def complaint(kind, **parameters):
    with pytest.raises(DataError) as caught:
        kind(**parameters).fit(GRAPH)
    return str(caught.value)


@BOTH
@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in WHOLE for value in (0, -1, 2.5, "3", True)]
    + [(name, None) for name in WHOLE if name not in ("feature_dim", "epochs")],
)
def test_whole_numbers(kind, name, value):
    message = complaint(kind, **{name: value})
    assert message == f"{name} must be a whole number of at least 1, not {value!r}"


@BOTH
@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("value", [1, -0.1, float("nan"), float("inf"), "0.5", None, True, 1j])
def test_shares(kind, name, value):
    message = complaint(kind, **{name: value})
    assert message == f"{name} must be a number of at least 0 and less than 1, not {value!r}"


@BOTH
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "fast", None, 10**400])
def test_learning_rate(kind, value):
    assert complaint(kind, learning_rate=value).startswith("learning_rate must be a number of more than 0, not ")


@BOTH
def test_concatenated_heads_share_the_columns(kind):
    message = complaint(kind, combine_heads="concatenate", heads=3, hidden_dim=32)
    assert message.endswith("hidden_dim (32) must be a multiple of heads (3)")


@BOTH
def test_weight_decay(kind):
    assert complaint(kind, weight_decay=-1) == "weight_decay must be a number of at least 0, not -1"
    assert complaint(kind, score_bound=0) == "score_bound must be a number of more than 0, not 0"


@BOTH
@pytest.mark.parametrize(("name", "right"), WORDS.items())
def test_words(kind, name, right):
    wrong = right[:-1] + "y"
    message = complaint(kind, **{name: wrong})
    assert message == f"{name} cannot be {wrong!r}; did you mean {right!r}?"
    for odd in (3, np.array([1, 2]), ["relu"]):
        assert complaint(kind, **{name: odd}).startswith(f"{name} cannot be")


@pytest.mark.parametrize(
    ("kind", "name", "value", "message"),
    [
        (GrammeFusion, "fuse", "every hopp", "fuse cannot be 'every hopp'; did you mean 'every hop'?"),
        (GrammeFusion, "fusion_heads", 0, "fusion_heads must be a whole number of at least 1, not 0"),
        (GrammeFusion, "feed_forward", "no", "feed_forward must be True or False, not 'no'"),
        (GrammeSG, "pool", "start", "pool cannot be 'start'; known: end, every hop"),
        (GrammeSG, "shared_features", 1, "shared_features must be True or False, not 1"),
        (GrammeSG, "progress", "yes", "progress must be True or False, not 'yes'"),
    ],
)
def test_what_each_has_of_its_own(kind, name, value, message):
    assert complaint(kind, **{name: value}) == message


@BOTH
@pytest.mark.parametrize("value", [-1, 1.5, "0", np.array([1, 2])])
def test_random_state(kind, value):
    message = complaint(kind, random_state=value)
    assert message.startswith("random_state must be a whole number of at least 0, not ")
    assert message.endswith("None and numpy's generators do as well")


@BOTH
@pytest.mark.parametrize("value", ["nonsense", "", 3, None, "meta", "cuda:99"])
def test_devices_that_are_not_there(kind, value):
    message = complaint(kind, device=value)
    assert message.startswith(f"device {value!r} ")
    assert message.endswith("use auto, cpu or cuda")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there():
    assert "torch finds no GPU on this machine" in complaint(GrammeFusion, device="cuda")


@BOTH
def test_devices_that_are_there(kind):
    fast = PINNED | {"epochs": 1}
    found = [
        kind(**fast | {"device": device}).fit(GRAPH).probabilities_ for device in ("cpu", "auto", torch.device("cpu"))
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)
    np.testing.assert_allclose(found[0], found[2], atol=1e-5)


def test_numbers_of_every_kind_are_numbers():
    assert SHARE.check("x", Fraction(1, 2)) == 0.5
    assert SHARE.check("x", np.float32(0.5)) == 0.5
    assert Number(0).check("x", np.int8(3)) == 3.0
    assert WholeNumber().check("x", np.uint8(3)) == 3
    assert Flag().check("x", np.True_) is True


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_every_method_has_a_rule(name):
    estimator = METHODS[name].estimator
    assert set(parameter_rules(estimator)) == set(estimator().get_params())
    assert "random_state" in parameter_rules(estimator)


@pytest.mark.parametrize("name", METHODS)
def test_every_default_follows_its_rule(name):
    estimator = METHODS[name].estimator
    check_parameters(parameter_rules(estimator), estimator().get_params())


def test_a_device_of_another_machine_may_stand_in_a_file():
    assert Device().check_saved("device", "cuda:99") == "cuda:99"
    with pytest.raises(DataError, match="device must be text"):
        Device().check_saved("device", 3)


def test_names_are_a_list_of_known_words():
    rule = Names(("a", "b"))
    assert rule.check("ingredients", ("b", "a")) == ["b", "a"]
    for wrong in ("a", [], 3, {"a": 1}):
        with pytest.raises(DataError, match="must be a list of names"):
            rule.check("ingredients", wrong)
    with pytest.raises(DataError, match="ingredients cannot be 'c'"):
        rule.check("ingredients", ["c"])


def test_one_value_or_a_value_per_layer():
    rule = PerLayer(WholeNumber())
    assert rule.check("heads", 2) == 2
    with pytest.raises(DataError, match=r"heads\['work'\] must be a whole number"):
        rule.check("heads", {"work": 0})
    assert per_layer("heads", 2, ["home", "work"]) == [2, 2]
    with pytest.raises(DataError, match="there is no layer 'wrok'; did you mean 'work'"):
        per_layer("heads", {"wrok": 1}, ["home", "work"])
    with pytest.raises(DataError, match="says nothing about the layer 'work'"):
        per_layer("heads", {"home": 1}, ["home", "work"])


def told_defaults(text):
    """Parameter to default, as a docstring in numpy's form tells them for parameters named one by one."""
    inside = text.split("Parameters\n", 1)[1].split("\n    Attributes\n")[0]
    found = re.findall(r"^    (\w+) : .*, default=(.+)$", inside, flags=re.MULTILINE)
    named = re.findall(r"^    (\w+) : ", inside, flags=re.MULTILINE)
    return dict(found), set(named)


# the docstring of pmne-r leaves its parameters to that of pmne-n
@pytest.mark.parametrize("name", [name for name in METHODS if name != "pmne-r"])
def test_docstrings_tell_the_defaults(name):
    estimator = METHODS[name].estimator
    told, named = told_defaults(estimator.__doc__)
    assert named <= set(told), "every parameter has its default in the docstring"
    real = estimator().get_params()
    assert {key: ast.literal_eval(value) for key, value in told.items()} == {key: real[key] for key in told}


NODES = 12


def chain(*, weight=None, features=None):
    start = np.arange(NODES - 1)
    labels = ["xy"[node % 2] if node < 8 else None for node in range(NODES)]
    layer = EdgeLayer(NODES, start, start + 1, weight)
    return MultilayerGraph({"a": layer}, labels=labels, features=features)


def with_one(value):
    features = np.random.default_rng(0).normal(size=(NODES, 3))
    features[4, 2] = value
    return features


@pytest.mark.parametrize("weight", [5e-324, 1e300])
@pytest.mark.parametrize("kind", [GrammeAuto, OneHotLogistic, NeighbourhoodLogistic])
def test_weights_that_overflow_name_the_layer(kind, weight):
    with pytest.raises(DataError, match=r"the layer 'a' has a weight of .*; weights from 1e-100"):
        kind().fit(chain(weight=np.full(NODES - 1, weight), features=with_one(1.0)))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [1e300, -1e300])
def test_features_that_overflow_name_the_column(sparse, value):
    features = sp.csr_array(with_one(value)) if sparse else with_one(value)
    with pytest.raises(DataError, match=r"column 2 of node 4 is beyond 1e\+100; scale"):
        GrammeAuto().fit(chain(features=features))


def test_large_numbers_that_can_be_computed_with_pass():
    check_number_range(chain(weight=np.full(NODES - 1, 1e-99), features=with_one(1e99)))
    check_number_range(chain(features=sp.csr_array((NODES, 3))))
    found = OneHotLogistic().fit(chain(weight=np.full(NODES - 1, 1e-99))).predict_proba()
    assert np.isfinite(found).all()
