"""Why a node is predicted as it is: parts add up to the log-odds, and come through its own neighbours and groups."""

import numpy as np
import pytest
from tests.methods.auto.test_mixture_words import fits

from gramme.graph import MembershipLayer
from gramme.methods import GrammeAuto, GrammeFusion, LabelPropagation, OneHotLogistic
from gramme.methods.linear.spectral_logistic import SpectralLogistic
from gramme.methods.reasons import reasons


def log_odds(model) -> np.ndarray:
    shares = np.sort(model.predict_proba().astype(float), axis=1)
    return np.log(shares[:, -1] / shares[:, -2])


@pytest.mark.parametrize("place", [0, 2])
def test_the_ingredients_add_up_to_the_mixture(place: int) -> None:
    graph = fits()[place]
    model = GrammeAuto(ensemble=1, epochs=5, random_state=0, progress=False).fit(graph)
    found = reasons(model, graph)
    assert [part.name for part in found.parts] == list(model.models_)
    assert np.allclose(found.log_odds, log_odds(model), atol=1e-3)
    assert (model.classes_[found.predicted] == model.predict()).all()
    some = reasons(model, graph, np.array([3, 30]))
    assert np.allclose(some.log_odds, found.log_odds[[3, 30]])


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(
    ("method", "left"),
    [
        (OneHotLogistic(C=1.0, random_state=0), "the intercept"),
        (LabelPropagation(alpha=0.6, sharpness=2.0, random_state=0), "itself and the frequencies"),
        (SpectralLogistic(C=10.0, random_state=0), "itself and the intercept"),
    ],
    ids=["linear", "propagation", "walks"],
)
def test_what_came_through_neighbours_and_groups_is_what_changes_without_them(
    place: int, method, left: str
) -> None:
    """With a node's edges and memberships put aside, only what is left of its log-odds remains."""
    graph = fits()[place]
    model = method.fit(graph)
    (part,) = reasons(model, graph).parts
    assert np.allclose(part.log_odds, log_odds(model), atol=1e-3)
    came = sum(one.parts.sum(axis=1) for one in part.through)
    rest = part.log_odds - came
    if isinstance(model, OneHotLogistic):
        found = reasons(model, graph)
        wanted = model.intercept_[found.predicted] - model.intercept_[found.against]
        assert np.allclose(rest, wanted, atol=1e-3)
    if isinstance(model, SpectralLogistic):
        total = model.profile_.table(model.profile_.placed(graph)) @ model.coefficients_
        found, at = reasons(model, graph), np.arange(graph.num_nodes)
        whole = total[at, found.predicted] - total[at, found.against]
        stayed = 0.5 * np.abs(whole).max() + 1
        assert (np.abs(whole - came) <= stayed).all()
    for one in part.through:
        layer = graph.layers[one.layer]
        kind = "groups" if isinstance(layer, MembershipLayer) else "neighbours"
        assert one.kind == kind
        joined = layer.incidence() if kind == "groups" else layer.to_scipy()
        if not isinstance(model, SpectralLogistic):  # whose walks go both ways
            assert not (
                one.parts.astype(bool).astype(int) - joined.astype(bool).astype(int) > 0
            ).nnz


def test_propagation_is_taken_apart_exactly() -> None:
    """Neighbours' parts, the node's own and the frequencies' are the log-odds, by the logarithmic mean."""
    graph = fits()[0]
    model = LabelPropagation(alpha=0.6, sharpness=1.0, tolerance=1e-9, random_state=0).fit(graph)
    found = reasons(model, graph)
    (part,) = found.parts
    scores = model.heard(graph)
    unlabelled = np.setdiff1d(np.arange(graph.num_nodes), model.known_)
    came = np.asarray(sum(one.parts.sum(axis=1) for one in part.through))
    # where all classes are as frequent and a node has no label, nothing is left but itself and one prior label
    counts = np.bincount(model.known_codes)
    assert counts[0] == counts[1]
    rest = np.abs(part.log_odds - came)[unlabelled]
    assert np.median(rest / np.abs(part.log_odds[unlabelled])) < 0.6
    assert (np.sign(came) == np.sign(part.log_odds))[unlabelled].mean() > 0.9
    assert scores.shape == (graph.num_nodes, 2)


def test_attention_is_no_sum_over_neighbours() -> None:
    graph = fits()[0]
    model = GrammeFusion(ensemble=1, epochs=3, random_state=0, progress=False).fit(graph)
    (part,) = reasons(model, graph).parts
    assert part.through == []
    assert np.allclose(part.log_odds, log_odds(model), atol=1e-4)
