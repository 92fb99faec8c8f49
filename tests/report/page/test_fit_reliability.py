"""The reliability diagram of a page: drawn from predictions of unseen labels, told by its own numbers."""

import numpy as np
import pytest

from gramme.evaluation.estimate import UnseenPredictions, joined_estimate
from gramme.report.page.fit_accuracy import accuracy_section
from gramme.report.page.fit_reliability import in_words, reliability_told

TABLE = {
    "probability": [0.6, 0.9],
    "right": [0.4, 0.95],
    "low": [0.2, 0.8],
    "high": [0.6, 1.0],
    "nodes": [20, 20],
}


def told_of(share: float, right: int, count: int = 60, kind: str = "holdout") -> str:
    """The text of a page whose predictions were all made with one probability."""
    labels = np.where(np.arange(count) % 2, "right", "left").astype(object)
    wrong = np.arange(count) >= right
    sure = np.where((labels == "left") ^ wrong, share, 1 - share)
    shares = np.column_stack([sure, 1 - sure])
    part = UnseenPredictions(np.arange(count), labels.tolist(), ["left", "right"], shares)
    return accuracy_section({"estimate": joined_estimate(kind, "", [part]).record()})


def test_probabilities_that_hold_are_said_to() -> None:
    text = told_of(0.8, 48)
    assert "this model was 80.0% sure of its predictions on average" in text
    assert "right for 80.0% of 60 nodes" in text
    assert "no more than chance explains" in text
    assert text.count('class="chart"') == 1


@pytest.mark.parametrize(
    ("share", "right", "verdict", "take"),
    [(0.95, 40, "too sure", "lower"), (0.6, 58, "not sure enough", "higher")],
)
def test_probabilities_that_do_not_hold_are_said_not_to(
    share: float, right: int, verdict: str, take: str
) -> None:
    text = told_of(share, right, kind="cross-validation")
    off = abs(share - right / 60)
    assert f"<strong>{verdict}</strong>, by {100 * off:.1f} points" in text
    assert f"somewhat {take} than they are" in text
    assert "Models that had not learned from a node’s label" in text


def test_the_point_farthest_from_the_line_is_named_and_the_line_has_no_points() -> None:
    text = reliability_told({"kind": "holdout", "reliability": TABLE})
    assert "given 60% on average and 40% were right (20 nodes)" in text
    assert 'class="line c0 dashed"' in text
    assert text.count("<circle") == 2
    assert "80%</text>" in text, "both axes are in percent"


def test_points_on_the_line_are_not_called_far_from_it() -> None:
    table = {**TABLE, "probability": [0.9999, 1.0], "right": [1.0, 1.0]}
    assert "Farthest" not in reliability_told({"kind": "holdout", "reliability": table})


def test_few_nodes_are_said_to_tell_little_and_one_point_is_not_drawn() -> None:
    text = told_of(0.8, 16, count=20)
    assert "So few nodes tell little about single probabilities." in text
    assert 'class="chart"' not in text
    assert "So few nodes" not in in_words(TABLE | {"nodes": [200, 200]}, "holdout")


def test_nothing_is_said_without_tested_labels() -> None:
    assert reliability_told({"kind": "none"}) == ""
    empty: dict[str, list[float]] = {name: [] for name in TABLE}
    assert reliability_told({"kind": "holdout", "reliability": empty}) == ""


def test_a_part_that_is_far_off_is_not_hidden_by_a_mean_that_fits() -> None:
    table = {
        "probability": [0.52, 0.56],
        "right": [1.0, 0.07],
        "low": [0.8, 0.01],
        "high": [1.0, 0.3],
        "nodes": [15, 15],
    }
    told = reliability_told({"kind": "holdout", "reliability": table})
    assert "no more than chance explains, but <strong>not everywhere</strong>" in told
    assert "given 56% on average and 7% were right (15 nodes, more than chance explains)" in told
    assert "as if all were equally frequent" not in told
    weighed = reliability_told({"kind": "holdout", "reliability": table}, balanced=True)
    assert "as if all were equally frequent" in weighed
