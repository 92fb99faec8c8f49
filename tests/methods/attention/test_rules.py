"""The rules of the attention models' parameters: one for every parameter, and what an unnamed decay means."""

from gramme import GrammeFusion, GrammeSG
from gramme.methods.attention.rules import RULES, settled_decay


def test_every_shared_parameter_has_a_rule():
    shared = set(GrammeFusion().get_params()) & set(GrammeSG().get_params())
    assert set(RULES) == shared


def test_decay_falls_with_the_labels_where_none_is_given():
    assert settled_decay(None, 10) == 0.02
    assert settled_decay(None, 100) == 0.002
    assert settled_decay(0.0, 10) == 0.0
    assert settled_decay(0.5, 10) == 0.5
