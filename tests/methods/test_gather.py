"""Several processes learn what one does: the same losses, probabilities and importances, for every kind of graph."""

import numpy as np
import pytest
import torch
from tests.distributed.graphs import KINDS, graph, parts_of
from tests.distributed.processes import together
from tests.methods.fits_in_parts import compare, fit_parts, fitted, learned

from gramme.distributed import Communicator, read_part
from gramme.methods import load
from gramme.methods.gather import join_model

pytestmark = pytest.mark.distributed

SMALL = {"epochs": 2, "ensemble": 2, "hidden_dim": 4, "feature_dim": 6}
# label-shares and boosting work on a whole graph only
IN_PARTS = ["label-propagation", "one-hot-logistic", "spectral-logistic", "gramme-fusion"]
MIXTURE = {"epochs": 2, "ensemble": 1, "folds": 2, "ingredients": IN_PARTS}
CASES = {
    "fusion": ("gramme-fusion", SMALL),
    "sg": ("gramme-sg", SMALL),
    "label propagation": ("label-propagation", {}),
    "groups": ("one-hot-logistic", {}),
    "walks": ("spectral-logistic", {}),
    "surroundings": ("neighbourhood-logistic", {}),
    "mixture": ("gramme-auto", MIXTURE),
}
"""What meets every kind of graph; and with some of them ..."""
SETTINGS = {
    "random": ("gramme-fusion", SMALL | {"features": "random"}),
    "dropout": ("gramme-fusion", SMALL | {"dropout": 0.3, "attention_dropout": 0.2}),
    "fused at the end": ("gramme-fusion", SMALL | {"fuse": "end", "score_bound": None}),
    "stopped early": ("gramme-fusion", SMALL | {"epochs": 4, "validation_fraction": 0.3, "patience": 2}),
    "given": ("gramme-fusion", SMALL | {"features": "given+random"}),
    "given and walks": ("gramme-fusion", SMALL | {"features": "given+walks"}),
}
"""... other settings."""
WITH_FEATURES = ("kinds", "features")
SIZES = (1, 2, 3, 4)


def tried(size: int) -> list[tuple[str, str]]:
    """Graphs and cases for so many processes: each case meets each graph once, and each number of processes."""
    graphs = (*KINDS, "features")
    found = [
        (kind, case)
        for row, case in enumerate(CASES)
        for column, kind in enumerate(graphs)
        if (row + column) % len(SIZES) + 1 == size and (case != "surroundings" or kind in WITH_FEATURES)
    ]
    others = {
        1: [("mixed", "stopped early"), ("features", "given and walks"), ("kinds", "surroundings")],
        2: [("mixed", "random"), ("mixed", "dropout"), ("mixed", "fused at the end")],
        3: [("mixed", "stopped early"), ("features", "given and walks")],
        4: [("table", "dropout"), ("features", "given"), ("features", "surroundings")],
    }
    return list(dict.fromkeys(found + others[size]))


FEW = {
    2: [*(("mixed", case) for case in CASES if case != "surroundings"), ("table", "fusion")],
    3: [("features", "surroundings"), ("directed couplings", "sg"), ("features", "given")],
    4: [("table", "dropout"), ("kinds", "groups"), ("directed", "walks")],
}
"""Graphs and cases for a quick look."""


def test_every_case_runs_with_every_number_of_processes():
    for size in SIZES:
        assert {case for _, case in tried(size)} >= set(CASES)


@pytest.mark.parametrize(
    ("size", "pairs"), [*FEW.items(), *(pytest.param(one, tried(one), marks=pytest.mark.slow) for one in SIZES)]
)
def test_several_processes_learn_what_one_does(size, pairs, tmp_path):
    folders = {kind: parts_of(graph(kind), tmp_path / kind, size) for kind in dict(pairs)}
    # one graph for each case is enough to see it in single precision too
    single = {case: kind for kind, case in pairs}
    cases = {
        (kind, case, double): (folders[kind], *(CASES | SETTINGS)[case], double)
        for kind, case in pairs
        for double in ((True, False) if single[case] == kind else (True,))
    }
    found = together(size, fit_parts, cases)
    for title, (_, name, settings, double) in cases.items():
        torch.set_default_dtype(torch.float64 if double else torch.float32)
        try:
            expected = learned(fitted(name, settings, graph(title[0])))
        finally:
            torch.set_default_dtype(torch.float32)
        compare(expected, [one[title] for one in found], 1e-9 if double else 1e-4, str(title))


# Propagation has much to say to the other processes while it chooses its settings.
QUICK = MIXTURE | {"ingredients": ["gramme-fusion", "one-hot-logistic", "spectral-logistic"]}
JOINED = {
    "gramme-fusion": SMALL,
    "label-propagation": {"alpha": 0.6, "sharpness": 2.0, "layer_weights": "equal"},
    "gramme-auto": QUICK,
}


def join_and_save(communicator: Communicator, folder, whole, target, models) -> list[str]:
    said = []
    for name, settings in models.items():
        model = fitted(name, settings, read_part(folder, communicator))
        join_model(model, whole if communicator.first else None)
        if communicator.first:
            model.save(target / f"{name}.safetensors")
            np.save(target / f"{name}.npy", model.probabilities_)
            said.append(name)
    return said


@pytest.mark.parametrize("models", [JOINED, pytest.param({"gramme-auto": MIXTURE}, marks=pytest.mark.slow)])
def test_the_first_process_gets_a_model_as_if_it_had_fitted_alone(models, tmp_path):
    whole = graph("mixed")
    names = together(2, join_and_save, parts_of(whole, tmp_path, 2), whole, tmp_path, models)[0]
    assert names == list(models)
    for name in names:
        alone = fitted(name, models[name], whole)
        joined = load(tmp_path / f"{name}.safetensors")
        np.testing.assert_allclose(np.load(tmp_path / f"{name}.npy"), alone.probabilities_, atol=1e-4)
        assert joined.nodes_.tolist() == whole.nodes.tolist()
        assert joined.transduction_.tolist() == alone.transduction_.tolist()
        # what it says about another graph rests on the vectors and names of all parts
        other = whole.subgraph(whole.nodes[5:])
        np.testing.assert_allclose(joined.predict_proba(other), alone.predict_proba(other), atol=1e-4)
