"""The mixture in words: what is named, and when layers are called alike."""

import pandas as pd

from gramme.methods.auto.mixture_words import mixture_in_words

ALIKE = pd.Series({"one": 0.26, "two": 0.25, "three": 0.25, "four": 0.24})


def test_small_shares_are_not_named():
    weights = {"gramme-fusion": 0.93, "spectral-logistic": 0.07}
    text = mixture_in_words(weights, dict.fromkeys(weights, ALIKE))
    assert text == (
        "Mostly attention within each layer (GrAMME-Fusion), 93 %, over all layers about alike."
    )


def test_without_a_majority_it_is_a_mix():
    weights = {"one-hot-logistic": 0.4, "gramme-fusion": 0.3, "spectral-logistic": 0.3}
    text = mixture_in_words(weights, dict.fromkeys(weights, ALIKE))
    assert text.startswith("A mix: a linear model of who belongs to which group, 40 %")
    assert text.endswith(
        "(GrAMME-Fusion), 30 % and a linear model of where walks through the network lead, 30 %."
    )


def test_one_layer_is_named():
    text = mixture_in_words(
        {"label-propagation": 1.0}, {"label-propagation": pd.Series({"a": 1.0})}
    )
    assert text.endswith("100 %, over a.")
