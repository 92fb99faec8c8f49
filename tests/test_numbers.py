import math

import pytest

from gramme._numbers import number_within, rough_number


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


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        (0.7209, 94.458, "0.7"),
        (-0.0312, 94.458, "0.0"),
        (15234.56, 7100.0, "15,235"),
        (0.51234, 0.0321, "0.5123"),
        (132.365, 0.0, "132.4"),
        (math.inf, 94.458, "inf"),
    ],
)
def test_a_number_has_the_decimals_that_its_uncertainty_allows(
    value: float, width: float, text: str
) -> None:
    assert number_within(value, width) == text
