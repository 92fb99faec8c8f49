"""The demand that every method has a case of the contract; see cases.py."""

import importlib
from collections.abc import Iterator
from pathlib import Path

from tests.methods.cases import MethodCase

from gramme.methods import METHODS


def cases(kind: type[MethodCase]) -> Iterator[type[MethodCase]]:
    for case in kind.__subclasses__():
        yield case
        yield from cases(case)


def test_every_method_has_a_case():
    here = Path(__file__).parent
    for path in here.rglob("test_*.py"):
        parts = path.relative_to(here).with_suffix("").parts
        importlib.import_module(".".join(("tests.methods", *parts)))
    covered = {case.name for case in cases(MethodCase)}
    # a preset is a class with other parameters, and the class has the case
    assert covered == {name for name, one in METHODS.items() if one.preset is None}, (
        "each method needs a MethodCase: three lines, see cases.py"
    )
