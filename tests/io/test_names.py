import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.errors import DataError
from gramme.io.names import id_base, in_order, is_whole, require_proper


@given(st.integers())
def test_every_whole_number_in_its_usual_form(number):
    assert is_whole(str(number)) == (len(str(abs(number))) <= 100)


def test_what_is_no_whole_number_in_its_usual_form():
    assert not any(map(is_whole, ["-0", "00", " 1", "1\n", "1e3", "٣", "1_000"]))


def test_one_name_that_is_no_number_leaves_the_order_alone():
    assert in_order(["3", "-1", "20", "3"]) == ["-1", "3", "20"]
    assert in_order(["3", "x", "1"]) == ["3", "x", "1"]
    assert in_order([]) == []


def test_the_smallest_id():
    assert id_base(["7", "1", "30"]) == 1
    assert id_base(["1", "x"]) is None
    assert id_base([]) is None


def test_names_that_escapes_cannot_stand_in_for_are_refused():
    require_proper("node", ["a", "ü", 3, None, ("a", 1)])
    with pytest.raises(
        DataError, match=r"the node 'a\\ud800' is not valid Unicode text; rename it"
    ):
        require_proper("node", ["b", "a\ud800"])
