import pytest

from gramme._later import later


def test_a_place_is_opened_when_it_is_asked_for():
    assert later("gramme.plots.style:shortened")("a" * 30, 5) == "aaaa…"
    with pytest.raises(AttributeError):
        later("gramme.plots.style:no_such_thing")
