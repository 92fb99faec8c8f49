import pytest

from gramme._durations import duration, rough_duration


@pytest.mark.parametrize(
    ("seconds", "exact", "rough"),
    [
        (0, "0 s", "1 s"),
        (59.4, "59 s", "59 s"),
        (59.6, "1 min 0 s", "60 s"),
        (3599, "59 min 59 s", "60 min"),
        (3600, "1 h 0 min", "60 min"),
        (36_000, "10 h 0 min", "10.0 h"),
    ],
)
def test_times_in_words(seconds, exact, rough):
    assert duration(seconds) == exact
    assert rough_duration(seconds) == rough
