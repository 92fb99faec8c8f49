"""The formats: found by name, complete, and each with a test case."""

import importlib
import pkgutil
from pathlib import Path

import pytest
import tests.io.formats
from tests.io.cases import FormatCase, ReadCase

from gramme.errors import DataError
from gramme.io import FORMATS, find_format


def test_every_format_has_a_test_case():
    for module in pkgutil.iter_modules(tests.io.formats.__path__):
        importlib.import_module(f"tests.io.formats.{module.name}")
    written = {case.format for case in FormatCase.__subclasses__()}
    read = {case.format for case in ReadCase.__subclasses__() if case is not FormatCase}
    assert written == {name for name, each in FORMATS.items() if each.write is not None}
    assert read == set(FORMATS) - written


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("ckm_social.multilayer.edges", "authors"),
        ("school_multiplex.edges", "multiplex"),
        ("plain.edges", "multiplex"),
        ("x_config.txt", "muxviz"),
        ("x_extended.edges", "muxviz-extended"),
        ("x.mpx", "mpx"),
        ("x.CSV", "csv"),
        ("x.tsv", "tsv"),
        ("x.parquet", "parquet"),
        ("x.net", "pajek"),
        ("x.graphml", "graphml"),
        ("x.npz", "npz"),
        ("x.json", "json"),
        ("x.gexf", "gexf"),
        ("x.gml", "gml"),
        ("x.dl", "ucinet"),
        ("x.xlsx", "excel"),
        ("x.db", "sqlite"),
        ("x.duckdb", "duckdb"),
    ],
)
def test_the_format_by_file_name(name, format_name):
    assert find_format(Path(name)).name == format_name


def test_unknown_formats_say_what_is_known():
    with pytest.raises(DataError, match=r"cannot be told from the name \'x.doc\'.*mpx"):
        find_format(Path("x.doc"))
    with pytest.raises(DataError, match="no format 'pajeck'; did you mean 'pajek'"):
        find_format(Path("x.doc"), "pajeck")


@pytest.mark.parametrize("each", FORMATS.values(), ids=list(FORMATS))
def test_a_format_describes_itself(each):
    assert each.description
    assert each.cannot
    assert "\n" not in each.description + each.cannot
    assert all(ending == ending.lower() for ending in each.endings)


def test_a_compressed_file_is_to_be_unpacked():
    with pytest.raises(DataError, match=r"edges\.csv\.gz is compressed; unpack it first"):
        find_format(Path("edges.csv.gz"))
