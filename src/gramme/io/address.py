"""Addresses of data inside a database: ``sqlite:file.db?query=SELECT ...`` or ``duckdb:file.db?table=ties``."""

from __future__ import annotations

from dataclasses import dataclass

from gramme.errors import DataError

DATABASE_KINDS = ("sqlite", "duckdb")


@dataclass(frozen=True)
class Address:
    """A database, and what of it to read: a table, a query, or what looks like edges."""

    format: str
    file: str
    table: str | None = None
    query: str | None = None


def is_address(text: object) -> bool:
    """Whether text is the address of a database.

    >>> is_address("sqlite:school.db"), is_address("school.db")
    (True, False)
    """
    return isinstance(text, str) and text.partition(":")[0] in DATABASE_KINDS and ":" in text


def parse_address(text: str) -> Address:
    """The parts of an address.

    >>> parse_address("sqlite:school.db?table=ties")
    Address(format='sqlite', file='school.db', table='ties', query=None)
    """
    kind, _, rest = text.partition(":")
    file, sign, what = rest.partition("?")
    if not file:
        raise DataError(f"{text!r} names no file; write it like {kind}:school.db?table=ties")
    if not sign:
        return Address(kind, file)
    key, equals, value = what.partition("=")
    if key not in ("table", "query") or not equals or not value:
        raise DataError(f"{text!r}: after the file say ?table=NAME or ?query=SELECT ...")
    return Address(kind, file, value if key == "table" else None, value if key == "query" else None)
