import pytest
from tests.datasets.cases import check_split


@pytest.mark.parametrize("per_class", [20, 40, 60])
def test_the_official_splits(gramme_data, per_class):
    check_split("acm_heco", (3 * per_class, 1000, 1000), per_class=per_class)
