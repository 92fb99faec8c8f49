"""Prediction sets: what a set holds, what it rests on, and that nothing is promised from too few labels."""

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

import gramme
from gramme import DataError, GrammeWarning
from gramme.methods import LabelPropagation, Majority, OneHotLogistic
from gramme.methods.cross_fitting import CalibrationScores, OutOfFold, fewest_labels, miss_ratio, out_of_fold


@pytest.mark.parametrize("folds", [3, 5, 10])
def test_misses_that_fall_as_one_over_the_labels_are_followed_to_all_labels(folds):
    """With misses a + b / n the model's are a + b; the caution keeps two of the folds' misses as they are."""
    flat, steep = 2000.0, 1000.0
    tested, halved = flat + steep * folds / (folds - 1), flat + 2 * steep
    expected = (flat + steep) / tested
    assert miss_ratio(round(tested), round(halved), folds) == pytest.approx(expected, abs=0.002)


def test_few_misses_tell_little_and_the_ratio_stays_in_its_bounds():
    assert miss_ratio(0, 0, 5) == 1
    assert miss_ratio(1, 2, 5) > miss_ratio(100, 200, 5)
    assert miss_ratio(1, 90, 5) == 0.6
    assert miss_ratio(50, 0, 5) == 1.2


@pytest.mark.parametrize("folds", [0, 1, 2])
def test_without_folds_or_with_halves_alone_nothing_is_told(folds):
    assert miss_ratio(10, 50, folds) == 1


def thresholds(scores, codes, classes, coverage, **options):
    tested = CalibrationScores(scores, codes)
    return np.array([one.threshold for one in tested.promises(coverage, classes, **options)])


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("labels", [1, 8, 9, 30, 99])
def test_the_promise_is_kept_in_the_mean_over_draws(coverage, labels):
    """The k-th of n draws leaves out k in n + 1 of further ones: never more than promised, and at most 1 in n less."""
    random = np.random.default_rng(labels)
    trials = np.sort(random.random((4000, labels)), axis=1)
    codes = np.zeros(labels, dtype=np.int64)
    bars = np.array([thresholds(own, codes, 1, coverage)[0] for own in trials])
    kept = 1 - bars.mean()  # the chance that a further uniform draw reaches the bar
    assert coverage - 0.01 < kept < coverage + 1 / (labels + 1) + 0.01


@pytest.mark.parametrize(("coverage", "fewest"), [(0.5, 1), (0.8, 4), (0.9, 9), (0.99, 99)])
def test_so_many_labels_are_needed_to_promise_anything(coverage, fewest):
    assert fewest_labels(coverage) == fewest
    for count, promised in ((fewest - 1, False), (fewest, True)):
        found = thresholds(np.full(count, 0.7), np.zeros(count, int), 2, coverage)
        assert (found > 0).all() == promised


def test_by_class_each_class_has_a_threshold_of_its_own():
    own = np.r_[np.linspace(0.5, 0.99, 50), np.linspace(0.1, 0.4, 50), [0.9] * 3]
    codes = np.repeat([0, 1, 2], [50, 50, 3])
    found = thresholds(own, codes, 4, 0.9, by_class=True)
    assert found[0] == own[4]
    assert found[1] == own[54]
    assert found[2:].tolist() == [0, 0]  # too few labels, and none at all


@pytest.mark.parametrize("labels", [20, 60, 200])
@pytest.mark.parametrize("slope", [0.0, 4.0, 8.0])
def test_where_misses_fall_with_the_labels_the_promise_is_that_of_all_labels(labels, slope):
    """A model of n labels has uniform draws to the power of 1 + slope / n as scores, larger ones with more labels."""
    random = np.random.default_rng(labels)
    codes, coverage = np.zeros(labels, dtype=np.int64), 0.8

    def drawn(share, chance):
        return chance ** (1 + slope / (share * labels))

    kept, said = [], []
    for _ in range(2000):
        chance = random.random(labels)  # an easy label is easy for all models
        halved = drawn(0.5, chance)
        found = CalibrationScores(drawn(0.8, chance), codes, halved, folds=5).promise(coverage)
        said.append(found.level)
        kept.append(1 - found.threshold ** (1 / (1 + slope / labels)))
    assert abs(np.mean(kept) - np.mean(said)) < 0.02
    assert np.mean(said) < coverage + 1 / labels + 0.01


def test_without_models_of_halves_and_without_folds_nothing_is_corrected():
    scores, halved = np.linspace(0.01, 0.99, 99), np.linspace(0.01, 0.8, 99)
    codes = np.zeros(99, dtype=np.int64)
    plain = CalibrationScores(scores, codes).promise(0.9)
    assert CalibrationScores(scores, codes, halved, folds=0).promise(0.9) == plain
    assert CalibrationScores(scores, codes, halved, folds=5).promise(0.9).threshold > plain.threshold


def test_the_fewest_labels_keep_the_promise_also_where_a_half_does_better():
    scores = np.linspace(0.1, 0.9, 9)
    found = CalibrationScores(scores, np.zeros(9, dtype=np.int64), np.ones(9), folds=5).promise(0.9)
    assert found.threshold == pytest.approx(0.1)
    assert found.level == pytest.approx(0.9)


GRAPH = planted(90)
Y = half_known(GRAPH)


@pytest.fixture
def model():
    return OneHotLogistic(random_state=0).fit(GRAPH, Y)


def test_only_labels_that_were_missed_set_the_threshold():
    """Nine of ten right is 90 % with one class each, however unsure the model was of the nine."""
    model = Majority().fit(GRAPH, Y)
    shares = np.tile([0.4, 0.35, 0.25], (30, 1))
    shares[:2] = [0.9, 0.06, 0.04]  # sure of a, and it was c
    codes = np.r_[[2, 2], np.zeros(28, dtype=np.int64)]
    model.keep_out_of_fold(OutOfFold(np.arange(30), codes, shares))
    assert model.set_thresholds(0.9).tolist() == [1, 1, 1]  # the third smallest score
    assert model.expected_coverage(0.9) == pytest.approx(28 / 30)
    assert model.set_thresholds(0.95)[0] == pytest.approx(0.04)
    assert model.expected_coverage(0.95) == pytest.approx(1 - 1 / 31)
    # all of a were right, and every set holds c, of which there are two labels only
    assert model.expected_coverage(0.9, by_class=True) == 1
    with pytest.warns(GrammeWarning, match="99 are needed"):
        assert model.set_thresholds(0.99).tolist() == [0, 0, 0]
    assert model.expected_coverage(0.99) == 1


def test_a_set_has_the_classes_that_reach_the_threshold_and_always_the_most_probable(model):
    free = np.flatnonzero(~model.labelled_)
    for coverage in (0.3, 0.97):
        sets = model.predict_set(coverage=coverage)
        shares, bar = model.predict_proba(), model.set_thresholds(coverage)
        expected = shares >= bar
        expected[np.arange(90), shares.argmax(1)] = True
        assert (sets[free] == expected[free]).all()
    assert sets.sum() > len(sets)  # at 97 % some nodes have two
    assert model.predict_set(coverage=0.3)[free].sum(1).tolist() == [1] * free.size


def test_a_node_whose_label_is_known_has_this_label_alone(model):
    sets = model.predict_set(coverage=0.9)
    alone = [model.classes_[row].tolist() for row in sets[model.labelled_]]
    assert alone == [[label] for label in GRAPH.labels[model.labelled_]]


def test_labels_to_test_on_change_nothing(model):
    """Neither thresholds nor sets know the labels that were not learned from."""
    other = GRAPH.replace(labels=[label if y else "a" for label, y in zip(GRAPH.labels, Y, strict=True)])
    twin = OneHotLogistic(random_state=0).fit(other, Y)
    assert (twin.predict_set() == model.predict_set()).all()


def test_too_few_labels_give_all_classes_and_a_warning():
    few = Y.copy()
    few[np.flatnonzero([label is not None for label in Y])[8:]] = None
    model = LabelPropagation(random_state=0).fit(GRAPH, few)
    with pytest.warns(GrammeWarning, match="8 labels .* 9 are needed to promise 90%"):
        sets = model.predict_set(coverage=0.9)
    assert sets[np.flatnonzero(~model.labelled_)].all()


def test_by_class_says_which_class_has_too_few():
    y = Y.copy()
    y[np.flatnonzero(y == "c")[3:]] = None
    model = OneHotLogistic(random_state=0).fit(GRAPH, y)
    with pytest.warns(GrammeWarning, match="too few labels to promise 90% in: c "):
        sets = model.predict_set(coverage=0.9, by_class=True)
    free = np.flatnonzero(~model.labelled_)
    assert sets[free, 2].all()
    assert not sets[free, 0].all()


@pytest.mark.parametrize("wrong", [0, 1, 90, -0.5, True, float("nan")])
def test_what_is_no_coverage_is_refused(model, wrong):
    with pytest.raises(DataError, match="coverage must be between 0 and 1"):
        model.predict_set(coverage=wrong)


def test_a_saved_model_predicts_the_same_sets_also_for_another_graph(model, tmp_path):
    part = GRAPH.subgraph(GRAPH.nodes[:40])
    expected, other = model.predict_set(coverage=0.8), model.predict_set(part, coverage=0.8)
    model.save(tmp_path / "model.safetensors")
    loaded = gramme.load(tmp_path / "model.safetensors")
    assert (loaded.predict_set(coverage=0.8) == expected).all()
    assert (loaded.predict_set(part, coverage=0.8) == other).all()


def test_a_model_saved_without_says_what_to_do(tmp_path):
    Majority().fit(GRAPH, Y).save(tmp_path / "model.safetensors")
    with pytest.raises(DataError, match="before saving it call out_of_fold"):
        gramme.load(tmp_path / "model.safetensors").predict_set()


def test_what_is_kept_is_used_and_a_class_nobody_knows_counts_against():
    model = Majority().fit(GRAPH, Y)
    codes = np.r_[np.ones(18, dtype=np.int64), [-1] * 2]
    model.keep_out_of_fold(OutOfFold(np.arange(20), codes, np.full((20, 3), 1 / 3)))
    assert model.out_of_fold().own().tolist()[-2:] == [0, 0]
    assert model.set_thresholds(0.9).tolist() == [0, 0, 0]  # two of twenty are never covered
    assert model.set_thresholds(0.8)[0] == pytest.approx(1 / 3)


def test_with_balanced_classes_the_unseen_are_balanced_as_well():
    y = Y.copy()
    y[np.flatnonzero(y == "c")[4:]] = None
    plain = OneHotLogistic(random_state=0).fit(GRAPH, y)
    before = plain.out_of_fold().probabilities
    balanced = plain.balance_classes().out_of_fold()
    assert balanced.probabilities[:, 2].mean() > before[:, 2].mean()
    plain.keep_out_of_fold(balanced)
    np.testing.assert_allclose(plain.out_of_fold().probabilities, balanced.probabilities, rtol=1e-5)


def test_fitting_again_forgets(model):
    first = model.out_of_fold().nodes.size
    model.fit(GRAPH)
    assert model.out_of_fold().nodes.size == 90 > first


def test_models_of_half_of_the_labels_tell_what_the_folds_had_still_to_learn(model):
    halved = model._out_of_half()
    learned_from = model._learned_from()
    expected = out_of_fold(model, GRAPH, learned_from, folds=2)
    place = {node: row for row, node in enumerate(expected.nodes.tolist())}
    rows = [place[node] for node in model.out_of_fold().nodes.tolist()]
    np.testing.assert_allclose(halved.probabilities, expected.probabilities[rows], rtol=1e-5)


def test_what_a_half_misses_widens_or_narrows_the_promise():
    """Twelve of sixty were missed by folds; the more a half misses, the fewer does the model of all labels."""
    model = Majority().fit(GRAPH, Y)
    right, wrong = [0.9, 0.06, 0.04], [0.1, 0.5, 0.4]
    shares = np.array([wrong] * 12 + [right] * 48)
    tested = np.flatnonzero(model.labelled_)[np.arange(60) % model.labelled_.sum()]
    found = {}
    for missed in (12, 24, 6):
        model.keep_out_of_fold(OutOfFold(tested, np.zeros(60, dtype=np.int64), shares, folds=5))
        half = np.array([wrong] * missed + [right] * (60 - missed))
        model.halved_probabilities_ = half.astype(np.float32)
        found[missed] = model.expected_coverage(0.7)
    assert found[12] == pytest.approx(1 - 12 / 60)
    assert found[24] == pytest.approx(1 - 12 / 60 * (1 - 4 / 14))
    assert found[6] == pytest.approx(1 - 12 / 60 * (1 + 2 / 14))


def test_labels_that_were_set_aside_and_many_labels_need_no_models_of_halves(model, monkeypatch):
    aside = np.flatnonzero(~model.labelled_)
    shares = model.predict_proba()[aside]
    model.keep_out_of_fold(OutOfFold(aside, np.zeros(aside.size, dtype=np.int64), shares))
    assert model._out_of_half() is None
    many = OneHotLogistic(random_state=0).fit(GRAPH, Y)
    monkeypatch.setattr("gramme.methods.cross_fitting.MAX_HALVED_LABELS", 5)
    assert many._out_of_half() is None


def test_a_model_saved_before_it_was_asked_promises_what_its_folds_did(model, tmp_path):
    model.out_of_fold()
    model.save(tmp_path / "model.safetensors")
    loaded = gramme.load(tmp_path / "model.safetensors")
    assert loaded._out_of_half() is None
    loaded.report(tmp_path / "page.html", graph=GRAPH)  # it knows the graph then, and no more
    assert loaded._out_of_half() is None
    assert loaded.out_of_fold().folds == 5
    scores = loaded.out_of_fold().set_scores()
    assert loaded.expected_coverage(0.5) == pytest.approx((scores == 1).mean())
