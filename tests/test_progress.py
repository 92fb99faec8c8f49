"""How far work has come: parts within parts, in every ingredient, and never backwards."""

import numpy as np
import pytest
from tests.methods.auto.test_gramme_auto import fits

from gramme._progress import TimeLimitError, advance, check_time, part, time_limit, unwatched, watched
from gramme.evaluation import cross_validate
from gramme.methods import GrammeAuto


def test_without_a_watcher_nothing_happens() -> None:
    with part("anything", 0.5):
        advance(0.5)


def test_a_part_without_a_name_divides_the_one_it_is_in() -> None:
    told: list[tuple[str, float, float]] = []
    with watched(lambda what, done, until: told.append((what, round(done, 3), round(until, 3)))), part("fit", 0.5):
        for _ in range(2):
            with part("", 0.25):
                advance(0.5)
        with part("page", 0.5):
            pass
    heard = [one for one in told if one[0] == "fit"]
    assert [done for _, done, _ in heard][:6] == [0.0, 0.0, 0.062, 0.125, 0.125, 0.188]
    assert {until for _, _, until in heard} == {0.5}, "the step under way is the one with a name"
    assert ("fit: page", 0.25, 0.5) in told


def test_what_nobody_watches_moves_nothing() -> None:
    told: list[float] = []
    with watched(lambda what, done, until: told.append(done)):
        with part("runs", 0.5), unwatched(), part("fit", 0.9):
            advance(0.5)
        with part("page", 0.5):
            pass
    assert told == [0.0, 0.5, 0.5, 1.0]


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
    for name in ("one-hot-logistic", "spectral-logistic"):
        steps = {done for what, done in told if what == f"fit: {name}"}
        assert len(steps) >= 10, f"{name} tells of its penalties and folds"


def test_no_part_begins_when_the_time_is_over() -> None:
    with time_limit(-1), time_limit(60):
        for begin in (check_time, lambda: advance(0.5), lambda: part("more", 0.5).__enter__()):
            with pytest.raises(TimeLimitError):
                begin()
    check_time()
