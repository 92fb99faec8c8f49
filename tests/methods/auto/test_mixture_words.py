"""The mixture in words: what is named, when layers are called alike, and that the numbers are those of the tables."""

import re

import numpy as np
import pandas as pd
import pytest

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeAuto
from gramme.methods.auto.mixture_words import layers_in_words, mixture_in_words

ALIKE = pd.Series({"one": 0.26, "two": 0.25, "three": 0.25, "four": 0.24})
WORDS = {
    "gramme-fusion": "attention within each layer (GrAMME-Fusion)",
    "spectral-logistic": "a linear model of where walks lead",
    "one-hot-logistic": "a linear model of who belongs to which group",
}
UNLIKE = pd.Series({"one": 0.559, "two": 0.263, "three": 0.178})


def test_small_shares_are_not_named():
    text = mixture_in_words({"gramme-fusion": 0.93, "spectral-logistic": 0.07}, WORDS, ALIKE)
    assert text == (
        "Mostly attention within each layer (GrAMME-Fusion), 93 %; the rest, 7 %, is less than 10 % each. "
        "The 4 layers count about alike (24 % to 26 %)."
    )


def test_without_a_majority_it_is_a_mix():
    weights = {"one-hot-logistic": 0.4, "gramme-fusion": 0.3, "spectral-logistic": 0.3}
    text = mixture_in_words(weights, WORDS, ALIKE)
    assert text.startswith("A mix: a linear model of who belongs to which group, 40 %")
    assert "(GrAMME-Fusion), 30 % and a linear model of where walks lead" in text


def test_layers_that_differ_are_not_called_alike():
    text = layers_in_words(UNLIKE)
    assert text == "Of the layers, one counts most (56 %), then two (26 %) and three (18 %)."
    assert layers_in_words(pd.Series({"a": 1.0})) == ""
    assert layers_in_words(pd.Series({"a": 1.0, "b": 0.0})).endswith("the others not at all.")
    assert "none of them counts" in layers_in_words(pd.Series({"a": 0.0, "b": 0.0}))


def fits() -> list[MultilayerGraph]:
    """Edges, groups, both, and with a column that joins nobody."""
    random = np.random.default_rng(0)
    count = 40
    label = np.arange(count) % 2
    source = random.integers(count, size=160)
    target = (source + 2 * random.integers(1, 20, size=160)) % count
    talk = EdgeLayer(count, source, target)
    noise = EdgeLayer(count, random.integers(count, size=60), random.integers(count, size=60))
    vote = MembershipLayer.from_codes(np.where(random.random(count) < 0.8, label, 1 - label))
    alone = MembershipLayer.from_codes(np.arange(count))
    labels = np.where(np.arange(count) < 24, label, None)
    return [
        MultilayerGraph(layers, labels=labels)
        for layers in (
            {"talk": talk, "noise": noise},
            {"vote": vote, "alone": alone},
            {"talk": talk, "vote": vote, "alone": alone},
        )
    ]


@pytest.mark.parametrize("place", range(3))
def test_every_number_of_the_sentence_is_one_of_the_tables(place: int):
    graph = fits()[place]
    model = GrammeAuto(ensemble=1, epochs=5, folds=2, random_state=0, progress=False).fit(graph)
    shares = model.layer_importance_
    assert shares.sum() == pytest.approx(1)
    if "alone" in graph.layers:
        assert shares["alone"] == 0
    text = model.explanation_
    for layer, told in re.findall(r"(\w+)(?: counts most)? \((\d+) %\)", text):
        assert f"{100 * shares[layer]:.0f}" == told
    weights = [f"{100 * weight:.0f}" for weight in model.ingredients_["weight"]]
    first = text.split("; the rest")[0].split(". Of the")[0].split(". The")[0]
    assert set(re.findall(r", (\d+) %", first)) <= set(weights)
    has_groups = any(isinstance(one, MembershipLayer) for one in graph.layers.values())
    assert has_groups or "group" not in text
