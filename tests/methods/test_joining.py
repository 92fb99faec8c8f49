"""Several processes learn what one does: the same losses, probabilities and importances, for every kind of graph."""

import numpy as np
import pytest
import torch
from tests.distributed.graphs import graph, parts_of
from tests.distributed.processes import together
from tests.methods.fits_in_parts import compare, fit_parts, fitted, learned

from gramme.distributed import World, read_part
from gramme.methods import load
from gramme.methods.joining import join_model

pytestmark = pytest.mark.distributed

SMALL = {"epochs": 2, "ensemble": 2, "hidden_dim": 4, "feature_dim": 6}
CASES = {
    "fusion": ("gramme-fusion", SMALL | {"features": "random"}),
    "fusion of walks": ("gramme-fusion", SMALL),
    "dropout": ("gramme-fusion", SMALL | {"dropout": 0.3, "attention_dropout": 0.2}),
    "fused at the end": ("gramme-fusion", SMALL | {"fuse": "end", "score_bound": None}),
    "stopped early": (
        "gramme-fusion",
        SMALL | {"epochs": 4, "validation_fraction": 0.3, "patience": 2},
    ),
    "sg": ("gramme-sg", SMALL),
    "label propagation": ("label-propagation", {}),
    "label propagation as told": (
        "label-propagation",
        {"alpha": 0.6, "sharpness": 2.0, "layer_weights": "equal"},
    ),
    "groups": ("one-hot-logistic", {}),
    "walks": ("spectral-logistic", {}),
    "given": ("gramme-fusion", SMALL | {"features": "given+random"}),
    "given and walks": ("gramme-fusion", SMALL | {"features": "given+walks"}),
    "surroundings": ("neighbourhood-logistic", {}),
}
ELSEWHERE = ("given", "given and walks", "surroundings", "label propagation as told")
"""Cases that need features, or that a graph of another kind is for."""
TRIED = {
    2: [
        *(("mixed", case) for case in CASES if case not in ELSEWHERE),
        ("couplings", "sg"),
        ("table", "fusion"),
        ("table", "label propagation as told"),
        ("directed", "groups"),
        ("features", "given"),
        ("features", "given and walks"),
        ("features", "surroundings"),
        ("features", "groups"),
    ],
    3: [
        ("edges", "fusion of walks"),
        ("directed couplings", "sg"),
        ("memberships", "walks"),
        ("directed", "label propagation as told"),
    ],
    4: [("table", "dropout"), ("memberships", "fusion")],
}
MORE = {
    3: [("table", "fusion of walks"), ("directed", "label propagation"), ("features", "given")],
    4: [("table", "fused at the end"), ("edges", "groups"), ("couplings", "sg")],
}


@pytest.mark.parametrize(
    ("size", "tried"),
    [*TRIED.items(), *(pytest.param(*one, marks=pytest.mark.slow) for one in MORE.items())],
)
def test_several_processes_learn_what_one_does(size, tried, tmp_path):
    folders = {kind: parts_of(graph(kind), tmp_path / kind, size) for kind in {k for k, _ in tried}}
    cases = {
        (kind, case, double): (folders[kind], *CASES[case], double)
        for kind, case in tried
        for double in ((True, False) if kind == "mixed" and case in ("fusion", "sg") else (True,))
    }
    found = together(size, fit_parts, cases)
    for title, (_, name, settings, double) in cases.items():
        torch.set_default_dtype(torch.float64 if double else torch.float32)
        try:
            expected = learned(fitted(name, settings, graph(title[0])))
        finally:
            torch.set_default_dtype(torch.float32)
        # tables of features have 32 bits, and a regression on such a table stops a little earlier or later
        exact = double and (title[0] != "features" or title[1] == "given")
        compare(expected, [one[title] for one in found], 1e-9 if exact else 1e-4, str(title))


MIXTURE = {"epochs": 2, "ensemble": 1, "folds": 2}
# Propagation has much to say to the other processes while it chooses its settings.
QUICK = MIXTURE | {"ingredients": ["gramme-fusion", "one-hot-logistic", "spectral-logistic"]}
JOINED = {
    "gramme-fusion": SMALL,
    "label-propagation": CASES["label propagation as told"][1],
    "gramme-auto": QUICK,
}


def join_and_save(world: World, folder, whole, target, models) -> list[str]:
    said = []
    for name, settings in models.items():
        model = fitted(name, settings, read_part(folder, world))
        join_model(model, whole if world.first else None)
        if world.first:
            model.save(target / f"{name}.safetensors")
            np.save(target / f"{name}.npy", model.probabilities_)
            said.append(name)
    return said


@pytest.mark.parametrize(
    "models", [JOINED, pytest.param({"gramme-auto": MIXTURE}, marks=pytest.mark.slow)]
)
def test_the_first_process_gets_a_model_as_if_it_had_fitted_alone(models, tmp_path):
    whole = graph("mixed")
    names = together(2, join_and_save, parts_of(whole, tmp_path, 2), whole, tmp_path, models)[0]
    assert names == list(models)
    for name in names:
        alone = fitted(name, models[name], whole)
        joined = load(tmp_path / f"{name}.safetensors")
        np.testing.assert_allclose(
            np.load(tmp_path / f"{name}.npy"), alone.probabilities_, atol=1e-4
        )
        assert joined.nodes_.tolist() == whole.nodes.tolist()
        assert joined.transduction_.tolist() == alone.transduction_.tolist()
        # what it says about another graph rests on the vectors and names of all parts
        other = whole.subgraph(whole.nodes[5:])
        np.testing.assert_allclose(
            joined.predict_proba(other), alone.predict_proba(other), atol=1e-4
        )
