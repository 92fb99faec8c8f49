"""How far work has come: parts within parts, in every ingredient, and never backwards."""

import numpy as np
from tests.methods.auto.test_mixture_words import fits

from gramme._progress import advance, part, watched
from gramme.evaluation import cross_validate
from gramme.methods import GrammeAuto


def test_without_a_watcher_nothing_happens() -> None:
    with part("anything", 0.5):
        advance(0.5)


def test_every_ingredient_and_fold_tells_and_the_share_only_grows() -> None:
    told: list[tuple[str, float]] = []
    graph = fits()[0]
    model = GrammeAuto(ensemble=1, epochs=4, random_state=0, progress=False)
    with watched(lambda what, done, until: told.append((what, done))):
        with part("fit", 0.4):
            model.fit(graph)
        with part("estimate", 0.6):
            cross_validate(model, graph, graph.labels, folds=2)
    shares = np.array([done for _, done in told])
    assert (np.diff(shares) >= 0).all()
    assert shares[-1] == 1
    stages = {what for what, _ in told}
    for name in model.models_:
        assert f"fit: {name}" in stages
        assert f"estimate: fit 2 of 2: {name}" in stages
    epochs = {done for what, done in told if what == "fit: gramme-fusion"}
    assert len(epochs) >= 4, "the attention model tells of its epochs"
