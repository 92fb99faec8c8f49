import pytest

from gramme.errors import DataError
from gramme.io.address import Address, is_address, parse_address


def test_what_is_an_address():
    assert is_address("duckdb:x.db?query=SELECT 1")
    assert not is_address("C:/x.db")
    assert not is_address("sqlite")
    assert not is_address(3)


def test_the_parts():
    assert parse_address("sqlite:a.db") == Address("sqlite", "a.db")
    found = parse_address("duckdb:a.db?query=SELECT a AS source FROM t WHERE b = '?'")
    assert found.query == "SELECT a AS source FROM t WHERE b = '?'"


@pytest.mark.parametrize("text", ["sqlite:", "sqlite:?table=x", "sqlite:a?x=1", "sqlite:a?table="])
def test_half_an_address(text):
    with pytest.raises(DataError, match="table="):
        parse_address(text)
