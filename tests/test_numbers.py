import math

import pytest

from gramme._numbers import rough_number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (48211.37, "48,210"),
        (999.96, "1,000"),
        (1234567, "1,235,000"),
        (0.5, "0.5"),
        (-0.00012, "-0.00012"),
        (0.0, "0"),
        (3e-7, "3e-07"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_written_as_people_write_them(value: float, text: str) -> None:
    assert rough_number(value) == text
