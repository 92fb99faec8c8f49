import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

import gramme
from gramme import DataError, GrammeRegressor
from gramme.errors import NotFittedError
from gramme.methods import GrammeFusion, LabelPropagation, Majority, OneHotLogistic
from gramme.plots import models
from gramme.plots import models as numbers
from gramme.plots.plane import plane

GRAPH = planted(60)
Y = half_known(GRAPH)


@pytest.fixture(scope="module")
def linear():
    return OneHotLogistic(random_state=0).fit(GRAPH, Y)


@pytest.fixture(scope="module")
def fusion():
    return GrammeFusion(ensemble=2, epochs=6, random_state=0).fit(GRAPH, Y)


def test_a_point_per_node_where_the_model_sees_it(fusion):
    ax = fusion.plot_embedding()
    np.testing.assert_allclose(ax.collections[0].get_offsets(), plane(fusion.embedding_).places, atol=1e-6)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["a", "b", "c"]
    known = fusion.plot_embedding(colour="label")
    assert known.get_legend().get_texts()[-1].get_text() == "unknown"


def test_coloured_by_probability_and_of_many_nodes_a_sample(linear, monkeypatch):
    ax = linear.plot_embedding(colour="probability")
    np.testing.assert_allclose(ax.collections[0].get_array(), linear.predict_proba().max(axis=1))
    monkeypatch.setattr(models, "MAX_POINTS", 20)
    few = linear.plot_embedding()
    assert len(few.collections[0].get_offsets()) == 20
    assert few.get_xlabel() == "20 of 60 nodes"
    with pytest.raises(DataError, match="colour must be"):
        linear.plot_embedding(colour="blue")


def test_a_bar_per_layer_the_longest_on_top(fusion, linear):
    ax = fusion.plot_layers()
    shares = fusion.layer_importance_.sort_values()
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], 100 * shares)
    assert [text.get_text() for text in ax.get_yticklabels()] == list(shares.index)
    assert len(ax.containers) == 2  # bars and the spread over the members
    assert len(linear.plot_layers().containers) == 1
    with pytest.raises(DataError, match="Majority does not say which layers"):
        Majority().fit(GRAPH, Y).plot_layers()


def test_the_confusion_of_labels_predicted_unseen(linear):
    ax = linear.plot_confusion()
    seen = linear.out_of_fold()
    right = (seen.probabilities.argmax(1) == seen.codes).mean()
    assert ax.get_title() == f"{right:.1%} of 30 right"
    assert sum(int(text.get_text()) for text in ax.texts) == 30


def test_the_confusion_with_true_labels_counts_nodes_it_has_not_learned_from(linear):
    ax = linear.plot_confusion(GRAPH.labels)
    assert sum(int(text.get_text()) for text in ax.texts) == 30
    right = (linear.predict() == GRAPH.labels)[~linear.labelled_].mean()
    assert ax.get_title() == f"{right:.1%} of 30 right"
    with pytest.raises(DataError, match="has learned from all these labels"):
        linear.plot_confusion(Y)


def test_confusion_has_a_row_per_true_class_and_a_column_per_prediction(linear):
    # every node to be predicted is said to be an "a": one full row, which a transposed picture shows as a column
    truth = np.where(linear.labelled_, GRAPH.labels, "a")
    guesses = linear.predict()[~linear.labelled_]
    expected = {(column, 0): int((guesses == name).sum()) for column, name in enumerate("abc")}
    assert min(expected.values()) > 0, "there is something to mix up"
    ax = linear.plot_confusion(truth)
    found = {text.get_position(): int(text.get_text()) for text in ax.texts}
    assert found == expected
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "true")
    for ticks in (ax.get_xticklabels(), ax.get_yticklabels()):
        assert [tick.get_text() for tick in ticks] == ["a", "b", "c"]
    shades = np.zeros((3, 3))
    shades[0] = np.array(list(expected.values())) / 30
    np.testing.assert_allclose(ax.images[0].get_array(), shades)


def test_many_classes_are_cut_to_the_most_frequent(monkeypatch, linear):
    monkeypatch.setattr(models, "_MAX_CLASSES", 2)
    assert len(linear.plot_confusion().get_yticklabels()) == 2


def test_reliability_is_that_of_the_table(linear):
    ax = linear.plot_reliability(GRAPH.labels)
    said = ax.containers[0].lines[0].get_xydata()
    assert len(said) == 2  # 30 nodes, 15 each
    assert ax.get_title() == "30 nodes"


def test_history_has_a_line_per_measure(fusion, linear):
    ax = fusion.plot_history()
    assert ax.get_lines()[0].get_xydata()[:, 1].tolist() == fusion.history_["loss"].tolist()
    assert len(ax.figure.axes) == 2  # losses, and accuracies on the right
    with pytest.raises(DataError, match="OneHotLogistic has no epochs"):
        linear.plot_history()


def test_axes_go_in_and_come_out(linear, fusion):
    _, panel = plt.subplots(1, 2)
    assert linear.plot_layers(ax=panel[0]) is panel[0]
    assert fusion.plot_history(ax=panel[1]) is panel[1]


def test_a_mixture_and_a_loaded_model(linear, tmp_path):
    auto = gramme.GrammeAuto(ingredients=["label-propagation", "one-hot-logistic"], random_state=0).fit(GRAPH, Y)
    assert len(auto.plot_embedding().collections[0].get_offsets()) == 60
    auto.plot_confusion()  # it has predicted its labels unseen already
    auto.save(tmp_path / "m.safetensors")
    loaded = gramme.load(tmp_path / "m.safetensors")
    loaded.plot_confusion()
    with pytest.raises(DataError, match="does not hold the graph"):
        loaded.plot_confusion(GRAPH.labels)


@pytest.mark.parametrize("name", ["embedding", "layers", "confusion", "reliability", "history"])
def test_before_fitting_everything_says_so(name):
    with pytest.raises(NotFittedError, match="call fit first"):
        getattr(LabelPropagation(), f"plot_{name}")()


TRUE = 10.0 * GRAPH.labels.astype(str).astype("U1").view(np.uint32) + np.arange(60) % 5
KNOWN = np.where(np.arange(60) % 2 == 0, TRUE, np.nan)


@pytest.fixture(scope="module")
def model():
    quick = GrammeRegressor(ingredients=["propagation", "groups-ridge"], random_state=0)
    return quick.fit(GRAPH, KNOWN)


def test_predicted_without_themselves_against_the_known_numbers(model):
    ax = model.plot_predictions()
    points = ax.collections[-1].get_offsets()
    np.testing.assert_allclose(points, np.column_stack([model.unseen_, model.known_values_]))
    assert f"R² {model.r2_:.2f}" in ax.get_title()
    band = ax.collections[0].get_paths()[0].vertices
    wide = np.ptp(band[np.isclose(band[:, 0], band[:, 0].min()), 1])
    assert wide == pytest.approx(2 * model.half_width(0.9))


def test_nodes_that_were_not_learned_from(model, monkeypatch):
    ax = model.plot_predictions(TRUE, ax=model.plot_ingredients().figure.add_subplot())
    new = np.arange(60) % 2 == 1
    points = ax.collections[-1].get_offsets()
    np.testing.assert_allclose(points, np.column_stack([model.predict()[new], TRUE[new]]))
    with pytest.raises(DataError, match="has learned from all these"):
        model.plot_predictions(KNOWN)
    monkeypatch.setattr(numbers, "MAX_POINTS", 10)
    few = model.plot_predictions()
    assert len(few.collections[-1].get_offsets()) == 10
    assert "30 nodes (10 drawn)" in few.get_title()


def test_a_bar_per_ingredient(model):
    ax = model.plot_ingredients()
    table = model.ingredients_.sort_values("weight", kind="stable")
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], 100 * table["weight"])
    assert [text.get_text() for text in ax.get_yticklabels()] == table["ingredient"].tolist()
